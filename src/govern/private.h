/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the overhead governor. */
#ifndef GOVERN_PRIVATE_H
#define GOVERN_PRIVATE_H

#include "base/clock.h"
#include "govern/governor.h"
#include "govern/plan.h"
#include "govern/threads.h"

#define GOVERNOR_MAX_CYCLE_NS (10 * NS_PER_S)
#define GOVERNOR_MIN_GAP_NS (80 * NS_PER_MS) /* all probes are detached by its end */

enum mode {
	MODE_EXACT = 0, /* no family is sampled */
	MODE_WINDOW,	/* all probes are attached, or some sampled ones are already detached */
	MODE_GAP,	/* all sampled ones are detached */
};

struct governor {
	double cold;	       /* call_costs.cold, at least 1 */
	double allowed;	       /* share of a thread's active time, by call_costs.ns */
	unsigned int sampling; /* the families that may be sampled, 1 << enum rate_family */
	struct call_costs costs;
	struct governor_hooks hooks;
	const struct log *log;
	struct governed_threads threads;
	enum mode mode;
	/* 1 << enum rate_family */
	unsigned int sampled, watched, ever;
	/* were detached until this window, which determines the rate at the end of that gap */
	unsigned int unsettled;
	double share[RATE_FAMILIES];
	uint64_t cycle_ns;	     /* start of the cycle, when attaching of its probes begins */
	uint64_t window_ns;	     /* when they are attached */
	uint64_t end_ns[RATE_EXACT]; /* planned end of the family's window */
	/* since when the family is detached, or was before this window; 0: it was not */
	uint64_t out_ns[RATE_EXACT];
	double length_ns; /* planned length of the cycle */
	uint64_t gap_end_ns;
	/*
	 * Learned: probes become active this long before hooks.watch returns from attaching, and
	 * inactive this long after it detached them.
	 */
	double lead_ns, lag_ns;
	double overhead;
	bool cycled; /* at least one cycle has ended */
	uint64_t random;
	bool reported_exact; /* the warning that always-watched calls cost too much was given */
};

static inline bool is_in(unsigned int families, int family)
{
	return families & 1u << family;
}

static inline double clamp(double value, double low, double high)
{
	return value < low ? low : (value > high ? high : value);
}

/* Reads the threads' numbers of calls. Returns the time of the reading. */
uint64_t governor__read(struct governor *governor);

struct plan_basis governor__basis(const struct governor *governor, uint64_t now_ns);

/* --- shares.c --- */

/* Plans which families are sampled from now on, and their shares. */
void governor__plan_shares(struct governor *governor, uint64_t now_ns);

/*
 * The cycle is over: carries over what threads have paid too much or too little, and plans the next
 * cycle.
 */
void governor__end_cycle(struct governor *governor, uint64_t now_ns, bool plan);

/* The smallest share among the families. */
double governor__least_share(const struct governor *governor);

/* --- windows.c --- */

/*
 * Chooses the length of the cycle whose window begins at window_ns, and the end of each family's
 * window.
 */
void governor__plan_windows(struct governor *governor);

/* When the next window ends; 0: all have ended. */
uint64_t governor__next_end(const struct governor *governor);

/* A window begins: counts so far belong to the time before it. */
void governor__mark_windows(struct governor *governor);

/* Ends the windows of `families` and determines the rates in them. */
void governor__end_windows(struct governor *governor, unsigned int families, uint64_t now_ns);

/* The same for families that were detached until the window began, and stay attached. */
void governor__settle(struct governor *governor, uint64_t now_ns);

/* Counts missed calls of detached families, from the rates of their latest windows. */
void governor__miss_until(struct governor *governor, unsigned int out, uint64_t to_ns);

/* --- delays.c --- */

/*
 * Learns the delay of detaching, from calls of families that were seen after their windows ended.
 */
void governor__learn_lag(struct governor *governor);

/* Learns the delay of attaching, from calls that were seen before the latest window began. */
void governor__learn_lead(struct governor *governor);

#endif
