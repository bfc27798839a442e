/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether live memory of a call site grows: its bytes over time, and a verdict
 * with the evidence. Where no stacks are taken and there is a profile, the
 * same of the allocations of one size by one function.
 *
 * A site grows where the lows of ten stretches of a time rise from one to the
 * next: what is allocated and freed again in batches comes back to its lows,
 * and what was set up once stays flat. The time is the latest window, or the
 * later half or the whole of what was seen, so that leaks are found that are slower.
 * What has been as high before the time is no growth. The first of a site, its
 * warm-up, is left out.
 *
 * Memory is bounded, whatever time passes: the latest samples are kept one by
 * one, older ones by the lows of stretches that become longer.
 */
#ifndef MODEL_GROWTH_H
#define MODEL_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/profile.h"
#include "model/model.h"

struct growth; /* of all sites */

enum growth_verdict {
	GROWTH_UNKNOWN = 0, /* seen for too short a time */
	GROWTH_STABLE,
	GROWTH_GROWING,
};

struct growth_evidence {
	enum growth_verdict verdict;
	/* unknown, since the process frees memory of before gpuprobe, whose place this may take */
	bool replaces;
	double slope;	   /* bytes per second, by least squares over the lows */
	uint64_t span_ns;  /* the time that was looked at */
	uint64_t grown;	   /* bytes, from the first of the lows to the last; of GROWTH_GROWING */
	uint64_t grown_ns; /* between these two */
	uint64_t samples;  /* in it */
	uint64_t first_ns; /* the first sample, CLOCK_BOOTTIME; 0: none */
	uint64_t still_ns; /* since when it has not grown any more, in the latest samples */
};

/* By the default window of 60 s a verdict takes 40 s, after a warm-up of 10 s. */
#define GROWTH_WINDOW_NS 60000000000ull
#define GROWTH_SITES_MAX 4096

/* For how long a site must have been followed for a verdict. */
#define GROWTH_LEAST_NS(window_ns) ((window_ns) / 6 + (window_ns) / 3 * 2)

/* Samples should come this often; more of them are not taken in. */
#define GROWTH_SAMPLE_NS(window_ns) ((window_ns) / 60)

/* At most `max` sites are followed at a time, the largest first. NULL without memory. */
struct growth *growth__new(uint64_t window_ns, size_t max);
void growth__free(struct growth *growth);

/*
 * Takes a sample of all live sites, or sizes, of processes that have not ended, as of
 * model->now_ns, and forgets processes that are gone; of a reading that broke off
 * it takes none. 0, or -ENOMEM: then some sites are not followed.
 */
int growth__sample(struct growth *growth, const struct model *model);

/* What is known of a site of this process. Unknown without samples where it is not followed. */
void growth__judge(const struct growth *growth, const struct process *process, const struct stack *stack,
		   struct growth_evidence *evidence);

/* The same of the allocations of one size. */
void growth__judge_size(const struct growth *growth, const struct process *process, const struct size_key *size,
			struct growth_evidence *evidence);

/* Sites that were not followed in the latest sample, for want of room. */
size_t growth__unfollowed(const struct growth *growth);

#endif
