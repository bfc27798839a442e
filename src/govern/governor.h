/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds the cost of the probes in each watched thread below a budget
 * (`--max-overhead`). It knows what a call of each family costs on this machine
 * (calibration.h) and how many calls each thread makes (gpuprobe/rate.h). Where
 * a thread would pay more than the budget, the probes of a family are in for a
 * part of each period only; what was not seen meanwhile is estimated. Once the
 * rate has fallen they stay in again.
 *
 * A thread that makes N calls of a family while its probes are in for the time
 * W would have made W / (W/N - C) per W without them, C being a call's cost:
 * the probe slows the loop that it counts. W is without the time that the thread waited for a CPU.
 */
#ifndef GOVERN_GOVERNOR_H
#define GOVERN_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "gpuprobe/rate.h"
#include "target/proc.h"

struct governor;

/* What a call costs the thread that makes it, in nanoseconds. */
struct call_costs {
	double ns[RATE_FAMILIES]; /* where all that the probe needs is in the caches */
	double cold;		  /* so many times as much where the program's own work is; 0: taken to be 1 */
};

/* How the governor acts on the probes and learns what threads do. */
struct governor_hooks {
	/*
	 * Puts the probes of these families in, 1 << enum rate_family, and takes the others' out. Negative errno:
	 * it is tried again.
	 */
	int (*watch)(void *arg, unsigned int families);
	/*
	 * Copies the threads' counters, at most `capacity`; returns how many. A thread that has ended is told
	 * once, with its ended_ns.
	 */
	size_t (*read)(void *arg, struct thread_rate *rates, size_t capacity);
	/*
	 * What the thread (thread_rate.tid) has had of CPUs so far; false: that is not known. Asked of threads alone
	 * that make many calls. NULL: it never is.
	 */
	bool (*run_time)(void *arg, int32_t tid, struct run_time *time);
	/* CLOCK_BOOTTIME. */
	uint64_t (*now)(void *arg);
	void *arg;
};

#define GOVERNED_FAMILIES ((1u << RATE_EXACT) - 1)

/*
 * `budget`: by how much a thread may take longer than without probes, above 0; 0.05: 5 %. `sampling`: the families that may
 * be sampled for it, 1 << enum rate_family, GOVERNED_FAMILIES: all that can be; the others are always watched. `log` and
 * what `hooks` refer to must outlive it. NULL without memory.
 */
struct governor *governor__new(double budget, unsigned int sampling, const struct call_costs *costs,
			       const struct governor_hooks *hooks, const struct log *log);
void governor__free(struct governor *governor);

/* No warning where what is always watched costs more than the budget: nobody has asked for it. */
void governor__allow_excess(struct governor *governor);

/* To be called at the time that it returned last: acts, and returns the nanoseconds until the next call. */
uint64_t governor__tick(struct governor *governor);

/* The share of the time that the family's probes are in now: 1 where it is exact. */
double governor__share(const struct governor *governor, enum rate_family family);

/* Whether the family has ever been sampled. */
bool governor__was_sampled(const struct governor *governor, enum rate_family family);

/* By how much the probes made the thread slower that paid most, in the latest period; 0.05: by 5 %. */
double governor__overhead(const struct governor *governor);

/* Makes what the next two tell that of now. */
void governor__refresh(struct governor *governor);

/* Calls of the process that are estimated to have been missed so far; never goes back. */
uint64_t governor__missed(const struct governor *governor, uint32_t slot, enum rate_family family);

/* Calls that its threads were seen to enter so far (struct thread_rate), also those that have ended. */
uint64_t governor__seen(const struct governor *governor, uint32_t slot, enum rate_family family);

/* The process in the slot has ended and been read: its numbers go. */
void governor__forget(struct governor *governor, uint32_t slot);

#endif
