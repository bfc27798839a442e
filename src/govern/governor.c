// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps the cost of probes in each thread below the budget, see governor.h.
 *
 * While all families are exact, costs are checked in short slices. Once a thread has paid more in a
 * period than the budget allows for a whole one, families are sampled. Time then passes in cycles:
 * all probes are attached, each sampled family is detached after its window, and at the end of the
 * cycle the next one is planned from what the windows have shown. The lengths of cycles vary
 * randomly. If a thread has paid too much or too little in a cycle, the next one compensates.
 *
 * Missed calls in a gap are assumed to have come at the rate of the window before it and, once
 * there is a window after it, at the mean of both rates: a gap that begins because a thread is busy
 * ends when the thread behaves as usual.
 *
 * The kernel takes some time to attach probes and more to detach them. These delays are learned
 * from calls that were seen before a window began or after it had ended.
 */
#include "govern/governor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "govern/budget.h"
#include "govern/private.h"

#define ALL_FAMILIES ((1u << RATE_FAMILIES) - 1)
#define SLICE_NS (NS_PER_S / 10) /* interval between cost checks while all families are exact */

/* Watches all families all the time. */
static void be_exact(struct governor *governor)
{
	governor->sampled = 0;
	for (int family = 0; family < RATE_FAMILIES; family++)
		governor->share[family] = 1;
}

struct governor *governor__new(double budget, unsigned int sampling, const struct call_costs *costs,
			       const struct governor_hooks *hooks, const struct log *log)
{
	struct governor *governor = calloc(1, sizeof(*governor));

	if (!governor)
		return NULL;
	governor->cold = costs->cold > 1 ? costs->cold : 1;
	governor->allowed = budget__of_wall(budget) / governor->cold;
	governor->sampling = sampling & GOVERNED_FAMILIES;
	governor->costs = *costs;
	governor->hooks = *hooks;
	governor->log = log;
	governor->watched = ALL_FAMILIES;
	governor->lag_ns = 10 * NS_PER_MS;
	be_exact(governor);
	if (governed_threads__init(&governor->threads)) {
		free(governor);
		return NULL;
	}
	governor->cycle_ns = hooks->now(hooks->arg);
	governor->window_ns = governor->cycle_ns;
	governor->random = governor->cycle_ns;
	return governor;
}

void governor__free(struct governor *governor)
{
	if (!governor)
		return;
	governed_threads__clear(&governor->threads);
	free(governor);
}

void governor__allow_excess(struct governor *governor)
{
	governor->reported_exact = true;
}

uint64_t governor__read(struct governor *governor)
{
	bool complete = !governor->threads.incomplete;
	uint64_t now_ns = governed_threads__read(&governor->threads, &governor->hooks);

	if (complete && governor->threads.incomplete)
		log__warn(governor->log,
			  "out of memory: --max-overhead does not cover all threads");
	return now_ns;
}

struct plan_basis governor__basis(const struct governor *governor, uint64_t now_ns)
{
	return (struct plan_basis){
		.threads = &governor->threads,
		.costs = &governor->costs,
		.allowed = governor->allowed,
		.cold = governor->cold,
		.cycle_ns = governor->cycle_ns,
		.now_ns = now_ns,
		.sampling = governor->sampling,
		.sampled = governor->sampled,
	};
}

/* --- the probes --- */

/* Tries to attach exactly the given families. Returns whether that succeeded. */
static bool watch(struct governor *governor, unsigned int families)
{
	int ret = governor->hooks.watch(governor->hooks.arg, families);

	if (!ret) {
		governor->watched = families;
		return true;
	}
	return false;
}

/* Ends the windows of `families`. Returns whether the probes are detached. */
static bool end_windows(struct governor *governor, unsigned int families, uint64_t now_ns)
{
	governor__end_windows(governor, families, now_ns);
	return watch(governor, governor->watched & ~families);
}

/* Probes stay detached until the cycle, which began with the window, has this length. */
static void begin_gap(struct governor *governor, double length, uint64_t now_ns)
{
	governor->gap_end_ns =
		governor->window_ns + (uint64_t)clamp(length, 0, (double)GOVERNOR_MAX_CYCLE_NS);
	if (governor->gap_end_ns < now_ns + GOVERNOR_MIN_GAP_NS)
		governor->gap_end_ns = now_ns + GOVERNOR_MIN_GAP_NS;
	governor->mode = MODE_GAP;
}

/* --- schedule --- */

static uint64_t until(uint64_t then_ns, uint64_t now_ns)
{
	return then_ns > now_ns ? then_ns - now_ns : 0;
}

/* The exact time so far counts as a window, which has ended. */
static uint64_t begin_sampling(struct governor *governor, uint64_t now_ns)
{
	double window;

	memset(governor->out_ns, 0, sizeof(governor->out_ns));
	if (!end_windows(governor, governor->sampled, now_ns)) {
		be_exact(governor);
		return SLICE_NS;
	}
	window = (double)(now_ns - governor->window_ns) + governor->lag_ns;
	begin_gap(governor, window / governor__least_share(governor), now_ns);
	return until(governor->gap_end_ns, now_ns);
}

static uint64_t tick_exact(struct governor *governor)
{
	uint64_t now_ns = governor__read(governor);
	const struct plan_basis basis = governor__basis(governor, now_ns);

	governor__settle(governor, now_ns);
	if (plan__is_overspent(&basis))
		governor__plan_shares(governor, now_ns);
	if (governor->sampled)
		return begin_sampling(governor, now_ns);
	if (now_ns - governor->cycle_ns >= PLAN_PERIOD_NS) {
		governor__end_cycle(governor, now_ns, false);
		governor->window_ns = now_ns;
		governor__mark_windows(governor);
	}
	return SLICE_NS;
}

static uint64_t tick_window(struct governor *governor)
{
	uint64_t now_ns = governor__read(governor);
	unsigned int due = 0;

	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(governor->sampled & governor->watched, family) &&
		    governor->end_ns[family] <= now_ns)
			due |= 1u << family;
	governor__settle(governor, now_ns);
	if (due && !end_windows(governor, due, now_ns))
		return SLICE_NS;
	if (governor__next_end(governor))
		return until(governor__next_end(governor), now_ns);
	governor__learn_lead(governor);
	/*
	 * Uses the length planned earlier: if it depended on this window's calls, busy windows
	 * would be followed by longer gaps.
	 */
	begin_gap(governor, governor->length_ns, now_ns);
	return until(governor->gap_end_ns, now_ns);
}

/* Attaches all probes again. */
static uint64_t tick_gap(struct governor *governor)
{
	unsigned int out = ~governor->watched & ALL_FAMILIES;
	uint64_t now_ns = governor__read(governor);

	governor__learn_lag(governor);
	governor__miss_until(governor, out, now_ns);
	governor__end_cycle(governor, now_ns, true);
	if (!watch(governor, ALL_FAMILIES))
		return SLICE_NS;
	governor->window_ns = governor__read(governor);
	governor__miss_until(governor, out, governor->window_ns - (uint64_t)governor->lead_ns);
	governor__mark_windows(governor);
	governor->unsettled = out;
	governor->mode = governor->sampled ? MODE_WINDOW : MODE_EXACT;
	if (governor->mode == MODE_EXACT)
		return SLICE_NS;
	governor__plan_windows(governor);
	return until(governor__next_end(governor), governor->window_ns);
}

uint64_t governor__tick(struct governor *governor)
{
	switch (governor->mode) {
	case MODE_WINDOW: return tick_window(governor);
	case MODE_GAP: return tick_gap(governor);
	default: return tick_exact(governor);
	}
}

/* --- results --- */

double governor__share(const struct governor *governor, enum rate_family family)
{
	return governor->share[family];
}

bool governor__was_sampled(const struct governor *governor, enum rate_family family)
{
	return is_in(governor->ever, family);
}

double governor__overhead(const struct governor *governor)
{
	return governor->overhead;
}

void governor__refresh(struct governor *governor)
{
	uint64_t now_ns = governor__read(governor);
	const struct plan_basis basis = governor__basis(governor, now_ns);

	governor__miss_until(governor, ~governor->watched & ALL_FAMILIES, now_ns);
	governed_threads__report(&governor->threads);
	if (!governor->cycled)
		governor->overhead = plan__overhead(&basis);
}

uint64_t governor__missed(const struct governor *governor, uint32_t slot, enum rate_family family)
{
	const struct governed_process *process =
		governed_threads__process(&governor->threads, slot);

	return process ? process->reported[family] : 0;
}

uint64_t governor__seen(const struct governor *governor, uint32_t slot, enum rate_family family)
{
	const struct governed_process *process =
		governed_threads__process(&governor->threads, slot);

	return process ? process->seen[family] : 0;
}

void governor__forget(struct governor *governor, uint32_t slot)
{
	/*
	 * Ended threads that were not read yet must not be reported for the next process in the
	 * slot.
	 */
	governor__read(governor);
	governed_threads__forget(&governor->threads, slot);
}
