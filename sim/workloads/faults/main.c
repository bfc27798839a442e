// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selects the fault and its duration, and prints the workload's own truth: `faults ID`, or `faults
 * ID --fixed` for the repaired twin.
 */
#include "faults.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct fault *const topics[] = {
	memory_faults, pressure_faults, launch_faults, wait_faults,
	copy_faults, error_faults, stream_faults, device_faults, lock_faults,
};

#define TOPICS (sizeof(topics) / sizeof(*topics))

static uint64_t clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void run__open(struct run *run, int device)
{
	NEED(cudaSetDevice(device));
	run->kernels = kernels__load(API_RUNTIME, "layer", FAULT_KERNELS, 0);
	NEED(cudaStreamCreateWithFlags(&run->stream, cudaStreamNonBlocking));
	run->end = now() + run->seconds;
}

void run__close(struct run *run)
{
	run__wait(run);
	NEED(cudaStreamDestroy(run->stream));
	kernels__unload(&run->kernels);
}

bool run__goes_on(const struct run *run)
{
	return now() < run->end;
}

void run__launch(struct run *run, uint64_t launches)
{
	for (uint64_t i = 0; i < launches; i++)
		NEED(launch_once(API_RUNTIME, run->kernels.handles[i % FAULT_KERNELS],
				 run->stream));
}

void run__wait(struct run *run)
{
	NEED(cudaStreamSynchronize(run->stream));
}

void run__step(struct run *run)
{
	run__launch(run, STEP_LAUNCHES);
	run__wait(run);
}

void run__begin_cost(struct run *run)
{
	run->begun_ns = clock_ns();
}

void run__end_cost(struct run *run, uint64_t bytes)
{
	run->cost_ns += clock_ns() - run->begun_ns;
	run->calls++;
	run->bytes += bytes;
}

void *device_memory(size_t size)
{
	void *memory;

	NEED(cudaMalloc(&memory, size));
	return memory;
}

void *pinned_memory(size_t size)
{
	void *memory;

	NEED(cudaHostAlloc(&memory, size, cudaHostAllocDefault));
	return memory;
}

static const struct fault *find(const char *id)
{
	for (size_t i = 0; i < TOPICS; i++)
		for (const struct fault *fault = topics[i]; fault->id; fault++)
			if (!strcmp(fault->id, id))
				return fault;
	return NULL;
}

static bool has_latency_of_work(const struct fault *fault)
{
	return fault->environment && strstr(fault->environment, "CUDA_SIM_ASYNC=");
}

/*
 * Prints how to find the fault: the simulator takes no time by itself, and some thresholds fit real
 * programs.
 */
static void show(const struct fault *fault)
{
	printf("%-25s %s\n    %s%s%sgpuprobe diagnose %s%s-- faults %s%s%s\n", fault->id,
	       fault->about, has_latency_of_work(fault) ? "" : "CUDA_SIM_ASYNC=2ms ",
	       fault->environment ? fault->environment : "", fault->environment ? " " : "",
	       fault->options ? fault->options : "", fault->options ? " " : "", fault->id,
	       fault->arguments ? " " : "", fault->arguments ? fault->arguments : "");
}

static void list(void)
{
	for (size_t i = 0; i < TOPICS; i++)
		for (const struct fault *fault = topics[i]; fault->id; fault++)
			show(fault);
}

static void write_truth(const struct run *run, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		give_up("%s cannot be written", path);
	fprintf(file, "{\"cost_ns\": %llu, \"calls\": %llu, \"bytes\": %llu}\n",
		(unsigned long long)run->cost_ns, (unsigned long long)run->calls,
		(unsigned long long)run->bytes);
	if (fclose(file))
		give_up("%s cannot be written", path);
}

int main(int argc, char **argv)
{
	struct run run = { .seconds = 2, .processes = 1 };
	const char *truth = NULL;
	const struct workload_option options[] = {
		{ "fixed", OPTION_FLAG, &run.fixed, NULL, "the repaired twin" },
		{ "seconds", OPTION_SECONDS, &run.seconds, NULL, "how long to run [2]" },
		{ "truth", OPTION_TEXT, &truth, NULL,
		  "write what the workload has measured there, as JSON" },
		{ "processes", OPTION_NUMBER, &run.processes, NULL,
		  "device-imbalance: a process for each of two devices, instead of one for both" },
		{ "part", OPTION_TEXT, &run.part, NULL,
		  "missing-sync: only free, event, stream or exit" },
		{ 0 },
	};
	const struct fault *fault = argc > 1 ? find(argv[1]) : NULL;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		list();
	if (fault) {
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	monitor_options__parse(argc, argv,
			       "`faults ID`: a program with the fault that gpuprobe calls ID.",
			       options);
	if (!fault)
		give_up("which fault? See --help");
	if (!fault->opens)
		run__open(&run, 0);
	fault->run(&run);
	if (truth)
		write_truth(&run, truth);
	return 0;
}
