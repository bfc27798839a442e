/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the cost of the probes in each watched thread below a budget (`--max-overhead`). It knows
 * the cost of a call of each family on this machine (calibration.h) and the number of calls of each
 * thread (gpuprobe/rate.h). If a thread would pay more than the budget, the probes of a family are
 * attached for only part of each period, and the missed calls are estimated. Once the rate has
 * fallen they stay attached again.
 *
 * Suppose a thread makes N calls of a family while its probes are attached for the time W, and a
 * call costs C. Without them it would have made W / (W/N - C) calls per W, because the probe slows
 * the loop that it counts. W excludes the time that the thread waited for a CPU.
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

/* What a call costs its thread, in nanoseconds. */
struct call_costs {
	double ns[RATE_FAMILIES]; /* if everything the probe needs is in the caches */
	/* factor if the caches hold the program's own data; 0: taken as 1 */
	double cold;
};

/* How the governor controls the probes and learns what threads do. */
struct governor_hooks {
	/*
	 * Attaches the probes of these families, 1 << enum rate_family, and detaches the others.
	 * Negative errno: retried later.
	 */
	int (*watch)(void *arg, unsigned int families);
	/*
	 * Copies the threads' counters, at most `capacity`, and returns their number. An ended
	 * thread is reported once, with its ended_ns.
	 */
	size_t (*read)(void *arg, struct thread_rate *rates, size_t capacity);
	/*
	 * CPU time of the thread (thread_rate.tid) so far; false: unknown. Only called for threads
	 * that make many calls. NULL: never known.
	 */
	bool (*run_time)(void *arg, int32_t tid, struct run_time *time);
	/* CLOCK_BOOTTIME. */
	uint64_t (*now)(void *arg);
	void *arg;
};

#define GOVERNED_FAMILIES ((1u << RATE_EXACT) - 1)

/*
 * `budget`: allowed slowdown of a thread relative to no probes, above 0; 0.05: 5 %. `sampling`: the
 * families that may be sampled for it, 1 << enum rate_family; GOVERNED_FAMILIES: all possible ones;
 * the others are always watched. `log` and what `hooks` refer to must outlive it. NULL without
 * memory.
 */
struct governor *governor__new(double budget, unsigned int sampling, const struct call_costs *costs,
			       const struct governor_hooks *hooks, const struct log *log);
void governor__free(struct governor *governor);

/*
 * Suppresses the warning that always-watched calls exceed the budget: the user did not request a
 * budget.
 */
void governor__allow_excess(struct governor *governor);

/*
 * Call it when the previously returned time has passed: acts, and returns the nanoseconds until the
 * next call.
 */
uint64_t governor__tick(struct governor *governor);

/* The share of time for which the family's probes are attached now: 1 if it is exact. */
double governor__share(const struct governor *governor, enum rate_family family);

/* Whether the family has ever been sampled. */
bool governor__was_sampled(const struct governor *governor, enum rate_family family);

/* Slowdown of the worst-hit thread due to the probes, in the latest period; 0.05: 5 %. */
double governor__overhead(const struct governor *governor);

/* Updates the results of the next two functions to this moment. */
void governor__refresh(struct governor *governor);

/* Estimated missed calls of the process so far; never decreases. */
uint64_t governor__missed(const struct governor *governor, uint32_t slot, enum rate_family family);

/*
 * Calls that the process's threads were seen to enter so far (struct thread_rate), ended threads
 * included.
 */
uint64_t governor__seen(const struct governor *governor, uint32_t slot, enum rate_family family);

/* The process in the slot has ended and been read: drops its data. */
void governor__forget(struct governor *governor, uint32_t slot);

#endif
