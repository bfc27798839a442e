// SPDX-License-Identifier: BSD-2-Clause
// Histograms of times: every bucket's boundaries, percentiles; and counters of which threads keep a
// part.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/profile.h"

#define LONGEST (1ull << (TIME_FIRST_OCTAVE + TIME_OCTAVES))

static void every_bucket_begins_where_the_one_before_ends(void **state)
{
	(void)state;
	assert_int_equal(time_bucket_start(0), 0);
	for (uint32_t bucket = 0; bucket < TIME_BUCKETS; bucket++) {
		uint64_t start = time_bucket_start(bucket), end = time_bucket_start(bucket + 1);

		assert_true(start < end);
		assert_int_equal(time_bucket(start), bucket);
		assert_int_equal(time_bucket(end - 1), bucket);
		assert_int_equal(time_bucket(start + (end - start) / 2), bucket);
	}
	assert_int_equal(time_bucket_start(TIME_BUCKETS), LONGEST);
}

static void the_last_bucket_has_all_that_is_longer(void **state)
{
	(void)state;
	assert_int_equal(time_bucket(LONGEST - 1), TIME_BUCKETS - 1);
	assert_int_equal(time_bucket(LONGEST), TIME_BUCKETS - 1);
	assert_int_equal(time_bucket(UINT64_MAX), TIME_BUCKETS - 1);
	/* Above 64 s, as the header says. */
	assert_true(LONGEST > 64000000000ull);
}

static void a_buckets_middle_is_near_all_in_it(void **state)
{
	(void)state;
	for (uint32_t bucket = TIME_STEPS; bucket < TIME_BUCKETS; bucket++) {
		double start = (double)time_bucket_start(bucket),
		       end = (double)time_bucket_start(bucket + 1);
		double middle = (start + end) / 2;

		assert_true((end - middle) / end <= 0.032 && (middle - start) / start <= 0.032);
	}
}

static void percentiles_of_nothing_and_of_one(void **state)
{
	__u64 buckets[TIME_BUCKETS] = {0};
	uint64_t middle = (time_bucket_start(200) + time_bucket_start(201)) / 2;

	(void)state;
	assert_int_equal(profile__percentile(buckets, 0.5, UINT64_MAX), 0);
	buckets[200] = 1;
	assert_int_equal(profile__percentile(buckets, 0, UINT64_MAX), middle);
	assert_int_equal(profile__percentile(buckets, 0.5, UINT64_MAX), middle);
	assert_int_equal(profile__percentile(buckets, 1, UINT64_MAX), middle);
	assert_int_equal(profile__percentile(buckets, 0.5, middle - 1), middle - 1);
}

/* Compared with the sorted times themselves. */
static void percentiles_of_many(void **state)
{
	static const double shares[] = {0.01, 0.25, 0.5, 0.9, 0.99, 0.999};
	enum {
		COUNT = 10000
	};
	__u64 buckets[TIME_BUCKETS] = {0};
	uint64_t *times = calloc(COUNT, sizeof(*times));

	(void)state;
	for (uint64_t i = 0; i < COUNT; i++) {
		times[i] = 300 + i * i * 7; /* grows with i: sorted */
		buckets[time_bucket(times[i])]++;
	}
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double true_ns = (double)times[(size_t)(shares[i] * COUNT) - 1];
		double seen_ns = (double)profile__percentile(buckets, shares[i], times[COUNT - 1]);

		assert_true(seen_ns > 0.968 * true_ns && seen_ns < 1.032 * true_ns);
	}
	assert_int_equal(profile__percentile(buckets, 1, times[COUNT - 1]) <= times[COUNT - 1], 1);
	free(times);
}

/* Each time has its own bucket, so that the rank is visible. */
static void percentiles_are_the_nearest_rank(void **state)
{
	__u64 buckets[TIME_BUCKETS] = {0};

	(void)state;
	for (uint64_t count = 1; count <= 400; count++) {
		static const unsigned int percents[] = {1, 50, 90, 99, 100};

		buckets[count]++;
		for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
			uint64_t rank = (count * percents[i] + 99) / 100;
			uint64_t middle = (time_bucket_start((uint32_t)rank) +
					   time_bucket_start((uint32_t)rank + 1)) /
					  2;

			assert_int_equal(
				profile__percentile(buckets, percents[i] / 100.0, UINT64_MAX),
				middle);
		}
	}
}

static void a_life_as_far_as_watched(void **state)
{
	struct thread_profile thread = {.start_ns = 1000};

	(void)state;
	thread.time[TIME_COPY].ns = 30;
	thread.time[TIME_OTHER].ns = 4;
	assert_int_equal(profile__inside_ns(&thread), 34);
	assert_int_equal(profile__wall_ns(&thread, 200, 5000), 4000);
	assert_int_equal(profile__wall_ns(&thread, 1500, 5000), 3500);
	thread.ended_ns = 2000;
	assert_int_equal(profile__wall_ns(&thread, 1500, 5000), 500);
	assert_int_equal(profile__wall_ns(&thread, 2500, 5000), 0);
}

/* Shares of the time would exceed 100 % if it ended where the reading began. */
static void times_count_until_they_were_read(void **state)
{
	struct profile profile = {.counted_ns = 700};
	struct process process = {.profile = &profile};

	(void)state;
	assert_int_equal(profile__counted_until_ns(&process, 500), 700);
	assert_int_equal(profile__counted_until_ns(&process, 800), 800);
	process.ended = true;
	process.ended_ns = 300;
	assert_int_equal(profile__counted_until_ns(&process, 500), 300);
	process = (struct process){0};
	assert_int_equal(profile__counted_until_ns(&process, 500), 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bucket_begins_where_the_one_before_ends),
		cmocka_unit_test(the_last_bucket_has_all_that_is_longer),
		cmocka_unit_test(a_buckets_middle_is_near_all_in_it),
		cmocka_unit_test(percentiles_of_nothing_and_of_one),
		cmocka_unit_test(percentiles_of_many),
		cmocka_unit_test(percentiles_are_the_nearest_rank),
		cmocka_unit_test(a_life_as_far_as_watched),
		cmocka_unit_test(times_count_until_they_were_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
