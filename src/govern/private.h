/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the overhead governor share. */
#ifndef GOVERN_PRIVATE_H
#define GOVERN_PRIVATE_H

#include "base/clock.h"
#include "govern/governor.h"
#include "govern/plan.h"
#include "govern/threads.h"

#define GOVERNOR_MAX_CYCLE_NS (10 * NS_PER_S)
#define GOVERNOR_MIN_GAP_NS (80 * NS_PER_MS) /* all probes are out by the end of it */

enum mode {
	MODE_EXACT = 0, /* no family is sampled */
	MODE_WINDOW,	/* all are in, or some sampled ones out by now */
	MODE_GAP,	/* all that are sampled are out */
};

struct governor {
	double cold;	       /* call_costs.cold, 1 at the least */
	double allowed;	       /* of a thread's active time, by call_costs.ns */
	unsigned int sampling; /* the families that may be sampled, 1 << enum rate_family */
	struct call_costs costs;
	struct governor_hooks hooks;
	const struct log *log;
	struct governed_threads threads;
	enum mode mode;
	/* 1 << enum rate_family */
	unsigned int sampled, watched, ever;
	unsigned int unsettled; /* were out until this window, which has the rate at the end of that gap */
	double share[RATE_FAMILIES];
	uint64_t cycle_ns;	     /* when the cycle began, which puts its probes in: */
	uint64_t window_ns;	     /* they are */
	uint64_t end_ns[RATE_EXACT]; /* of the family's window, as planned */
	uint64_t out_ns[RATE_EXACT]; /* since when the family is out, or was before this window; 0: it was not */
	double length_ns;	     /* of the cycle, as planned */
	uint64_t gap_end_ns;
	/* Learned: so long before hooks.watch has put probes in they are, and so long after it took them out. */
	double lead_ns, lag_ns;
	double overhead;
	bool cycled; /* a cycle has ended */
	uint64_t random;
	bool reported_exact; /* that what is always watched costs too much */
};

static inline bool is_in(unsigned int families, int family)
{
	return families & 1u << family;
}

static inline double clamp(double value, double low, double high)
{
	return value < low ? low : (value > high ? high : value);
}

/* Reads how many calls threads have made. Returns the time of it. */
uint64_t governor__read(struct governor *governor);

struct plan_basis governor__basis(const struct governor *governor, uint64_t now_ns);

/* --- shares.c --- */

/* Plans what is sampled, and for how much of the time, from now on. */
void governor__plan_shares(struct governor *governor, uint64_t now_ns);

/* The cycle is over: what threads have paid too much or too little in it is carried over, and the next planned by it. */
void governor__end_cycle(struct governor *governor, uint64_t now_ns, bool plan);

/* Of the families. */
double governor__least_share(const struct governor *governor);

/* --- windows.c --- */

/* Chooses how long the cycle is, whose window begins at window_ns, and when each family's window ends. */
void governor__plan_windows(struct governor *governor);

/* The time of the window that is to end next; 0: all have. */
uint64_t governor__next_end(const struct governor *governor);

/* A window begins: what threads have counted so far was before it. */
void governor__mark_windows(struct governor *governor);

/* The windows of `families` end: rates are what threads did in them. */
void governor__end_windows(struct governor *governor, unsigned int families, uint64_t now_ns);

/* The same of families that were out until the window began, and stay in. */
void governor__settle(struct governor *governor, uint64_t now_ns);

/* What is missed of families that are out is counted, by the rates of their latest windows. */
void governor__miss_until(struct governor *governor, unsigned int out, uint64_t to_ns);

/* --- delays.c --- */

/* Learns how long probes take to go, by calls of families that are out since their windows ended. */
void governor__learn_lag(struct governor *governor);

/* The same of coming, by calls before the window that has ended began. */
void governor__learn_lead(struct governor *governor);

#endif
