// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many processes: children forked before any CUDA call, each of which allocates and launches;
 * short-lived ones in sequence, or ones that execute themselves again.
 */
#define _GNU_SOURCE
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	uint64_t processes, pairs, launches, keep, size;
	double short_lived, hold;
	int api;
	bool exec, executed;
} run = { .processes = 4, .pairs = 100, .launches = 100, .keep = 1, .size = 65536 };

static void allocate(uint64_t count, bool and_free)
{
	for (uint64_t i = 0; i < count; i++) {
		CUdeviceptr address;
		void *pointer;

		if (run.api == API_RUNTIME) {
			NEED(cudaMalloc(&pointer, run.size));
			if (and_free)
				NEED(cudaFree(pointer));
		} else {
			NEED(cuMemAlloc(&address, run.size));
			if (and_free)
				NEED(cuMemFree(address));
		}
	}
}

static void work(const char *prefix)
{
	struct gpu gpu = gpu__open(run.api);
	struct kernels kernels = kernels__load(run.api, prefix, 1, 0);

	allocate(run.pairs, true);
	allocate(run.keep, false);
	for (uint64_t i = 0; i < run.launches; i++)
		NEED(launch_once(run.api, kernels.handles[0], NULL));
	gpu__synchronize(&gpu);
	sleep_seconds(run.short_lived / 1000 + run.hold);
}

/* The simulation's counters end with the program that exec replaces, so write them first. */
static void execute_self(char **argv)
{
	void (*write_truth)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "cuda_sim_write_truth");
	char *arguments[64];
	int count = 0;

	if (write_truth)
		write_truth();
	for (; argv[count] && count < 62; count++)
		arguments[count] = argv[count];
	arguments[count] = "--executed";
	arguments[count + 1] = NULL;
	execv("/proc/self/exe", arguments);
	give_up("cannot execute itself");
}

static _Noreturn void run_child(char **argv)
{
	work("forked_kernel");
	if (run.exec)
		execute_self(argv);
	exit(0);
}

static void start_child(char **argv)
{
	pid_t child = fork();

	if (child < 0)
		give_up("cannot fork");
	if (!child)
		run_child(argv);
}

static bool wait_for_child(void)
{
	int status;

	if (wait(&status) < 0)
		give_up("a child is missing");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "processes", OPTION_NUMBER, &run.processes, NULL, "children [4]" },
		{ "pairs", OPTION_NUMBER, &run.pairs, NULL, "allocations and frees each [100]" },
		{ "keep", OPTION_NUMBER, &run.keep, NULL, "allocations never freed each [1]" },
		{ "bytes", OPTION_NUMBER, &run.size, NULL, "of an allocation [64K]" },
		{ "launches", OPTION_NUMBER, &run.launches, NULL, "each [100]" },
		{ "short-lived", OPTION_SECONDS, &run.short_lived, NULL,
		  "milliseconds each lives, one after the other" },
		{ "exec", OPTION_FLAG, &run.exec, NULL, "each executes itself and works again" },
		{ "executed", OPTION_FLAG, &run.executed, NULL, "what --exec adds" },
		{ "hold", OPTION_SECONDS, &run.hold, NULL,
		  "each stays for so long at its end [0]" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "[runtime]" },
		{ 0 },
	};
	uint64_t failed = 0;

	monitor_options__parse(argc, argv, "Runs CUDA in many processes.", options);
	if (run.executed) {
		work("executed_kernel");
		return 0;
	}
	for (uint64_t i = 0; i < run.processes; i++) {
		start_child(argv);
		if (run.short_lived > 0)
			failed += !wait_for_child();
	}
	for (uint64_t i = 0; i < run.processes && run.short_lived <= 0; i++)
		failed += !wait_for_child();
	printf("%llu processes, %llu failed\n", (unsigned long long)run.processes,
	       (unsigned long long)failed);
	return failed != 0;
}
