// SPDX-License-Identifier: BSD-2-Clause
// Clocks that jump: measured times ignore changes of the time of day, reported times follow them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#define DAY_S 86400

/*
 * The values of the system's clocks, which replace the library's calls. A clock that stops while
 * the machine sleeps would be wrong.
 */
static struct timespec wall, boot;

int clock_gettime(clockid_t which, struct timespec *now)
{
	assert_true(which == CLOCK_REALTIME || which == CLOCK_BOOTTIME);
	*now = which == CLOCK_REALTIME ? wall : boot;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	wall = (struct timespec){.tv_sec = 1700000000, .tv_nsec = 5};
	boot = (struct timespec){.tv_sec = 100, .tv_nsec = 999999999};
	return 0;
}

static void test_time_of_day_jumps(void **state)
{
	static const time_t jumps[] = {DAY_S, -DAY_S, -1700000000, 3600, -1};
	uint64_t before = clock__boot_ns();

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		time_t expected = wall.tv_sec + jumps[i];

		wall.tv_sec = expected;
		assert_int_equal(clock__wall().tv_sec, expected);
		assert_int_equal(clock__wall().tv_nsec, 5);
		assert_true(clock__boot_ns() == before);
	}
}

/* The machine slept: BPF's clock has gone on meanwhile, and this one must too. */
static void test_sleep(void **state)
{
	uint64_t before = clock__boot_ns();

	(void)state;
	assert_true(before == 100999999999ull);
	boot.tv_sec += 8 * 3600;
	assert_true(clock__boot_ns() - before == 8 * 3600 * NS_PER_S);
}

/* Decades of uptime without an overflow. */
static void test_long_up(void **state)
{
	(void)state;
	boot = (struct timespec){.tv_sec = 50l * 365 * DAY_S, .tv_nsec = 1};
	assert_true(clock__boot_ns() == 50ull * 365 * DAY_S * NS_PER_S + 1);
}

static void test_timeval(void **state)
{
	static const struct {
		double seconds;
		long whole, micro;
	} cases[] = {{0, 0, 0}, {0.25, 0, 250000}, {1.5, 1, 500000}, {86400.75, 86400, 750000}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct timeval time = clock__timeval(cases[i].seconds);

		assert_int_equal(time.tv_sec, cases[i].whole);
		assert_int_equal(time.tv_usec, cases[i].micro);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_time_of_day_jumps, set_up),
		cmocka_unit_test_setup(test_sleep, set_up),
		cmocka_unit_test_setup(test_long_up, set_up),
		cmocka_unit_test_setup(test_timeval, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
