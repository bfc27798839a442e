// SPDX-License-Identifier: BSD-2-Clause
// The union of times in any order, against a plain count of moments.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/busy_time.h"

#define MOMENTS 3000

static void test_random_times(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 20; seed++) {
		static bool busy_at[MOMENTS];
		struct busy_time busy = {0};
		uint64_t moments = 0;

		srandom(seed);
		for (int i = 0; i < MOMENTS; i++)
			busy_at[i] = false;
		for (int i = 0; i < 500; i++) {
			uint64_t start = (uint64_t)random() % (MOMENTS - 20);
			uint64_t end = start + (uint64_t)random() % 20;

			assert_int_equal(busy_time__add(&busy, start, end), 0);
			for (uint64_t t = start; t < end; t++)
				busy_at[t] = true;
		}
		for (int i = 0; i < MOMENTS; i++)
			moments += busy_at[i];
		assert_int_equal(busy_time__ns(&busy), moments);
		assert_int_equal(busy.late, 0);
		busy_time__clear(&busy);
	}
}

static void test_many_spans(void **state)
{
	struct busy_time busy = {0};

	(void)state;
	for (uint64_t i = 1; i <= 10ul * BUSY_SPANS; i++)
		assert_int_equal(busy_time__add(&busy, 10 * i, 10 * i + 3), 0);
	assert_int_equal(busy_time__ns(&busy), 3 * 10ul * BUSY_SPANS);
	assert_true(busy.count <= BUSY_SPANS);
	assert_int_equal(busy.first_ns, 10);
	assert_int_equal(busy.last_ns, 100ul * BUSY_SPANS + 3);
	assert_int_equal(busy_time__add(&busy, 14, 16), 0);
	assert_int_equal(busy.late, 1);
	assert_int_equal(busy_time__ns(&busy), 3 * 10ul * BUSY_SPANS);
	busy_time__clear(&busy);
}

/* From any moment on, or the next one from which the time is known. */
static void test_since(void **state)
{
	struct busy_time busy = {0};
	uint64_t from_ns = 0;

	(void)state;
	assert_int_equal(busy_time__add(&busy, 100, 110), 0);
	assert_int_equal(busy_time__add(&busy, 200, 220), 0);
	assert_int_equal(busy_time__ns_since(&busy, &from_ns), 30);
	assert_int_equal(from_ns, 100);
	from_ns = 205;
	assert_int_equal(busy_time__ns_since(&busy, &from_ns), 15);
	assert_int_equal(from_ns, 205);
	busy_time__clear(&busy);
	/* Spans of 4 ns, each 10 ns. */
	for (uint64_t i = 1; i <= 300 * BUSY_SPANS; i++)
		assert_int_equal(busy_time__add(&busy, 10 * i, 10 * i + 4), 0);
	for (uint64_t asked = 10; asked < 10 * 300 * BUSY_SPANS; asked += 100003) {
		from_ns = asked;
		/* A moment between two spans, or one in the spans that are not only summed up. */
		if (busy_time__ns_since(&busy, &from_ns) % 4 == 0)
			assert_int_equal(busy_time__ns_since(&busy, &from_ns),
					 4 * (300 * BUSY_SPANS - (from_ns - 4) / 10));
		assert_true(from_ns >= asked);
		assert_true(from_ns - asked <= 10 * 300 * BUSY_SPANS / (BUSY_MARKS / 2 - 1));
	}
	busy_time__clear(&busy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_times),
		cmocka_unit_test(test_many_spans),
		cmocka_unit_test(test_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
