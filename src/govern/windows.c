// SPDX-License-Identifier: BSD-2-Clause
// When families are watched, and what threads do then and are assumed to do in between; see
// private.h.
#include "govern/budget.h"
#include "govern/private.h"

#define MIN_WINDOW_NS (20 * NS_PER_MS)
#define HELD 0.6 /* part of a rate that is still expected one cycle later: programs have phases */

/* 0 to 1, xorshift: cycles must not resonate with a program's period. */
static double chance(struct governor *governor)
{
	governor->random ^= governor->random << 13;
	governor->random ^= governor->random >> 7;
	governor->random ^= governor->random << 17;
	return (double)(governor->random >> 11) / (double)(1ull << 53);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/*
 * The length of the cycle: windows and gaps must not be shorter than attaching and detaching take.
 */
static double choose_length(struct governor *governor)
{
	double length = (double)PLAN_PERIOD_NS * (0.5 + chance(governor)), most = 0;

	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(governor->sampled, family) && governor->share[family] > most)
			most = governor->share[family];
	length = larger(length, ((double)MIN_WINDOW_NS + governor->lag_ns) /
					governor__least_share(governor));
	length = larger(length, (double)GOVERNOR_MIN_GAP_NS / (1 - most));
	return clamp(length, 0, (double)GOVERNOR_MAX_CYCLE_NS);
}

uint64_t governor__next_end(const struct governor *governor)
{
	uint64_t next = 0;

	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(governor->sampled & governor->watched, family) &&
		    (!next || governor->end_ns[family] < next))
			next = governor->end_ns[family];
	return next;
}

void governor__plan_windows(struct governor *governor)
{
	governor->length_ns = choose_length(governor);
	for (int family = 0; family < RATE_EXACT; family++) {
		double window = governor->share[family] * governor->length_ns - governor->lag_ns;

		governor->end_ns[family] =
			governor->window_ns + (uint64_t)larger(window, (double)MIN_WINDOW_NS);
	}
}

static void mark_window(struct governed_calls *calls, bool sampled)
{
	calls->at_window = calls->now;
	if (!sampled)
		calls->held_rate = 0;
}

void governor__mark_windows(struct governor *governor)
{
	struct governed_thread *thread, *next;

	HASH_ITER (hh, governor->threads.table, thread, next) {
		thread->run_at_window = thread->run;
		for (int family = 0; family < RATE_FAMILIES; family++)
			mark_window(&thread->calls[family], is_in(governor->sampled, family));
	}
}

static double active_in_window(const struct governor *governor,
			       const struct governed_thread *thread, uint64_t now_ns)
{
	return governed_thread__active(thread, governor->window_ns, now_ns, &thread->run_at_window);
}

/*
 * Determines the thread's rates in the family's window, which ends now, with probes and without
 * those that are or were detached. Returns false if the thread ended before the window began.
 */
static bool rate_thread(struct governor *governor, struct governed_thread *thread, int family,
			uint64_t now_ns)
{
	uint64_t ns = governed_thread__time(thread, governor->window_ns, now_ns);
	double active = active_in_window(governor, thread, now_ns), cost = 0;
	struct governed_calls *own = &thread->calls[family];

	if (!ns)
		return false;
	/* Other families' windows may have ended earlier: their cost until then counts. */
	for (int other = 0; other < RATE_EXACT; other++)
		if (is_in(governor->sampled | governor->unsettled, other))
			cost += governor->costs.ns[other] *
				(double)(thread->calls[other].now -
					 thread->calls[other].at_window) /
				active;
	own->rate = (double)(own->now - own->at_window) / (double)ns;
	governed_threads__rate(&governor->threads, thread, family,
			       budget__rate_without(own->rate, cost));
	return true;
}

/* The window has ended, and the family will be detached. */
static void end_of_thread(struct governor *governor, struct governed_thread *thread, int family,
			  uint64_t now_ns)
{
	double active = active_in_window(governor, thread, now_ns), rate;
	struct governed_calls *own = &thread->calls[family];

	own->at_end = own->now;
	if (!rate_thread(governor, thread, family, now_ns))
		return;
	rate = (double)(own->now - own->at_window) / active;
	own->held_rate = rate > HELD * own->held_rate ? rate : HELD * own->held_rate;
}

/* A thread that is new may have made calls before, while the family was detached. */
static void miss_before(struct governor *governor, struct governed_thread *thread, int family)
{
	uint64_t out_ns = governor->out_ns[family],
		 in_ns = governor->window_ns - (uint64_t)governor->lead_ns;
	struct governed_calls *calls = &thread->calls[family];

	if (!calls->rated && out_ns)
		governor->threads.processes[thread->key.slot].missed[family] +=
			calls->rate_without * (double)governed_thread__time(thread, out_ns, in_ns);
	calls->rated = true;
}

static void end_window(struct governor *governor, int family, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + (uint64_t)governor->lag_ns;
	struct governed_thread *thread, *next;

	HASH_ITER (hh, governor->threads.table, thread, next) {
		end_of_thread(governor, thread, family, now_ns);
		miss_before(governor, thread, family);
		thread->calls[family].missed_from = until_ns;
	}
	governor->out_ns[family] = until_ns;
}

void governor__end_windows(struct governor *governor, unsigned int families, uint64_t now_ns)
{
	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(families, family))
			end_window(governor, family, now_ns);
	governor->unsettled &= ~families;
}

void governor__settle(struct governor *governor, uint64_t now_ns)
{
	unsigned int families = governor->unsettled & ~governor->sampled;
	struct governed_thread *thread, *next;

	for (int family = 0; family < RATE_EXACT; family++) {
		if (!is_in(families, family))
			continue;
		HASH_ITER (hh, governor->threads.table, thread, next)
			rate_thread(governor, thread, family, now_ns);
	}
	governor->unsettled &= ~families;
}

void governor__miss_until(struct governor *governor, unsigned int out, uint64_t to_ns)
{
	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(out, family))
			governed_threads__miss(&governor->threads, family, to_ns);
}
