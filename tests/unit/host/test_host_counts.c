// SPDX-License-Identifier: BSD-2-Clause
// Profiles of followed threads, read while the threads run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/counts.h"

static struct host_profile running(void)
{
	struct host_profile profile = {.version = 2,
				       .generation = 1,
				       .began_ns = 100,
				       .since_ns = 1000,
				       .kind = ACTIVITY_CPU};

	profile.ns[ACTIVITY_CPU][HOST_OUTSIDE] = 600;
	profile.ns[ACTIVITY_LOCK][HOST_OUTSIDE] = 300;
	profile.samples[HOST_OUTSIDE] = 3;
	return profile;
}

static void adds_what_is_now(void **state)
{
	struct host_profile profile = running();
	struct host_counts counts;

	(void)state;
	host_counts__read(&counts, &profile, 1400);
	assert_true(counts.began && !counts.ended);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_OUTSIDE], 1000);
	profile.kind = ACTIVITY_QUEUE;
	profile.class = HOST_COPIES;
	host_counts__read(&counts, &profile, 1400);
	assert_int_equal(counts.ns[ACTIVITY_QUEUE][HOST_COPIES], 400);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_OUTSIDE], 600);
	/* It has been woken, but has no CPU yet. */
	profile.woken_ns = 1300;
	host_counts__read(&counts, &profile, 1400);
	assert_int_equal(counts.ns[ACTIVITY_QUEUE][HOST_COPIES], 300);
	assert_int_equal(counts.ns[ACTIVITY_READY][HOST_COPIES], 100);
	/* A moment before its profile was written. */
	host_counts__read(&counts, &profile, 900);
	assert_int_equal(counts.ns[ACTIVITY_QUEUE][HOST_COPIES], 0);
}

static void ends_with_the_thread(void **state)
{
	struct host_profile profile = running();
	struct host_counts counts;

	(void)state;
	profile.ended_ns = profile.since_ns = 1200;
	host_counts__read(&counts, &profile, 5000);
	assert_true(counts.ended);
	assert_int_equal(counts.at_ns, 1200);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_OUTSIDE], 600);
}

static void is_nothing_before(void **state)
{
	struct host_profile profile = running();
	struct host_counts counts;

	(void)state;
	profile.began_ns = 0;
	host_counts__read(&counts, &profile, 1400);
	assert_false(counts.began);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_OUTSIDE], 0);
}

static void shares_out_time_on_a_cpu(void **state)
{
	struct host_profile profile = running();
	struct host_counts counts;

	(void)state;
	profile.samples[HOST_LAUNCHES] = 6;
	host_counts__read(&counts, &profile, 1300);
	host_counts__share_cpu(&counts);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_OUTSIDE], 300);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_LAUNCHES], 600);
	assert_int_equal(counts.ns[ACTIVITY_LOCK][HOST_OUTSIDE], 300);
}

static void keeps_time_without_samples(void **state)
{
	struct host_counts counts = {.ns = {[ACTIVITY_CPU] = {[HOST_OUTSIDE] = 70}}};

	(void)state;
	host_counts__share_cpu(&counts);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_OUTSIDE], 70);
}

static void is_of_what_came_after(void **state)
{
	struct host_profile profile = running();
	struct host_counts before, counts;

	(void)state;
	host_counts__read(&before, &profile, 1400);
	profile.ns[ACTIVITY_CPU][HOST_OUTSIDE] += 500;
	profile.since_ns = 1500;
	profile.times[ACTIVITY_LOCK] = 7;
	profile.samples[HOST_LAUNCHES] = 2;
	host_counts__read(&counts, &profile, 1600);
	host_counts__since(&counts, &before);
	/* 1200 minus 1000, with the open time of both; only the launches' samples are new. */
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_OUTSIDE], 200);
	assert_int_equal(counts.ns[ACTIVITY_LOCK][HOST_OUTSIDE], 0);
	assert_int_equal(counts.times[ACTIVITY_LOCK], 7);
	assert_int_equal(counts.at_ns, 1600);
	host_counts__share_cpu(&counts);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_LAUNCHES], 200);
	assert_int_equal(counts.ns[ACTIVITY_CPU][HOST_OUTSIDE], 0);
}

static void is_split_by_whether_it_could_run(void **state)
{
	struct host_profile profile = running();
	struct host_counts counts;
	struct host_split split;

	(void)state;
	profile.ns[ACTIVITY_QUEUE][HOST_COPIES] = 10;
	profile.ns[ACTIVITY_READY][HOST_OUTSIDE] = 2000;
	profile.ns[ACTIVITY_READY][HOST_LAUNCHES] = 200;
	profile.ns[ACTIVITY_THROTTLED][HOST_OUTSIDE] = 20;
	host_counts__read(&counts, &profile, 1400);
	split = host_counts__split(&counts);
	assert_int_equal(split.running_ns, 1000);
	assert_int_equal(split.ready_ns, 2220);
	assert_int_equal(split.asleep_ns, 310);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_what_is_now),
		cmocka_unit_test(ends_with_the_thread),
		cmocka_unit_test(is_nothing_before),
		cmocka_unit_test(shares_out_time_on_a_cpu),
		cmocka_unit_test(keeps_time_without_samples),
		cmocka_unit_test(is_of_what_came_after),
		cmocka_unit_test(is_split_by_whether_it_could_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
