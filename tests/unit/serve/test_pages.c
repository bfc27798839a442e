// SPDX-License-Identifier: BSD-2-Clause
// For how long an expensive page or reading is used again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "serve/pages.h"

static void cheap_ones_are_made_anew(void **state)
{
	(void)state;
	assert_int_equal(pages__reuse_ns(0), 0);
	assert_int_equal(pages__reuse_ns(100 * NS_PER_MS - 1), 0);
}

static void expensive_ones_take_a_tenth_of_the_time(void **state)
{
	(void)state;
	assert_int_equal(pages__reuse_ns(100 * NS_PER_MS), NS_PER_S);
	assert_int_equal(pages__reuse_ns(300 * NS_PER_MS), 3 * NS_PER_S);
}

static void none_is_used_for_longer_than_five_seconds(void **state)
{
	(void)state;
	assert_int_equal(pages__reuse_ns(501 * NS_PER_MS), 5 * NS_PER_S);
	assert_int_equal(pages__reuse_ns(UINT64_MAX), 5 * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cheap_ones_are_made_anew),
		cmocka_unit_test(expensive_ones_take_a_tenth_of_the_time),
		cmocka_unit_test(none_is_used_for_longer_than_five_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
