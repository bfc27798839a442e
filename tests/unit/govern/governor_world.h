/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The governor with simulated threads and a simulated kernel, whose clock the test advances.
 * Include after cmocka.h.
 */
#ifndef TESTS_GOVERNOR_WORLD_H
#define TESTS_GOVERNOR_WORLD_H

#include <math.h>

#include "base/clock.h"
#include "govern/budget.h"
#include "govern/governor.h"

#define THREADS 8
#define STEP_NS 50000.0
#define ATTACH_NS (8 * NS_PER_MS)  /* until probes are attached */
#define DETACH_NS (12 * NS_PER_MS) /* until they are detached, after watch() has returned */

/*
 * A thread that loops: each iteration makes this many calls of each family, and takes this long
 * without probes.
 */
struct loop {
	double round_ns;
	double calls[RATE_FAMILIES]; /* per iteration */
	double waits;		     /* for a CPU, as a share of its busy time */
	uint64_t busy_ns, idle_ns;   /* alternating, as without probes; 0: always busy */
	double done_ns;		     /* busy and idle time so far */
	uint64_t start_ns;	     /* start time; 0: with the world */
	uint64_t end_ns;	     /* end time; 0: never */
	bool reported_end;
	uint32_t slot;
	/* lived_ns excludes waits. */
	double made[RATE_FAMILIES], seen[RATE_FAMILIES], paid_ns, lived_ns, ran_ns, waited_ns;
};

struct world {
	struct loop loops[THREADS];
	size_t count;
	uint64_t now_ns, began_ns;
	struct call_costs costs;
	unsigned int in, wanted;
	uint64_t change_ns;  /* when `in` becomes `wanted` */
	uint64_t early_ns;   /* probes are already attached this long before watch() returns */
	unsigned int fewest; /* the families attached when there were fewest */
	int watches;
};

/* Sanitizers would make these loops of the simulation, not the governor, take most of the time. */
#ifdef __clang__
#define UNCHECKED __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define UNCHECKED
#endif

static const struct call_costs COSTS = {.ns = {700, 1300, 1200, 1400}};

UNCHECKED static inline bool is_busy(const struct world *world, const struct loop *loop)
{
	if ((loop->end_ns && world->now_ns >= loop->end_ns) || world->now_ns < loop->start_ns)
		return false;
	return !loop->busy_ns ||
	       (uint64_t)loop->done_ns % (loop->busy_ns + loop->idle_ns) < loop->busy_ns;
}

UNCHECKED static inline void step_loop(struct world *world, struct loop *loop)
{
	double cost = 0, rounds;

	if (!loop->end_ns || world->now_ns < loop->end_ns)
		loop->lived_ns += STEP_NS;
	if (!is_busy(world, loop)) {
		loop->done_ns += STEP_NS;
		return;
	}
	for (int family = 0; family < RATE_FAMILIES; family++)
		if (world->in & 1u << family)
			cost += loop->calls[family] * world->costs.ns[family];
	loop->waited_ns += STEP_NS * loop->waits;
	loop->ran_ns += STEP_NS * (1 - loop->waits);
	loop->lived_ns -= STEP_NS * loop->waits;
	rounds = STEP_NS * (1 - loop->waits) / (loop->round_ns + cost);
	loop->done_ns += rounds * loop->round_ns;
	loop->paid_ns += rounds * cost;
	for (int family = 0; family < RATE_FAMILIES; family++) {
		loop->made[family] += rounds * loop->calls[family];
		if (world->in & 1u << family)
			loop->seen[family] += rounds * loop->calls[family];
	}
}

UNCHECKED static inline void pass(struct world *world, uint64_t ns)
{
	uint64_t end_ns = world->now_ns + ns;

	while (world->now_ns < end_ns) {
		if (world->now_ns >= world->change_ns)
			world->in = world->wanted;
		for (size_t i = 0; i < world->count; i++)
			step_loop(world, &world->loops[i]);
		world->now_ns += (uint64_t)STEP_NS;
	}
}

static inline int watch(void *arg, unsigned int families)
{
	struct world *world = arg;
	unsigned int added = families & ~world->in;

	world->watches++;
	if (added)
		pass(world, ATTACH_NS);
	world->in |= added;
	world->wanted |= added;
	pass(world, added ? world->early_ns : 0);
	world->wanted = families;
	world->change_ns = world->now_ns + DETACH_NS;
	world->fewest &= families;
	return 0;
}

static inline size_t read_rates(void *arg, struct thread_rate *rates, size_t capacity)
{
	struct world *world = arg;
	size_t count = 0;

	for (size_t i = 0; i < world->count && count < capacity; i++) {
		struct loop *loop = &world->loops[i];

		if (loop->reported_end || (uint64_t)loop->seen[RATE_LAUNCH] == 0)
			continue;
		rates[count] = (struct thread_rate){.slot = loop->slot,
						    .tid = (int32_t)i + 1,
						    .start_ns = loop->start_ns ? loop->start_ns :
										 world->began_ns};
		for (int family = 0; family < RATE_FAMILIES; family++)
			rates[count].calls[family] = (uint64_t)loop->seen[family];
		if (loop->end_ns && world->now_ns >= loop->end_ns) {
			rates[count].ended_ns = loop->end_ns;
			loop->reported_end = true;
		}
		count++;
	}
	return count;
}

static inline bool run_time(void *arg, int32_t tid, struct run_time *time)
{
	const struct world *world = arg;
	const struct loop *loop = &world->loops[tid - 1];

	*time = (struct run_time){.ran_ns = (uint64_t)loop->ran_ns,
				  .waited_ns = (uint64_t)loop->waited_ns};
	return true;
}

static inline uint64_t now(void *arg)
{
	const struct world *world = arg;

	return world->now_ns;
}

static inline struct governor *begin_with(struct world *world, double budget, unsigned int sampling,
					  const struct call_costs *costs, uint64_t now_ns)
{
	const struct governor_hooks hooks = {
		.watch = watch, .read = read_rates, .run_time = run_time, .now = now, .arg = world};
	struct governor *governor;

	world->now_ns = world->began_ns = now_ns;
	world->costs = COSTS;
	world->in = world->wanted = world->fewest = (1u << RATE_FAMILIES) - 1;
	governor = governor__new(budget, sampling, costs, &hooks, NULL);
	assert_non_null(governor);
	return governor;
}

static inline struct governor *begin_at(struct world *world, double budget, uint64_t now_ns)
{
	return begin_with(world, budget, GOVERNED_FAMILIES, &COSTS, now_ns);
}

static inline struct governor *begin(struct world *world, double budget)
{
	return begin_at(world, budget, 1000 * NS_PER_S + 12345);
}

static inline void run(struct world *world, struct governor *governor, double seconds)
{
	uint64_t end_ns = world->now_ns + (uint64_t)(seconds * (double)NS_PER_S);

	while (world->now_ns < end_ns)
		pass(world, governor__tick(governor) + 1);
	governor__refresh(governor);
}

static inline double slowdown(const struct loop *loop)
{
	return loop->paid_ns / (loop->lived_ns - loop->paid_ns);
}

static inline void assert_near(double value, double wanted, double within)
{
	if (fabs(value - wanted) > within * wanted)
		fail_msg("%g is not within %g of %g", value, within, wanted);
}

/* Seen and estimated calls together match what the process has done. */
static inline void assert_counted(struct world *world, struct governor *governor, uint32_t slot,
				  enum rate_family family, double within)
{
	double made = 0;

	for (size_t i = 0; i < world->count; i++)
		if (world->loops[i].slot == slot)
			made += world->loops[i].made[family];
	assert_near((double)(governor__seen(governor, slot, family) +
			     governor__missed(governor, slot, family)),
		    made, within);
}

#endif
