// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process that runs before gpuprobe starts: allocates, prints READY and waits. A line on standard
 * input makes it launch; it can be killed with its memory live.
 */
#include "gpu.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static struct {
	uint64_t size, count, before, then;
	double seconds;
	int api;
} run = { .size = 1 << 20, .count = 1, .seconds = 3600 };

static void allocate(void)
{
	CUdeviceptr address;
	void *pointer;

	for (uint64_t i = 0; i < run.count; i++) {
		if (run.api == API_RUNTIME)
			NEED(cudaMalloc(&pointer, run.size));
		else
			NEED(cuMemAlloc(&address, run.size));
	}
}

static void launch(const struct kernels *kernels, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		NEED(launch_once(run.api, kernels->handles[0], NULL));
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "bytes", OPTION_NUMBER, &run.size, NULL, "of each allocation [1M]" },
		{ "count", OPTION_NUMBER, &run.count, NULL, "allocations [1]" },
		{ "launch", OPTION_NUMBER, &run.before, NULL, "launches before READY [0]" },
		{ "then-launch", OPTION_NUMBER, &run.then, NULL,
		  "launches for each line on standard input [0]" },
		{ "seconds", OPTION_SECONDS, &run.seconds, NULL, "how long to stay [3600]" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "[runtime]" },
		{ 0 },
	};
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct kernels kernels;
	char line[256];
	double end;

	monitor_options__parse(argc, argv, "Allocates memory, prints READY and waits.", options);
	gpu__open(run.api);
	kernels = kernels__load(run.api, "holder_kernel", 1, 0);
	allocate();
	launch(&kernels, run.before);
	say("READY");
	end = now() + run.seconds;
	for (double left = run.seconds; left > 0; left = end - now()) {
		if (poll(&input, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		if (read(STDIN_FILENO, line, sizeof(line)) <= 0) {
			input.fd = -1;
			continue;
		}
		launch(&kernels, run.then);
		say("DONE");
	}
	return 0;
}
