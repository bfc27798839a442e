// SPDX-License-Identifier: BSD-2-Clause
/*
 * Holds the cost of probes in each thread below the budget, see governor.h.
 *
 * While all families are exact, costs are looked at in short slices; once a thread
 * has paid in a period more than the budget has for all of it, families are sampled. Then time
 * goes in cycles: all probes are put in, each sampled family is taken out after its window, and after
 * the last the next cycle is planned by what the windows have shown. Cycles differ in length by chance.
 * What a thread has paid too much or too little in one is set off in the next.
 *
 * It takes the kernel some time to put probes in and more to take them out, which is
 * learned from calls that were seen before a window began or after it had ended.
 */
#include "govern/governor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "govern/budget.h"
#include "govern/plan.h"

#define ALL_FAMILIES ((1u << RATE_FAMILIES) - 1)
#define SLICE_NS (NS_PER_S / 10) /* between looks at costs, while all is exact */
#define MAX_CYCLE_NS (10 * NS_PER_S)
#define MIN_WINDOW_NS (20 * NS_PER_MS)
#define MIN_GAP_NS (80 * NS_PER_MS) /* all probes are out by the end of it */
#define CALM 0.8		/* of what is allowed: below, a sampled family becomes exact */
#define HELD 0.6		/* of a rate that is expected, a cycle after it was seen: programs have phases */
#define LEARNING 0.25		/* weight of the latest delay */
#define ENOUGH_CALLS 100	/* in a window, to learn delays by */

enum mode {
	MODE_EXACT = 0, /* no family is sampled */
	MODE_WINDOW,	/* all are in, or some sampled ones out by now */
	MODE_GAP,	/* all that are sampled are out */
};

struct governor {
	double allowed; /* of a thread's wall time */
	struct call_costs costs;
	struct governor_hooks hooks;
	const struct log *log;
	struct governed_threads threads;
	enum mode mode;
	unsigned int sampled, watched, ever; /* 1 << enum rate_family */
	double share[RATE_FAMILIES];
	uint64_t cycle_ns;  /* when the cycle began, which puts its probes in: */
	uint64_t window_ns; /* they are */
	uint64_t end_ns[RATE_EXACT]; /* of the family's window, as planned */
	uint64_t out_ns[RATE_EXACT]; /* since when the family is out, or was before this window; 0: it was not */
	double length_ns; /* of the cycle, as planned */
	uint64_t gap_end_ns;
	/* Learned: so long before hooks.watch has put probes in they are, and so long after it took them out. */
	double lead_ns, lag_ns;
	double overhead;
	bool cycled; /* a cycle has ended */
	uint64_t random;
	bool told_exact;   /* that what is always watched costs too much */
};

struct governor *governor__new(double budget, const struct call_costs *costs, const struct governor_hooks *hooks,
			       const struct log *log)
{
	struct governor *governor = calloc(1, sizeof(*governor));

	if (!governor)
		return NULL;
	governor->allowed = budget__of_wall(budget);
	governor->costs = *costs;
	governor->hooks = *hooks;
	governor->log = log;
	governor->watched = ALL_FAMILIES;
	governor->lag_ns = 10 * NS_PER_MS;
	for (int family = 0; family < RATE_FAMILIES; family++)
		governor->share[family] = 1;
	if (governed_threads__init(&governor->threads)) {
		free(governor);
		return NULL;
	}
	governor->cycle_ns = hooks->now(hooks->arg);
	governor->window_ns = governor->cycle_ns;
	governor->random = governor->cycle_ns | 1;
	return governor;
}

void governor__free(struct governor *governor)
{
	if (!governor)
		return;
	governed_threads__clear(&governor->threads);
	free(governor);
}

static bool is_in(unsigned int families, int family)
{
	return families & 1u << family;
}

/* 0 to 1, xorshift: no program's period may beat with the cycles. */
static double chance(struct governor *governor)
{
	governor->random ^= governor->random << 13;
	governor->random ^= governor->random >> 7;
	governor->random ^= governor->random << 17;
	return (double)(governor->random >> 11) / (double)(1ull << 53);
}

static uint64_t read_rates(struct governor *governor)
{
	bool complete = !governor->threads.incomplete;
	uint64_t now_ns = governed_threads__read(&governor->threads, &governor->hooks);

	if (complete && governor->threads.incomplete)
		log__warn(governor->log, "no memory for the rates of all threads: some are not held to the budget");
	return now_ns;
}

/* --- plans --- */

static struct plan_basis basis_at(const struct governor *governor, uint64_t now_ns)
{
	return (struct plan_basis){
		.threads = &governor->threads,
		.costs = &governor->costs,
		.allowed = governor->allowed,
		.cycle_ns = governor->cycle_ns,
		.now_ns = now_ns,
		.sampled = governor->sampled,
	};
}

static double clamp(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

static void warn_of_exact(struct governor *governor, double cost)
{
	if (governor->told_exact || cost <= governor->allowed)
		return;
	governor->told_exact = true;
	log__warn(governor->log,
		  "the calls that are always watched (memory, contexts, modules, graphs) make a thread %.1f %% slower: "
		  "--max-overhead cannot be kept", 100 * budget__overhead(cost));
}

static const char *name_of(int family)
{
	static const char *const names[RATE_EXACT] = {"launches", "copies", "waits"};

	return names[family];
}

static void tell_change(const struct governor *governor, unsigned int before, int family)
{
	if (is_in(before & ~governor->sampled, family))
		log__info(governor->log, "%s are exact again", name_of(family));
	else if (is_in(governor->sampled & ~before, family))
		log__info(governor->log, "%s are watched for %.0f %% of the time, to keep to --max-overhead",
			  name_of(family), 100 * governor->share[family]);
}

/* Plans the next cycle. */
static void plan_shares(struct governor *governor, uint64_t now_ns)
{
	const struct plan_basis basis = basis_at(governor, now_ns);
	unsigned int before = governor->sampled;
	double exact_cost;

	plan__shares(&basis, governor->share, &exact_cost);
	warn_of_exact(governor, exact_cost);
	governor->sampled = 0;
	for (int family = 0; family < RATE_EXACT; family++) {
		if (governor->share[family] < 1)
			governor->sampled |= 1u << family;
		tell_change(governor, before, family);
	}
	governor->ever |= governor->sampled;
}

/* --- cycles --- */

/* The cycle is over: what threads have paid too much or too little in it is carried over. */
static void end_cycle(struct governor *governor, uint64_t now_ns)
{
	const struct plan_basis basis = basis_at(governor, now_ns);
	struct governed_thread *thread, *next;

	governor->overhead = plan__overhead(&basis);
	governor->cycled = true;
	plan__carry_over(&basis);
	HASH_ITER(hh, governor->threads.table, thread, next)
		for (int family = 0; family < RATE_FAMILIES; family++)
			thread->calls[family].at_cycle = thread->calls[family].now;
	governed_threads__drop_ended(&governor->threads);
	governor->cycle_ns = now_ns;
}

static void learn(double *delay, double seen, double rate)
{
	double ns = clamp(seen / rate, 0, (double)NS_PER_S);

	*delay += LEARNING * (ns - *delay);
}

/* By calls of families that are out since their windows ended: for so long their probes were still in. */
static void learn_lag(struct governor *governor)
{
	struct governed_thread *thread, *next;
	double late = 0, rate = 0, seen = 0;

	HASH_ITER(hh, governor->threads.table, thread, next) {
		for (int family = 0; family < RATE_EXACT; family++) {
			const struct governed_calls *calls = &thread->calls[family];

			if (is_in(governor->watched, family) || thread->ended_ns)
				continue;
			late += (double)(calls->now - calls->at_end);
			rate += calls->rate;
			seen += (double)(calls->at_end - calls->at_window);
		}
	}
	if (seen >= ENOUGH_CALLS)
		learn(&governor->lag_ns, late, rate);
}

/* The same of those before the window that has ended began. */
static void learn_lead(struct governor *governor)
{
	struct governed_thread *thread, *next;
	double early = 0, rate = 0;

	HASH_ITER(hh, governor->threads.table, thread, next) {
		for (int family = 0; family < RATE_EXACT; family++) {
			const struct governed_calls *calls = &thread->calls[family];

			if (!is_in(governor->sampled, family) || calls->at_end - calls->at_window < ENOUGH_CALLS)
				continue;
			early += (double)(calls->at_window - calls->at_cycle);
			rate += calls->rate;
		}
	}
	if (rate > 0)
		learn(&governor->lead_ns, early, rate);
}

/* Tries to make what is watched what it should be. Returns whether it is. */
static bool watch(struct governor *governor, unsigned int families)
{
	int ret = governor->hooks.watch(governor->hooks.arg, families);

	if (!ret) {
		governor->watched = families;
		return true;
	}
	return false;
}

static double least_share(const struct governor *governor)
{
	double least = 1;

	for (int family = 0; family < RATE_EXACT; family++)
		least = governor->share[family] < least ? governor->share[family] : least;
	return least;
}

/* How long the cycle is: neither windows nor gaps may be shorter than putting in and taking out takes. */
static double choose_length(struct governor *governor)
{
	double length = (double)PLAN_PERIOD_NS * (0.5 + chance(governor)), most = 0;

	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(governor->sampled, family) && governor->share[family] > most)
			most = governor->share[family];
	length = clamp(length, ((double)MIN_WINDOW_NS + governor->lag_ns) / least_share(governor),
		       (double)MAX_CYCLE_NS);
	return clamp(length, (double)MIN_GAP_NS / (1 - most), (double)MAX_CYCLE_NS);
}

/* The time of the window that is to end next; 0: all have. */
static uint64_t next_end(const struct governor *governor)
{
	uint64_t next = 0;

	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(governor->sampled & governor->watched, family) &&
		    (!next || governor->end_ns[family] < next))
			next = governor->end_ns[family];
	return next;
}

static void plan_windows(struct governor *governor)
{
	governor->length_ns = choose_length(governor);
	for (int family = 0; family < RATE_EXACT; family++) {
		double window = governor->share[family] * governor->length_ns - governor->lag_ns;

		governor->end_ns[family] =
			governor->window_ns + (uint64_t)clamp(window, (double)MIN_WINDOW_NS, (double)MAX_CYCLE_NS);
	}
}

static void mark_window(struct governed_calls *calls, bool sampled)
{
	calls->at_window = calls->now;
	if (!sampled)
		calls->held_rate = 0;
}

static void mark_windows(struct governor *governor)
{
	struct governed_thread *thread, *next;

	HASH_ITER(hh, governor->threads.table, thread, next)
		for (int family = 0; family < RATE_FAMILIES; family++)
			mark_window(&thread->calls[family], is_in(governor->sampled, family));
}

/* The thread's rates in the family's window, which ends now, and without the probes of what is sampled. */
static void rate_thread(const struct governor *governor, struct governed_thread *thread, int family,
			uint64_t now_ns)
{
	uint64_t ns = governed_thread__time(thread, governor->window_ns, now_ns);
	struct governed_calls *own = &thread->calls[family];
	double cost = 0;

	/* Others' windows may have ended before: what was paid until then counts. */
	for (int other = 0; ns && other < RATE_EXACT; other++)
		if (is_in(governor->sampled, other))
			cost += governor->costs.ns[other] *
				(double)(thread->calls[other].now - thread->calls[other].at_window) / (double)ns;
	own->at_end = own->now;
	own->rate = ns ? (double)(own->now - own->at_window) / (double)ns : 0;
	own->held_rate = own->rate > HELD * own->held_rate ? own->rate : HELD * own->held_rate;
	own->rate_without = budget__rate_without(own->rate, cost);
}

/* A thread that is first seen may have been at it before, while the family was out. */
static void miss_before(struct governor *governor, struct governed_thread *thread, int family)
{
	uint64_t out_ns = governor->out_ns[family], in_ns = governor->window_ns - (uint64_t)governor->lead_ns;
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

	HASH_ITER(hh, governor->threads.table, thread, next) {
		rate_thread(governor, thread, family, now_ns);
		miss_before(governor, thread, family);
		thread->calls[family].missed_from = until_ns;
	}
	governor->out_ns[family] = until_ns;
}

/* The windows of `families` end. Returns whether the probes are out. */
static bool end_windows(struct governor *governor, unsigned int families, uint64_t now_ns)
{
	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(families, family))
			end_window(governor, family, now_ns);
	return watch(governor, governor->watched & ~families);
}

/* What is missed of families that are out is counted, by the rates of their latest windows. */
static void miss_until(struct governor *governor, unsigned int out, uint64_t to_ns)
{
	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(out, family))
			governed_threads__miss(&governor->threads, family, to_ns);
}

/* Probes stay out until the cycle, which began with the window, is so long. */
static void begin_gap(struct governor *governor, double length, uint64_t now_ns)
{
	governor->gap_end_ns = governor->window_ns + (uint64_t)clamp(length, 0, (double)MAX_CYCLE_NS);
	if (governor->gap_end_ns < now_ns + MIN_GAP_NS)
		governor->gap_end_ns = now_ns + MIN_GAP_NS;
	governor->mode = MODE_GAP;
}

/* --- what is done when --- */

static uint64_t until(uint64_t then_ns, uint64_t now_ns)
{
	return then_ns > now_ns ? then_ns - now_ns : 0;
}

/* What was exact until now is a window, and has ended. */
static uint64_t begin_sampling(struct governor *governor, uint64_t now_ns)
{
	double window;

	memset(governor->out_ns, 0, sizeof(governor->out_ns));
	if (!end_windows(governor, governor->sampled, now_ns)) {
		governor->sampled = 0;
		return SLICE_NS;
	}
	window = (double)(now_ns - governor->window_ns) + governor->lag_ns;
	begin_gap(governor, window / least_share(governor), now_ns);
	return until(governor->gap_end_ns, now_ns);
}

static uint64_t tick_exact(struct governor *governor)
{
	uint64_t now_ns = read_rates(governor);
	const struct plan_basis basis = basis_at(governor, now_ns);
	bool over = now_ns - governor->cycle_ns >= PLAN_PERIOD_NS;

	if (over || plan__is_overspent(&basis))
		plan_shares(governor, now_ns);
	if (governor->sampled)
		return begin_sampling(governor, now_ns);
	if (over) {
		end_cycle(governor, now_ns);
		governor->window_ns = now_ns;
		mark_windows(governor);
	}
	return SLICE_NS;
}

static uint64_t tick_window(struct governor *governor)
{
	uint64_t now_ns = read_rates(governor);
	unsigned int due = 0;

	for (int family = 0; family < RATE_EXACT; family++)
		if (is_in(governor->sampled & governor->watched, family) && governor->end_ns[family] <= now_ns)
			due |= 1u << family;
	if (due && !end_windows(governor, due, now_ns))
		return SLICE_NS;
	if (next_end(governor))
		return until(next_end(governor), now_ns);
	learn_lead(governor);
	plan_shares(governor, now_ns);
	/* As planned before: by what this window has shown, gaps after busy ones would be the longer ones. */
	begin_gap(governor, governor->length_ns, now_ns);
	return until(governor->gap_end_ns, now_ns);
}

/* All probes are put in again. */
static uint64_t tick_gap(struct governor *governor)
{
	unsigned int out = ~governor->watched & ALL_FAMILIES;
	uint64_t now_ns = read_rates(governor);

	learn_lag(governor);
	miss_until(governor, out, now_ns);
	end_cycle(governor, now_ns);
	if (!watch(governor, ALL_FAMILIES))
		return SLICE_NS;
	governor->window_ns = read_rates(governor);
	miss_until(governor, out, governor->window_ns - (uint64_t)governor->lead_ns);
	mark_windows(governor);
	governor->mode = governor->sampled ? MODE_WINDOW : MODE_EXACT;
	if (governor->mode == MODE_EXACT)
		return SLICE_NS;
	plan_windows(governor);
	return until(next_end(governor), governor->window_ns);
}

uint64_t governor__tick(struct governor *governor)
{
	switch (governor->mode) {
	case MODE_WINDOW:
		return tick_window(governor);
	case MODE_GAP:
		return tick_gap(governor);
	default:
		return tick_exact(governor);
	}
}

/* --- what is told --- */

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
	uint64_t now_ns = read_rates(governor);
	const struct plan_basis basis = basis_at(governor, now_ns);

	miss_until(governor, ~governor->watched & ALL_FAMILIES, now_ns);
	if (!governor->cycled)
		governor->overhead = plan__overhead(&basis);
}

uint64_t governor__missed(const struct governor *governor, uint32_t slot, enum rate_family family)
{
	const struct governed_process *process = governed_threads__process(&governor->threads, slot);

	return process ? (uint64_t)process->missed[family] : 0;
}

uint64_t governor__seen(const struct governor *governor, uint32_t slot, enum rate_family family)
{
	const struct governed_process *process = governed_threads__process(&governor->threads, slot);

	return process ? process->seen[family] : 0;
}

void governor__forget(struct governor *governor, uint32_t slot)
{
	/* Ends of its threads that were not told yet must not be told of the next one in the slot. */
	read_rates(governor);
	governed_threads__forget(&governor->threads, slot);
}
