// SPDX-License-Identifier: BSD-2-Clause
// How long a process was held between two times (gpuprobe/holds.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpuprobe/holds.h"

static const struct holds two = {.count = 2, .kept = {{100, 150}, {200, 300}}};

static void test_none(void **state)
{
	const struct holds none = {0};

	(void)state;
	assert_int_equal(holds__within(&none, 0, UINT64_MAX), 0);
}

static void test_within(void **state)
{
	(void)state;
	assert_int_equal(holds__within(&two, 0, 1000), 150);
	assert_int_equal(holds__within(&two, 160, 1000), 100);
	assert_int_equal(holds__within(&two, 0, 160), 50);
}

/* Only the part of a hold within the interval counts. */
static void test_overlap(void **state)
{
	(void)state;
	assert_int_equal(holds__within(&two, 120, 130), 10);
	assert_int_equal(holds__within(&two, 140, 210), 20);
	assert_int_equal(holds__within(&two, 290, 1000), 10);
}

static void test_outside(void **state)
{
	(void)state;
	assert_int_equal(holds__within(&two, 150, 200), 0);
	assert_int_equal(holds__within(&two, 300, 400), 0);
	assert_int_equal(holds__within(&two, 10, 100), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_within),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
