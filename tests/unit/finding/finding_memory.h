/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that tests of memory findings share: a process, sizes in its profile, and how many sites
 * were judged.
 */
#ifndef TESTS_FINDING_MEMORY_H
#define TESTS_FINDING_MEMORY_H

#include <stdint.h>
#include <string.h>

#include "finding_run.h"

/* A process that began with the run; its profile is on the stack. */
#define PROCESS(account_) \
	{ \
		.pid = 12, .comm = "train", .start_ns = RUN_BEGAN, .profile = (account_) \
	}

static inline void end(struct run *run, struct process *process, double seconds)
{
	process->ended = true;
	process->ended_ns = RUN_BEGAN + (uint64_t)(seconds * 1e9);
	run->model.now_ns = process->ended_ns;
}

static inline struct profile_size size_of(const char *function, uint64_t size, uint64_t allocations,
					  uint64_t frees, uint64_t peak)
{
	return (struct profile_size){
		.key = {.size = size, .row = row_of(function), .kind = MEMORY_DEVICE},
		.record =
			{
				.allocations = allocations,
				.allocation_ns = allocations * 412000,
				.frees = frees,
				.free_ns = frees * 23000,
				.live = allocations - frees,
				.peak = peak,
				.first_took_ns = 412000,
			},
	};
}

/*
 * In the latest detection: how many sites were examined, and how many of them not for long enough.
 */
static inline void expect_trend(const struct run *run, const char *id, uint64_t examined,
				uint64_t unjudged, uint64_t seconds)
{
	for (size_t i = 0; i < run->list.trend_count; i++) {
		const struct finding_trend *trend = &run->list.trends[i];

		if (strcmp(trend->kind->id, id))
			continue;
		assert_int_equal(trend->examined, examined);
		assert_int_equal(trend->unjudged, unjudged);
		assert_int_equal(trend->followed_ns, seconds * NS_PER_S);
		assert_int_equal(trend->needed_ns,
				 (strcmp(id, "fragmentation") ? 50 : 40) * NS_PER_S);
		return;
	}
	assert_int_equal(examined, 0);
}

#endif
