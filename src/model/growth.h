/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether live memory of a call site grows: its bytes over time, and a verdict with the evidence.
 * If no stacks are taken but there is a profile, the same applies to the allocations of one size
 * by one function. The number of live objects of a call site is judged in the same way.
 *
 * A site grows if its low points in ten successive stretches of a time rise from one to the
 * next. Memory that is allocated and freed in batches returns to its lows, and memory allocated
 * once stays flat. The stretches divide the latest window, or the later half of everything seen,
 * or all of it, so that slow leaks are found too. A level already reached before that is not
 * growth. A site's first samples, its warm-up, are left out.
 *
 * Memory is bounded however long it runs: the latest samples are kept individually, older ones as
 * the lows of stretches that become longer.
 */
#ifndef MODEL_GROWTH_H
#define MODEL_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/profile.h"
#include "model/model.h"

struct growth; /* histories of all sites */
struct object_costs;
struct object_site;

enum growth_verdict {
	GROWTH_UNKNOWN = 0, /* not seen for long enough */
	GROWTH_STABLE,
	GROWTH_GROWING,
};

struct growth_evidence {
	enum growth_verdict verdict;
	/*
	 * the verdict is unknown because the process frees memory from before gpuprobe started,
	 * which this may replace
	 */
	bool replaces;
	double slope;	   /* bytes per second, by least squares over the lows */
	uint64_t span_ns;  /* length of the examined time */
	uint64_t grown;	   /* GROWTH_GROWING: bytes from the first low to the last */
	uint64_t grown_ns; /* time between these two */
	uint64_t samples;  /* samples in the examined time */
	uint64_t first_ns; /* time of the first sample, CLOCK_BOOTTIME; 0: none */
	uint64_t still_ns; /* how long it has not grown, in the latest samples */
};

/* With the default window of 60 s, a verdict takes 40 s after a warm-up of 10 s. */
#define GROWTH_WINDOW_NS 60000000000ull

/*
 * The window for a run of `seconds` (0: without end) whose user set none, in ns: two thirds
 * of it, not more than the default. Memory loaded within a few seconds looks like growth, so there
 * is a minimum; in a very short run growth is not judged.
 */
uint64_t growth__window(double seconds);

#define GROWTH_SITES_MAX 4096

/* How long a site must have been followed before there is a verdict. */
#define GROWTH_LEAST_NS(window_ns) ((window_ns) / 6 + (window_ns) / 3 * 2)

/* Intended sample interval; more frequent samples are ignored. */
#define GROWTH_SAMPLE_NS(window_ns) ((window_ns) / 60)

/* Follows at most `max` sites at a time, the largest first. NULL without memory. */
struct growth *growth__new(uint64_t window_ns, size_t max);

/* The same for tensors (model/tensors.h), or for pinned host memory, instead of device memory. */
struct growth *growth__new_of_tensors(uint64_t window_ns, size_t max);
struct growth *growth__new_of_pinned(uint64_t window_ns, size_t max);
void growth__free(struct growth *growth);

/*
 * Samples all live sites, or sizes, of running processes at model->now_ns, and drops processes that
 * are gone; an incomplete reading is skipped. 0, or -ENOMEM: some sites are not followed then.
 */
int growth__sample(struct growth *growth, const struct model *model);

/* Judges a site of this process. GROWTH_UNKNOWN without samples if the site is not followed. */
void growth__judge(const struct growth *growth, const struct process *process,
		   const struct stack *stack, struct growth_evidence *evidence);

/* The same for the allocations of one size. */
void growth__judge_size(const struct growth *growth, const struct process *process,
			const struct size_key *size, struct growth_evidence *evidence);

/* The same for objects, whose number counts in place of bytes. */
void growth__judge_objects(const struct growth *growth, const struct process *process,
			   const struct object_site *site, struct growth_evidence *evidence);

/* What objects cost, by the same samples. Owned by `growth`. */
const struct object_costs *growth__object_costs(const struct growth *growth);

/* Sites not followed in the latest sample for lack of room. */
size_t growth__unfollowed(const struct growth *growth);

#endif
