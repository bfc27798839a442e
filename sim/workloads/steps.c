// SPDX-License-Identifier: BSD-2-Clause
/*
 * A training loop of equal steps, each with a time on the CPU, a copy, launches and a wait, as the
 * options say. With CUDA_SIM_CLOCK, which sets the GPU's time for them, it is bound by the GPU, by
 * the CPU or by its waits.
 */
#include "gpu.h"

#include <stdio.h>
#include <time.h>

enum wait { WAIT_NONE, WAIT_STREAM, WAIT_EVENT, WAIT_DEVICE };

static struct {
	uint64_t steps, launches, copy, wait_every;
	double cpu, idle;
	int api, wait;
	bool blocking;
	struct gpu gpu;
	struct kernels kernels;
	CUstream stream;
	CUevent event;
	void *pinned, *batch;
} run = { .steps = 100, .launches = 10, .wait_every = 1, .cpu = 0.001 };

static double cpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void compute(double seconds)
{
	double until = cpu_now() + seconds;

	while (cpu_now() < until)
		;
}

static void open_runtime(void)
{
	if (run.blocking)
		NEED(cudaSetDeviceFlags(CU_CTX_SCHED_BLOCKING_SYNC)); /* the runtime has the same */
	NEED(cudaStreamCreateWithFlags(&run.stream, cudaStreamNonBlocking));
	NEED(cudaEventCreateWithFlags(&run.event, cudaEventDisableTiming));
	if (!run.copy)
		return;
	NEED(cudaMalloc(&run.batch, run.copy));
	NEED(cudaHostAlloc(&run.pinned, run.copy, cudaHostAllocDefault));
}

static void open_driver(void)
{
	CUdeviceptr batch;

	if (run.blocking)
		NEED(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
	NEED(cuStreamCreate(&run.stream, CU_STREAM_NON_BLOCKING));
	NEED(cuEventCreate(&run.event, CU_EVENT_DISABLE_TIMING));
	if (!run.copy)
		return;
	NEED(cuMemAlloc(&batch, run.copy));
	NEED(cuMemHostAlloc(&run.pinned, run.copy, 0));
	run.batch = (void *)(uintptr_t)batch;
}

static void copy_batch(void)
{
	if (run.api == API_RUNTIME)
		NEED(cudaMemcpyAsync(run.batch, run.pinned, run.copy, cudaMemcpyHostToDevice,
				     run.stream));
	else
		NEED(cuMemcpyHtoDAsync((CUdeviceptr)(uintptr_t)run.batch, run.pinned, run.copy,
				       run.stream));
}

static void wait_for_stream(void)
{
	if (run.api == API_RUNTIME)
		NEED(cudaStreamSynchronize(run.stream));
	else
		NEED(cuStreamSynchronize(run.stream));
}

static void wait_for_event(void)
{
	if (run.api == API_RUNTIME) {
		NEED(cudaEventRecord(run.event, run.stream));
		NEED(cudaEventSynchronize(run.event));
	} else {
		NEED(cuEventRecord(run.event, run.stream));
		NEED(cuEventSynchronize(run.event));
	}
}

static void wait_as_asked(void)
{
	switch ((enum wait)run.wait) {
	case WAIT_NONE:
		break;
	case WAIT_STREAM:
		wait_for_stream();
		break;
	case WAIT_EVENT:
		wait_for_event();
		break;
	case WAIT_DEVICE:
		gpu__synchronize(&run.gpu);
		break;
	}
}

static void step(uint64_t number)
{
	compute(run.cpu);
	if (run.idle > 0)
		sleep_seconds(run.idle);
	if (run.copy)
		copy_batch();
	for (uint64_t i = 0; i < run.launches; i++)
		NEED(launch_once(run.api, run.kernels.handles[i], run.stream));
	if ((number + 1) % run.wait_every == 0)
		wait_as_asked();
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "steps", OPTION_NUMBER, &run.steps, NULL, "how many [100]" },
		{ "cpu", OPTION_SECONDS, &run.cpu, NULL, "time on the CPU in each step [0.001]" },
		{ "idle", OPTION_SECONDS, &run.idle, NULL, "sleep in each step [0]" },
		{ "copy", OPTION_NUMBER, &run.copy, NULL,
		  "bytes that each step copies to the device [0]" },
		{ "launches", OPTION_NUMBER, &run.launches, NULL,
		  "in each step, of kernels step_0, step_1, ... [10]" },
		{ "wait", OPTION_CHOICE, &run.wait, "none|stream|event|device",
		  "at the end of steps [none]" },
		{ "wait-every", OPTION_NUMBER, &run.wait_every, NULL, "after so many steps [1]" },
		{ "blocking", OPTION_FLAG, &run.blocking, NULL,
		  "the CPU sleeps while it waits, instead of spinning" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "whose functions [runtime]" },
		{ 0 }
	};
	double start;

	monitor_options__parse(argc, argv, "A training loop of equal steps, for CUDA_SIM_CLOCK.",
			       options);
	if (!run.wait_every)
		give_up("--wait-every is at least 1");
	run.gpu = gpu__open((enum api)run.api);
	run.kernels = kernels__load((enum api)run.api, "step", run.launches ? run.launches : 1, 0);
	if (run.api == API_RUNTIME)
		open_runtime();
	else
		open_driver();
	start = now();
	for (uint64_t i = 0; i < run.steps; i++)
		step(i);
	gpu__synchronize(&run.gpu);
	printf("steps: %llu in %.6f s\n", (unsigned long long)run.steps, now() - start);
	return 0;
}
