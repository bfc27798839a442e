// SPDX-License-Identifier: BSD-2-Clause
/*
 * The demonstration: three buffers, two kernels in a loop, copies both ways, and a leak: only two
 * of the buffers are freed, at half time.
 */
#include "gpu.h"

#include <stdio.h>

#define BUFFER_BYTES 8000000
#define HUGE_BYTES (1ull << 50)
#define STEP_SECONDS 0.01

static struct {
	double seconds;
	int api;
} run = { .seconds = 12 };

struct state {
	struct gpu gpu;
	struct kernels kernels;
	void *buffers[3];
	void *pinned;
	char *host;
	CUstream stream;
};

static CUdeviceptr device(const void *address)
{
	return (CUdeviceptr)(uintptr_t)address;
}

static int allocate(void **out, size_t size)
{
	CUdeviceptr address = 0;
	int result;

	if (run.api == API_RUNTIME)
		return (int)cudaMalloc(out, size);
	result = (int)cuMemAlloc(&address, size);
	*out = (void *)(uintptr_t)address;
	return result;
}

static void load(struct state *state)
{
	static const char text[] =
		".version 7.0\n"
		".target sm_75\n"
		".address_size 64\n"
		".visible .entry convolution_part1()\n{\n\tret;\n}\n"
		".visible .entry convolution_part2()\n{\n\tret;\n}\n";
	static const char *const names[] = { "convolution_part1", "convolution_part2" };
	struct kernels *kernels = &state->kernels;

	kernels->handles = must_allocate(2 * sizeof(*kernels->handles));
	if (run.api == API_RUNTIME)
		NEED(cudaLibraryLoadData(&kernels->library, text, NULL, NULL, 0, NULL, NULL, 0));
	else
		NEED(cuModuleLoadData(&kernels->module, text));
	for (int i = 0; i < 2; i++) {
		if (run.api == API_RUNTIME)
			NEED(cudaLibraryGetKernel((cudaKernel_t *)&kernels->handles[i],
						  kernels->library, names[i]));
		else
			NEED(cuModuleGetFunction((CUfunction *)&kernels->handles[i],
						 kernels->module, names[i]));
	}
}

static void open_all(struct state *state)
{
	void *nothing;

	state->gpu = gpu__open(run.api);
	load(state);
	state->host = must_allocate(BUFFER_BYTES);
	for (int i = 0; i < 3; i++)
		NEED(allocate(&state->buffers[i], BUFFER_BYTES));
	if (run.api == API_RUNTIME) {
		NEED(cudaHostAlloc(&state->pinned, BUFFER_BYTES, cudaHostAllocDefault));
		NEED(cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking));
	} else {
		NEED(cuMemHostAlloc(&state->pinned, BUFFER_BYTES, 0));
		NEED(cuStreamCreate(&state->stream, CU_STREAM_NON_BLOCKING));
	}
	if (!allocate(&nothing, HUGE_BYTES))
		give_up("an allocation of 2^50 bytes succeeded");
}

static void launch_both(const struct state *state)
{
	for (int i = 0; i < 2; i++)
		NEED(launch_once(run.api, state->kernels.handles[i], state->stream));
}

/* The third buffer is the leaked one. */
static void copy_both_ways(const struct state *state)
{
	void *buffer = state->buffers[2];

	if (run.api == API_RUNTIME) {
		NEED(cudaMemcpy(buffer, state->host, BUFFER_BYTES, cudaMemcpyHostToDevice));
		NEED(cudaMemcpy(state->host, buffer, BUFFER_BYTES, cudaMemcpyDeviceToHost));
		NEED(cudaMemcpyAsync(buffer, state->pinned, BUFFER_BYTES, cudaMemcpyHostToDevice,
				     state->stream));
		NEED(cudaMemcpyAsync(state->pinned, buffer, BUFFER_BYTES, cudaMemcpyDeviceToHost,
				     state->stream));
		return;
	}
	NEED(cuMemcpyHtoD(device(buffer), state->host, BUFFER_BYTES));
	NEED(cuMemcpyDtoH(state->host, device(buffer), BUFFER_BYTES));
	NEED(cuMemcpyHtoDAsync(device(buffer), state->pinned, BUFFER_BYTES, state->stream));
	NEED(cuMemcpyDtoHAsync(state->pinned, device(buffer), BUFFER_BYTES, state->stream));
}

static void synchronize(const struct state *state)
{
	if (run.api == API_RUNTIME)
		NEED(cudaStreamSynchronize(state->stream));
	else
		NEED(cuStreamSynchronize(state->stream));
}

static void free_two(const struct state *state)
{
	for (int i = 0; i < 2; i++) {
		if (run.api == API_RUNTIME)
			NEED(cudaFree(state->buffers[i]));
		else
			NEED(cuMemFree(device(state->buffers[i])));
	}
}

static void close_all(const struct state *state)
{
	synchronize(state);
	if (run.api == API_RUNTIME)
		NEED(cudaFreeHost(state->pinned));
	else
		NEED(cuMemFreeHost(state->pinned));
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "seconds", OPTION_SECONDS, &run.seconds, NULL, "how long to run [12]" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "[runtime]" },
		{ 0 },
	};
	struct state state = { 0 };
	uint64_t steps, step;

	monitor_options__parse(argc, argv,
			       "Runs two kernels in a loop and forgets to free a buffer.", options);
	open_all(&state);
	steps = (uint64_t)(run.seconds / STEP_SECONDS);
	for (step = 0; step < steps; step++) {
		launch_both(&state);
		if (step % 10 == 0)
			copy_both_ways(&state);
		if (step % 100 == 50)
			synchronize(&state);
		if (step == steps / 2)
			free_two(&state);
		sleep_seconds(STEP_SECONDS);
	}
	close_all(&state);
	printf("demo: %llu launches, one buffer of %d bytes not freed\n",
	       (unsigned long long)(2 * steps), BUFFER_BYTES);
	return 0;
}
