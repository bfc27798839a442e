// SPDX-License-Identifier: BSD-2-Clause
/*
 * Modules loaded and unloaded in rounds: the handles of one round's kernels are reused for other
 * kernels in the next.
 */
#include "gpu.h"

#include <stdio.h>

static struct {
	uint64_t rounds, kernels, launches;
	int api;
	bool keep_last;
} run = { .rounds = 10, .kernels = 4, .launches = 10 };

static bool contains(void *const *handles, uint64_t count, const void *handle)
{
	for (uint64_t i = 0; i < count; i++)
		if (handles[i] == handle)
			return true;
	return false;
}

/* Runs one round; returns how many handles also existed in the round before. */
static uint64_t run_round(uint64_t round, void **before, uint64_t nr_before)
{
	struct kernels kernels;
	uint64_t again = 0;
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "round_%llu_kernel", (unsigned long long)round);
	kernels = kernels__load(run.api, prefix, run.kernels, 0);
	for (uint64_t i = 0; i < run.kernels; i++) {
		/* Each kernel has a different count, so that a mix-up shows. */
		for (uint64_t k = 0; k < run.launches + i; k++)
			NEED(launch_once(run.api, kernels.handles[i], NULL));
		again += contains(before, nr_before, kernels.handles[i]);
	}
	for (uint64_t i = 0; i < run.kernels; i++)
		before[i] = kernels.handles[i];
	if (!run.keep_last || round + 1 < run.rounds)
		kernels__unload(&kernels);
	return again;
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "rounds", OPTION_NUMBER, &run.rounds, NULL, "modules, one after the other [10]" },
		{ "kernels", OPTION_NUMBER, &run.kernels, NULL, "in each module [4]" },
		{ "launches", OPTION_NUMBER, &run.launches, NULL,
		  "of a module's first kernel; one more of each next [10]" },
		{ "keep-last", OPTION_FLAG, &run.keep_last, NULL, "do not unload the last module" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "[runtime]" },
		{ 0 },
	};
	struct gpu gpu;
	uint64_t again = 0;
	void **before;

	monitor_options__parse(argc, argv, "Loads modules, launches their kernels, unloads them.",
			       options);
	gpu = gpu__open(run.api);
	before = must_allocate(run.kernels * sizeof(*before));
	for (uint64_t round = 0; round < run.rounds; round++)
		again += run_round(round, before, round ? run.kernels : 0);
	gpu__synchronize(&gpu);
	printf("%llu handles came back under another name\n", (unsigned long long)again);
	free(before);
	return 0;
}
