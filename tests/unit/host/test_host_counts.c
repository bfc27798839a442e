// SPDX-License-Identifier: BSD-2-Clause
// Accounts of followed threads read while they go on, windows that begin anew, and limits of control groups.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/counts.h"
#include "host/throttle.h"

static struct host_account running(void)
{
	struct host_account account = {.version = 2, .generation = 1, .began_ns = 100, .since_ns = 1000, .kind = HOST_CPU};

	account.ns[HOST_CPU][HOST_OUTSIDE] = 600;
	account.ns[HOST_LOCK][HOST_OUTSIDE] = 300;
	account.samples[HOST_OUTSIDE] = 3;
	return account;
}

static void adds_what_is_now(void **state)
{
	struct host_account account = running();
	struct host_counts counts;

	(void)state;
	host_counts__read(&counts, &account, 1400);
	assert_true(counts.began && !counts.ended);
	assert_int_equal(counts.ns[HOST_CPU][HOST_OUTSIDE], 1000);
	account.kind = HOST_QUEUE;
	account.class = HOST_COPIES;
	host_counts__read(&counts, &account, 1400);
	assert_int_equal(counts.ns[HOST_QUEUE][HOST_COPIES], 400);
	assert_int_equal(counts.ns[HOST_CPU][HOST_OUTSIDE], 600);
	/* It has been woken, and has no CPU yet. */
	account.woken_ns = 1300;
	host_counts__read(&counts, &account, 1400);
	assert_int_equal(counts.ns[HOST_QUEUE][HOST_COPIES], 300);
	assert_int_equal(counts.ns[HOST_READY][HOST_COPIES], 100);
	/* A moment before its account was written. */
	host_counts__read(&counts, &account, 900);
	assert_int_equal(counts.ns[HOST_QUEUE][HOST_COPIES], 0);
}

static void ends_with_the_thread(void **state)
{
	struct host_account account = running();
	struct host_counts counts;

	(void)state;
	account.ended_ns = account.since_ns = 1200;
	host_counts__read(&counts, &account, 5000);
	assert_true(counts.ended);
	assert_int_equal(counts.at_ns, 1200);
	assert_int_equal(counts.ns[HOST_CPU][HOST_OUTSIDE], 600);
}

static void is_nothing_before(void **state)
{
	struct host_account account = running();
	struct host_counts counts;

	(void)state;
	account.began_ns = 0;
	host_counts__read(&counts, &account, 1400);
	assert_false(counts.began);
	assert_int_equal(counts.ns[HOST_CPU][HOST_OUTSIDE], 0);
}

/* What goes on over a window's begin is shared by the two. */
static void begins_anew(void **state)
{
	struct host_account account = running();
	struct host_counts base, counts;

	(void)state;
	host_counts__read(&base, &account, 1100);
	account.samples[HOST_OUTSIDE] = 5;
	account.samples[HOST_LAUNCHES] = 6;
	host_counts__read(&counts, &account, 1500);
	host_counts__since(&counts, &base);
	assert_int_equal(counts.ns[HOST_CPU][HOST_OUTSIDE], 400);
	assert_int_equal(counts.ns[HOST_LOCK][HOST_OUTSIDE], 0);
	assert_int_equal(counts.samples[HOST_OUTSIDE], 2);
	host_counts__share_cpu(&counts);
	assert_int_equal(counts.ns[HOST_CPU][HOST_OUTSIDE], 100);
	assert_int_equal(counts.ns[HOST_CPU][HOST_LAUNCHES], 300);
}

static void keeps_time_without_samples(void **state)
{
	struct host_counts counts = {.ns = {[HOST_CPU] = {[HOST_OUTSIDE] = 70}}};

	(void)state;
	host_counts__share_cpu(&counts);
	assert_int_equal(counts.ns[HOST_CPU][HOST_OUTSIDE], 70);
}

static void reads_limits(void **state)
{
	struct host_throttle one, other;

	(void)state;
	assert_true(throttle__parse("usage_usec 9\nnr_periods 40\nnr_throttled 10\nthrottled_usec 250\n", &one));
	assert_int_equal(one.throttled_ns, 250000);
	assert_true(throttle__parse("nr_periods 50\nnr_throttled 15\nthrottled_time 300000\n", &other));
	assert_int_equal(other.throttled_ns, 300000);
	throttle__since(&other, &one);
	assert_int_equal(other.periods, 10);
	assert_int_equal(other.throttled_periods, 5);
	assert_int_equal(other.throttled_ns, 50000);
	/* No limit, no periods. */
	assert_false(throttle__parse("nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n", &one));
	assert_false(throttle__parse("usage_usec 9\nxnr_periods 4\n", &one));
	assert_false(throttle__parse("", &one));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_what_is_now),
		cmocka_unit_test(ends_with_the_thread),
		cmocka_unit_test(is_nothing_before),
		cmocka_unit_test(begins_anew),
		cmocka_unit_test(keeps_time_without_samples),
		cmocka_unit_test(reads_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
