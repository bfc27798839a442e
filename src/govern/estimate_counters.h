/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What govern/estimate.h knows of a process: of each counter what it has told lately, by which it
 * gets its part of what was missed, and what it has got so far.
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

/* How fast what was told by readings before is forgotten. */
#define WEIGHT_FADE 0.25

#define THREAD_AMOUNTS 4 /* what threads are given, estimate_threads.c */

enum counter_of {
	COUNTER_TALLY,
	COUNTER_RUN, /* launches of graphs of a size */
	COUNTER_DURATION,
	COUNTER_THREAD, /* and of all that are not listed, start_ns 0 */
};

struct counter_key {
	uint64_t kernels; /* of a graph; of a thread when it started */
	int32_t tid;
	uint16_t row, flags;
	uint8_t kind, device;
	uint8_t of; /* enum counter_of */
	uint8_t unknown;
	uint8_t what; /* of a thread: enum thread_amount */
	uint8_t pad[3];
};

/* What a counter of the maps has told lately, and what it is estimated to have missed. */
struct counter {
	struct counter_key key;
	struct tally weighed;		   /* what it had told when it was looked at last */
	double calls, failures, bytes, ns; /* weights, see model/missed.h */
	struct tally missed;
	uint64_t reading; /* of a thread: in which it was there last */
	UT_hash_handle hh;
};

struct estimated_family {
	struct family_calls calls;
	uint64_t taken;		 /* of the source's missed calls, what has been shared out */
	uint64_t seen;		 /* the source's, at the latest reading */
	double entered, counted; /* that many calls came to so many counted ones, lately */
	double rest;
	struct missed_share share; /* of the reading in progress */
};

struct process_estimates {
	struct estimated_family families[RATE_FAMILIES];
	struct counter *counters;    /* a uthash table */
	uint64_t missed_launches[2]; /* of kernels: executed, captured */
	double runs_rest;	     /* of launches of graphs by size, what rounding has left */
	/* Of its profile */
	uint64_t cut_launches;			  /* of kernels, whose returns were not seen */
	struct time_totals given[THREAD_AMOUNTS]; /* to threads so far */
	struct tally reported[THREAD_AMOUNTS];	  /* by all threads, at the latest reading */
	uint64_t reading;
};

struct estimates {
	struct estimate_source source;
	uint32_t slots;
	struct process_estimates **of; /* by slot */
};

/* By how much `a` is above `b`, 0 where it is not. */
static inline uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The counter with the key, made where it is not there. NULL without memory. */
struct counter *counter__of(struct process_estimates *own, const struct counter_key *key);

/* Frees all of a process; NULL is fine. */
void process_estimates__free(struct process_estimates *own);

/* What the counter has told since it was looked at; a part of it may be on its way from a thread to the map. */
struct tally counter__fresh(const struct counter *counter, const struct tally *now);

/* Takes that into what it weighs. */
void counter__weigh(struct counter *counter, const struct tally *now, const struct missed_share *share);

/* How long `calls` took that were missed: as what was seen lately. */
uint64_t counter__ns(const struct counter *counter, uint64_t calls);

/*
 * Gives the counter its part of what was missed, which is like what was seen: as many bytes and as
 * much time for each call. Returns how many calls it was.
 */
uint64_t counter__share_out(struct counter *counter, const struct tally *now, const struct missed_share *share,
			    double *rest);

#endif
