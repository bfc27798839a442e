// SPDX-License-Identifier: BSD-2-Clause
// Bursts: how long the pauses are, in which order records are switched, and that this ends.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sampling.h"

#define KINDS 4
#define MS 1000000ull

static unsigned int enabled, flushed; /* of all kinds; flushes */
static uint16_t flushed_burst;
static int ended;

static int enable(int kind)
{
	(void)kind;
	assert_false(__atomic_load_n(&ended, __ATOMIC_SEQ_CST));
	__atomic_add_fetch(&enabled, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int disable(int kind)
{
	(void)kind;
	assert_false(__atomic_load_n(&ended, __ATOMIC_SEQ_CST));
	__atomic_sub_fetch(&enabled, 1, __ATOMIC_SEQ_CST);
	return 0;
}

/* The records of a burst are handed over under its number, when nothing is recorded. */
static int flush_all(uint32_t flag)
{
	assert_int_equal(flag, 0);
	assert_false(__atomic_load_n(&ended, __ATOMIC_SEQ_CST));
	assert_int_equal(enabled, 0);
	assert_int_equal(sampling__burst(), flushed_burst + 1);
	flushed_burst++;
	__atomic_add_fetch(&flushed, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void test_pauses(void **state)
{
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(sampling__pause_ns(10 * MS, 0.5, 0), 5 * MS);
	assert_in_range(sampling__pause_ns(10 * MS, 0.5, UINT64_MAX), 15 * MS - 1, 15 * MS);
	srand(1);
	for (int i = 0; i < 10000; i++)
		sum += sampling__pause_ns(10 * MS, 0.05,
					  (uint64_t)rand() << 33 ^ (uint64_t)rand() << 2);
	assert_in_range(sum / 10000, 188 * MS, 192 * MS);
}

static void test_switches(void **state)
{
	static const struct cupti cupti = {
		.enable = enable, .disable = disable, .flush_all = flush_all};

	(void)state;
	assert_int_equal(sampling__burst(), 0);
	assert_int_equal(sampling__enable_work(&cupti), 0);
	assert_int_equal(enabled, KINDS);
	assert_int_equal(sampling__begin(&cupti, 0.9), 0);
	while (__atomic_load_n(&flushed, __ATOMIC_SEQ_CST) < 3)
		;
	sampling__end();
	__atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
	assert_int_equal(sampling__burst(), flushed_burst + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
