/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What govern/estimate.h knows about a process: for each counter its recent increase, which
 * determines its part of the missed calls, and the part it has got so far.
 */
#ifndef GOVERN_ESTIMATE_COUNTERS_H
#define GOVERN_ESTIMATE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "govern/estimate.h"
#include "model/missed.h"
#include "model/profile.h"
#include "model/model.h"

/* How fast earlier readings are forgotten. */
#define WEIGHT_FADE 0.25

#define THREAD_AMOUNTS 4 /* amounts distributed to threads, estimate_threads.c */

enum counter_of {
	COUNTER_TALLY,
	COUNTER_RUN, /* launches of graphs by size */
	COUNTER_DURATION,
	COUNTER_THREAD, /* also one for all unlisted threads, with start_ns 0 */
};

struct counter_key {
	uint64_t kernels; /* of a graph; for a thread its start time */
	int32_t tid;
	uint16_t row, flags;
	uint8_t kind, device;
	uint8_t of; /* enum counter_of */
	uint8_t unknown;
	uint8_t what; /* thread: enum thread_amount */
	uint8_t pad[3];
};

/* The recent increase of a counter in the maps, and its estimated missed calls. */
struct counter {
	struct counter_key key;
	struct tally weighed;		   /* its value at the last look */
	double calls, failures, bytes, ns; /* weights, see model/missed.h */
	struct tally missed;
	uint64_t reading; /* thread: the latest reading that contained it */
	UT_hash_handle hh;
};

struct estimated_family {
	struct family_calls calls;
	uint64_t taken; /* the part of the source's missed calls that has been distributed */
	uint64_t seen;	/* the source's, at the latest reading */
	/* recent numbers of entered calls and of counted calls that resulted */
	double entered, counted;
	double rest;
	struct missed_share share; /* of the reading in progress */
};

struct process_estimates {
	struct estimated_family families[RATE_FAMILIES];
	struct counter *counters;    /* a uthash table */
	uint64_t missed_launches[2]; /* kernel launches: executed, captured */
	double runs_rest;	     /* rounding remainder of graph launches by size */
	/* For its profile */
	uint64_t cut_launches;			  /* kernel launches whose returns were missed */
	struct time_totals given[THREAD_AMOUNTS]; /* given to threads so far */
	/* counted by all threads, at the latest reading */
	struct tally reported[THREAD_AMOUNTS];
	uint64_t reading;
};

struct estimates {
	struct estimate_source source;
	uint32_t slots;
	struct process_estimates **of; /* indexed by slot */
};

/* How much `a` exceeds `b`, 0 if it does not. */
static inline uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The counter with this key, created if needed. NULL without memory. */
struct counter *counter__of(struct process_estimates *own, const struct counter_key *key);

/* Frees all data of a process; accepts NULL. */
void process_estimates__free(struct process_estimates *own);

/*
 * The counter's increase since the last look; part of a value may be in transit from a thread to
 * the map.
 */
struct tally counter__fresh(const struct counter *counter, const struct tally *now);

/* Adds that increase to its weight. */
void counter__weigh(struct counter *counter, const struct tally *now,
		    const struct missed_share *share);

/* How long `calls` missed calls took, judged by recent ones. */
uint64_t counter__ns(const struct counter *counter, uint64_t calls);

/*
 * Gives the counter its part of the missed calls, assumed to be like the counted ones: as many
 * bytes and as much time per call. Returns the number of calls.
 */
uint64_t counter__share_out(struct counter *counter, const struct tally *now,
			    const struct missed_share *share, double *rest);

#endif
