// SPDX-License-Identifier: BSD-2-Clause
// Launches that take long because another thread is in the driver, and those that do so for another
// reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding_case.h"

#define MS 1000000ull

static const struct stack launching = {.serial = 1}, loading = {.serial = 2},
			  allocating = {.serial = 3};

/* 30 launches are each held up for 20 ms by loads. */
static struct contention *add_pair(struct finding_case *c, size_t number)
{
	struct contention *pair = &c->profile.totals.contentions[number];

	*pair = (struct contention){
		.used = 1,
		.row = (uint16_t)api__find("cuLaunchKernel", API_NEWEST),
		.holder_row = (uint16_t)api__find("cuModuleLoadData", API_NEWEST),
		.tid = 101,
		.holder_tid = 102,
		.stack = 11,
		.holder_stack = 12,
		.held = {.calls = 30, .ns = 600 * MS},
		.max_ns = 25 * MS,
	};
	return pair;
}

static struct finding_case *begin(void)
{
	struct finding_case *c = case__new();

	c->stacks[0] = (struct profile_stack){.id = 11, .stack = &launching};
	c->stacks[1] = (struct profile_stack){.id = 12, .stack = &loading};
	c->stacks[2] = (struct profile_stack){.id = 13, .stack = &loading};
	c->stacks[3] = (struct profile_stack){.id = 14, .stack = &allocating};
	c->profile.stack_count = 4;
	return c;
}

static void loads_hold_launches_up(void **state)
{
	struct finding_case *c = begin();
	const struct finding *finding;

	(void)state;
	add_pair(c, 0)->beside.calls = 3;
	c->profile.totals.contentions_left = 7;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "driver-contention");
	assert_string_equal(finding->subject, "cuLaunchKernel, held up by cuModuleLoadData");
	assert_string_equal(finding->evidence,
			    "30 calls of cuLaunchKernel lasted 20.0 ms on average, 25.0 ms at "
			    "most, while another thread was "
			    "in cuModuleLoadData, and ended when that did; the latest in thread "
			    "101, the other call in thread 102");
	assert_int_equal(finding->cost_ns, 600 * MS);
	assert_int_equal(finding->saving_ns, 600 * MS);
	assert_ptr_equal(finding->stack, &launching);
	assert_ptr_equal(finding->other_stack, &loading);
	assert_string_equal(finding->other_title, "held up by");
	assert_true(finding__value(finding, "calls") == 30);
	assert_true(finding__value(finding, "mean") == 20 * MS);
	assert_true(finding__value(finding, "ended_otherwise") == 3);
	assert_true(finding__value(finding, "thread") == 101);
	assert_true(finding__value(finding, "other_thread") == 102);
	assert_true(finding__value(finding, "not_compared") == 7);
	case__free(c);
}

/* The stack of the load had another id before more code was mapped. */
static void one_pair_is_one_finding(void **state)
{
	struct finding_case *c = begin();

	(void)state;
	add_pair(c, 0);
	add_pair(c, 1)->holder_stack = 13;
	c->profile.totals.contentions[1].tid = 103;
	c->profile.totals.contentions[1].max_ns = 40 * MS;
	c->profile.totals.contentions[1].beside.calls = 5;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.items[0].cost_ns, 1200 * MS);
	assert_true(finding__value(&c->list.items[0], "calls") == 60);
	assert_true(finding__value(&c->list.items[0], "max") == 40 * MS);
	assert_true(finding__value(&c->list.items[0], "thread") == 103);
	assert_true(finding__value(&c->list.items[0], "ended_otherwise") == 5);
	/* Another call site is another finding. */
	c->profile.totals.contentions[1].holder_stack = 14;
	assert_int_equal(case__detect(c), 2);
	/* So is another function at the same call site. */
	c->profile.totals.contentions[1].holder_stack = 12;
	c->profile.totals.contentions[1].holder_row =
		(uint16_t)api__find("cuMemAlloc_v2", API_NEWEST);
	assert_int_equal(case__detect(c), 2);
	case__free(c);
}

static void what_ends_otherwise_has_another_reason(void **state)
{
	struct finding_case *c = begin();

	(void)state;
	add_pair(c, 0)->beside = (struct time_totals){.calls = 31, .ns = 600 * MS};
	assert_int_equal(case__detect(c), 0);
	c->profile.totals.contentions[0].beside.calls = 30;
	assert_int_equal(case__detect(c), 1);
	case__free(c);
}

static void little_is_none(void **state)
{
	struct finding_case *c = begin();

	(void)state;
	assert_int_equal(case__detect(c), 0);
	/* 2 % of ten seconds. */
	add_pair(c, 0)->held.ns = 199 * MS;
	assert_int_equal(case__detect(c), 0);
	c->profile.totals.contentions[0].held.ns = 200 * MS;
	assert_int_equal(case__detect(c), 1);
	c->profile.totals.contentions[0].held.calls = 2;
	assert_int_equal(case__detect(c), 0);
	c->profile.totals.contentions[0].held.calls = 3;
	assert_int_equal(case__detect(c), 1);
	case__free(c);
}

static void without_stacks_functions_and_threads_are_reported(void **state)
{
	struct finding_case *c = begin();

	(void)state;
	c->profile.stack_count = 0;
	add_pair(c, 0);
	assert_int_equal(case__detect(c), 1);
	assert_null(c->list.items[0].stack);
	assert_null(c->list.items[0].other_stack);
	case__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_hold_launches_up),
		cmocka_unit_test(one_pair_is_one_finding),
		cmocka_unit_test(what_ends_otherwise_has_another_reason),
		cmocka_unit_test(little_is_none),
		cmocka_unit_test(without_stacks_functions_and_threads_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
