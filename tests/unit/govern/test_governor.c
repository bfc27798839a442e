// SPDX-License-Identifier: BSD-2-Clause
// The overhead governor holds its budget, with simulated threads and a simulated kernel.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "governor_world.h"

static void test_shares(void **state)
{
	double share[RATE_FAMILIES];

	(void)state;
	budget__shares((double[]){0.1, 0.2, 0.1, 0}, 0.5, share);
	for (int family = 0; family < RATE_FAMILIES; family++)
		assert_true(share[family] == 1);
	/* The most expensive family pays, down to the level of the next. */
	budget__shares((double[]){0.02, 0.3, 0.03, 0.02}, 0.17, share);
	assert_true(share[RATE_LAUNCH] == 1 && share[RATE_WAIT] == 1 && share[RATE_EXACT] == 1);
	assert_near(share[RATE_COPY], 0.1 / 0.3, 1e-9);
	budget__shares((double[]){0.3, 0.2, 0.01, 0}, 0.11, share);
	assert_near(share[RATE_LAUNCH], 0.05 / 0.3, 1e-9);
	assert_near(share[RATE_COPY], 0.05 / 0.2, 1e-9);
	assert_true(share[RATE_WAIT] == 1);
	budget__shares((double[]){0.3, 0, 0, 0.2}, 0.1, share);
	assert_near(share[RATE_LAUNCH], BUDGET_MIN_SHARE, 1e-9);
	assert_true(share[RATE_COPY] == 1 && share[RATE_WAIT] == 1 && share[RATE_EXACT] == 1);
}

static void test_rates(void **state)
{
	(void)state;
	/* 2.5 us alone, 3.2 us with a probe of 0.7. */
	assert_near(budget__rate_without(1 / 3200.0, 700 / 3200.0), 1 / 2500.0, 1e-9);
	assert_near(budget__overhead(budget__of_wall(0.2)), 0.2, 1e-9);
	assert_near(budget__of_wall(0.25), 0.2, 1e-9);
	/* More than nine tenths of the time is not believed. */
	assert_near(budget__overhead(0.95), 9, 1e-9);
	assert_near(budget__overhead(2), 9, 1e-9);
	assert_near(budget__rate_without(1, 1.5), 2.5, 1e-9);
}

static void hold(double budget)
{
	struct world world = {.loops = {{.round_ns = 2500, .calls = {1}}}, .count = 1};
	struct governor *governor = begin(&world, budget);

	run(&world, governor, 20);
	assert_near(slowdown(&world.loops[0]), budget, 0.15);
	assert_counted(&world, governor, 0, RATE_LAUNCH, 0.01);
	assert_true(governor__was_sampled(governor, RATE_LAUNCH));
	assert_false(governor__was_sampled(governor, RATE_COPY));
	assert_near(governor__share(governor, RATE_LAUNCH),
		    budget__of_wall(budget) / (700 / 3200.0), 0.3);
	assert_near(governor__overhead(governor), budget, 0.3);
	assert_int_equal(world.fewest, 1u << RATE_COPY | 1u << RATE_WAIT | 1u << RATE_EXACT);
	governor__free(governor);
}

/* Only launches may be sampled: they compensate for the cost of copies. */
static void test_launches_alone(void **state)
{
	struct world world = {.loops = {{.round_ns = 20000, .calls = {8, 1}}}, .count = 1};
	struct governor *governor =
		begin_with(&world, 0.1, 1u << RATE_LAUNCH, &COSTS, 1000 * NS_PER_S);

	(void)state;
	run(&world, governor, 20);
	assert_near(slowdown(&world.loops[0]), 0.1, 0.15);
	assert_true(governor__was_sampled(governor, RATE_LAUNCH) &&
		    !governor__was_sampled(governor, RATE_COPY));
	assert_int_equal(world.fewest, 1u << RATE_COPY | 1u << RATE_WAIT | 1u << RATE_EXACT);
	governor__free(governor);
}

/*
 * In a program whose work fills the caches, calls cost three times as much: the budget covers a
 * third of them.
 */
static void test_cold(void **state)
{
	struct call_costs costs = COSTS;
	struct world world = {.loops = {{.round_ns = 2500, .calls = {1}}}, .count = 1};
	struct governor *governor;

	(void)state;
	costs.cold = 3;
	governor = begin_with(&world, 0.06, GOVERNED_FAMILIES, &costs, 1000 * NS_PER_S);
	run(&world, governor, 20);
	assert_near(slowdown(&world.loops[0]), 0.02, 0.15);
	assert_near(governor__overhead(governor), 0.06, 0.3);
	assert_counted(&world, governor, 0, RATE_LAUNCH, 0.01);
	governor__free(governor);
}

static void test_held_to_5(void **state)
{
	(void)state;
	hold(0.05);
}

static void test_held_to_20(void **state)
{
	(void)state;
	hold(0.2);
}

/* A cost below the budget is left alone, and nothing is estimated. */
static void test_exact(void **state)
{
	struct world world = {.loops = {{.round_ns = 20000, .calls = {1}}}, .count = 1};
	struct governor *governor = begin(&world, 0.05);

	(void)state;
	run(&world, governor, 10);
	assert_int_equal(world.watches, 0);
	assert_int_equal(governor__missed(governor, 0, RATE_LAUNCH), 0);
	assert_true(governor__share(governor, RATE_LAUNCH) == 1);
	assert_near(governor__overhead(governor), 700 / 20000.0, 0.05);
	governor__free(governor);
}

static void test_idle_beside_busy(void **state)
{
	struct world world = {.loops = {{.round_ns = 2500, .calls = {1}},
					{.round_ns = 1e6, .calls = {1, 1}, .slot = 3}},
			      .count = 2};
	struct governor *governor = begin(&world, 0.05);

	(void)state;
	run(&world, governor, 20);
	assert_near(slowdown(&world.loops[0]), 0.05, 0.2);
	assert_counted(&world, governor, 0, RATE_LAUNCH, 0.01);
	assert_counted(&world, governor, 3, RATE_LAUNCH, 0.05);
	assert_int_equal(governor__missed(governor, 3, RATE_COPY), 0);
	governor__free(governor);
}

/* Others take the CPU: the thread makes fewer calls, which cost the same share of its run time. */
static void test_waits_for_cpu(void **state)
{
	struct world world = {.loops = {{.round_ns = 2500, .calls = {1}, .waits = 0.7},
					{.round_ns = 2500, .calls = {1}, .slot = 1},
					{.round_ns = 60000, .calls = {1}, .slot = 2, .waits = 0.5}},
			      .count = 3};
	struct governor *governor = begin(&world, 0.05);

	(void)state;
	run(&world, governor, 30);
	assert_near(slowdown(&world.loops[0]), 0.05, 0.15);
	assert_near(slowdown(&world.loops[1]), 0.05, 0.15);
	for (uint32_t slot = 0; slot < 3; slot++)
		assert_counted(&world, governor, slot, RATE_LAUNCH, 0.015);
	governor__free(governor);
}

/* A thread that rests for a moment is expected to continue. */
static void test_rest(void **state)
{
	struct world world = {.loops = {{.round_ns = 2500, .calls = {1}}}, .count = 1};
	struct governor *governor = begin(&world, 0.05);

	(void)state;
	run(&world, governor, 5);
	world.loops[0].round_ns = 1e6;
	run(&world, governor, 2.5);
	assert_true(governor__share(governor, RATE_LAUNCH) < 1);
	governor__free(governor);
}

/* A value read in the middle of a gap includes the gap so far, and never decreases. */
static void test_within_gap(void **state)
{
	struct world world = {.loops = {{.round_ns = 2500, .calls = {1}}}, .count = 1};
	struct governor *governor = begin(&world, 0.05);
	uint64_t before = 0, missed;

	(void)state;
	for (int i = 0; i < 200; i++) {
		run(&world, governor, 0.03);
		missed = governor__missed(governor, 0, RATE_LAUNCH);
		assert_true(missed >= before);
		before = missed;
	}
	assert_counted(&world, governor, 0, RATE_LAUNCH, 0.02);
	governor__free(governor);
}

static void test_two_families(void **state)
{
	struct world world = {.loops = {{.round_ns = 10000, .calls = {4, 1, 0.05, 0.02}}},
			      .count = 1};
	struct governor *governor = begin(&world, 0.1);

	(void)state;
	run(&world, governor, 30);
	assert_near(slowdown(&world.loops[0]), 0.1, 0.2);
	assert_counted(&world, governor, 0, RATE_LAUNCH, 0.03);
	assert_counted(&world, governor, 0, RATE_COPY, 0.03);
	assert_true(governor__was_sampled(governor, RATE_LAUNCH));
	assert_false(governor__was_sampled(governor, RATE_WAIT));
	assert_false(governor__was_sampled(governor, RATE_EXACT));
	governor__free(governor);
}

/* Memory is always watched, whatever it costs. */
static void test_exact_costs_too_much(void **state)
{
	struct world world = {.loops = {{.round_ns = 2500, .calls = {1, 0, 0, 1}}}, .count = 1};
	struct governor *governor = begin(&world, 0.05);

	(void)state;
	run(&world, governor, 10);
	assert_true(world.in & 1u << RATE_EXACT && world.fewest & 1u << RATE_EXACT);
	assert_true(governor__share(governor, RATE_EXACT) == 1);
	assert_int_equal(governor__missed(governor, 0, RATE_EXACT), 0);
	assert_near(governor__share(governor, RATE_LAUNCH), BUDGET_MIN_SHARE, 0.01);
	governor__free(governor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_held_to_5),
		cmocka_unit_test(test_held_to_20),
		cmocka_unit_test(test_launches_alone),
		cmocka_unit_test(test_cold),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_idle_beside_busy),
		cmocka_unit_test(test_waits_for_cpu),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_within_gap),
		cmocka_unit_test(test_two_families),
		cmocka_unit_test(test_exact_costs_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
