// SPDX-License-Identifier: BSD-2-Clause
/* Launches, as fast as possible or at a rate, by each function that launches. */
#include "gpu.h"

#include <stdio.h>

enum function { FUNCTION_KERNEL, FUNCTION_EX, FUNCTION_COOPERATIVE, FUNCTION_GRAPH };
enum stream { STREAM_OWN, STREAM_NULL };

static struct {
	uint64_t threads, launches, kernels, name_length, bad;
	double rate, seconds, hold;
	const char *prefix;
	int api, function, stream;
	struct gpu gpu;
	struct kernels loaded;
} run = { .threads = 1, .launches = 1000, .kernels = 1, .prefix = "kernel" };

static int launch_ex(void *handle, void *stream)
{
	CUlaunchConfig config = {
		.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .hStream = stream,
	};
	cudaLaunchConfig_t runtime_config = {
		.gridDim = { 1, 1, 1 }, .blockDim = { 1, 1, 1 }, .stream = stream,
	};

	if (run.api == API_RUNTIME)
		return (int)cudaLaunchKernelExC(&runtime_config, handle, NULL);
	return (int)cuLaunchKernelEx(&config, handle, NULL, NULL);
}

static int launch_cooperative(void *handle, void *stream)
{
	dim3 one = { 1, 1, 1 };

	if (run.api == API_RUNTIME)
		return (int)cudaLaunchCooperativeKernel(handle, one, one, NULL, 0, stream);
	return (int)cuLaunchCooperativeKernel(handle, 1, 1, 1, 1, 1, 1, 0, stream, NULL);
}

static int launch_graph(void *exec, void *stream)
{
	if (run.api == API_RUNTIME)
		return (int)cudaGraphLaunch(exec, stream);
	return (int)cuGraphLaunch(exec, stream);
}

/* A graph of all kernels, captured from the stream. */
static void *make_graph(void *stream)
{
	CUgraphExec exec;
	CUgraph graph;

	if (run.api == API_RUNTIME)
		NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	else
		NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (uint64_t i = 0; i < run.kernels; i++)
		NEED(launch_once(run.api, run.loaded.handles[i], stream));
	if (run.api == API_RUNTIME) {
		NEED(cudaStreamEndCapture(stream, &graph));
		NEED(cudaGraphInstantiate(&exec, graph, 0));
	} else {
		NEED(cuStreamEndCapture(stream, &graph));
		NEED(cuGraphInstantiateWithFlags(&exec, graph, 0));
	}
	return exec;
}

static void *make_stream(void)
{
	CUstream stream = NULL;

	if (run.stream == STREAM_NULL)
		return NULL;
	if (run.api == API_RUNTIME)
		NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	else
		NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	return stream;
}

/* Waits until launch `number` of the thread is due. Returns whether it is to be made. */
static bool is_due(uint64_t number, double start)
{
	double due = run.rate > 0 ? start + (double)number / run.rate : 0;
	double left;

	if (run.seconds > 0 && number % 64 == 0 && now() - start >= run.seconds)
		return false;
	if (run.seconds <= 0 && number >= run.launches)
		return false;
	left = due > 0 ? due - now() : 0;
	if (left > 0)
		sleep_seconds(left);
	return true;
}

static uint64_t launch_all(void *stream, void *graph)
{
	double start = now();
	uint64_t number;

	for (number = 0; is_due(number, start); number++) {
		void *handle = run.loaded.handles[number % run.kernels];

		switch ((enum function)run.function) {
		case FUNCTION_KERNEL:
			NEED(launch_once(run.api, handle, stream));
			break;
		case FUNCTION_EX:
			NEED(launch_ex(handle, stream));
			break;
		case FUNCTION_COOPERATIVE:
			NEED(launch_cooperative(handle, stream));
			break;
		case FUNCTION_GRAPH:
			NEED(launch_graph(graph, stream));
			break;
		}
	}
	return number;
}

/* Makes launches that the driver refuses: a block without threads. */
static void launch_bad(void *stream)
{
	dim3 one = { 1, 1, 1 }, none = { 0, 1, 1 };
	void *handle = run.loaded.handles[0];
	int result = 1;

	for (uint64_t i = 0; i < run.bad && result; i++) {
		if (run.api == API_RUNTIME)
			result = (int)cudaLaunchKernel(handle, one, none, NULL, 0, stream);
		else
			result = (int)cuLaunchKernel(handle, 1, 1, 1, 0, 1, 1, 0, stream, NULL,
						     NULL);
	}
	if (!result)
		give_up("a launch of no threads succeeded");
}

static void run_thread(uint64_t index, void *total)
{
	void *stream, *graph = NULL;
	uint64_t done;

	(void)index;
	gpu__enter(&run.gpu);
	stream = make_stream();
	if (run.function == FUNCTION_GRAPH)
		graph = make_graph(stream);
	done = launch_all(stream, graph);
	launch_bad(stream);
	__atomic_add_fetch((uint64_t *)total, done, __ATOMIC_RELAXED);
	if (run.api == API_RUNTIME)
		NEED(cudaStreamSynchronize(stream));
	else
		NEED(cuStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "threads", OPTION_NUMBER, &run.threads, NULL, "threads that launch [1]" },
		{ "launches", OPTION_NUMBER, &run.launches, NULL, "launches a thread [1000]" },
		{ "seconds", OPTION_SECONDS, &run.seconds, NULL, "launch for so long instead" },
		{ "rate", OPTION_SECONDS, &run.rate, NULL, "launches a second a thread" },
		{ "kernels", OPTION_NUMBER, &run.kernels, NULL, "kernels, in turn [1]" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "[runtime]" },
		{ "function", OPTION_CHOICE, &run.function, "kernel|ex|cooperative|graph",
		  "how to launch [kernel]" },
		{ "stream", OPTION_CHOICE, &run.stream, "own|null", "each thread's [own]" },
		{ "name-prefix", OPTION_TEXT, &run.prefix, NULL, "of the kernels [kernel]" },
		{ "name-length", OPTION_NUMBER, &run.name_length, NULL, "of the kernels' names" },
		{ "bad", OPTION_NUMBER, &run.bad, NULL, "launches a thread that fail [0]" },
		{ "hold", OPTION_SECONDS, &run.hold, NULL, "stay for so long at the end [0]" },
		{ 0 },
	};
	uint64_t total = 0;
	double start;

	monitor_options__parse(argc, argv, "Launches kernels.", options);
	if (!run.kernels)
		give_up("--kernels must not be 0");
	run.gpu = gpu__open(run.api);
	run.loaded = kernels__load(run.api, run.prefix, run.kernels, run.name_length);
	start = now();
	run_threads(run.threads, run_thread, &total);
	start = now() - start;
	printf("%llu launches in %.3f s, %.1f ns each in a thread\n", (unsigned long long)total,
	       start, total ? start * 1e9 * (double)run.threads / (double)total : 0.0);
	fflush(stdout);
	sleep_seconds(run.hold);
	return 0;
}
