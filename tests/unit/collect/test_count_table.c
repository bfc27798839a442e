// SPDX-License-Identifier: BSD-2-Clause
// Counters of a map and of threads together: what adds up, what never decreases, what is kept of
// ended threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/count_table.h"

struct seen {
	struct tally sum;
	size_t entries, living;
	int verdict; /* the counter is finished, or an error */
};

static const struct tally_key one = {.slot = 1, .row = 7}, other = {.slot = 1, .row = 8};

static int see(const void *key, const struct tally *sum, bool living, void *arg)
{
	struct seen *seen = arg;

	assert_true(!memcmp(key, &one, sizeof(one)) || !memcmp(key, &other, sizeof(other)));
	seen->sum.calls += sum->calls;
	seen->sum.failures += sum->failures;
	seen->sum.bytes += sum->bytes;
	seen->sum.ns += sum->ns;
	seen->entries++;
	seen->living += living;
	return seen->verdict;
}

static struct seen look(struct count_table *table, int verdict)
{
	struct seen seen = {.verdict = verdict};
	int ret = count_table__each(table, see, &seen);

	assert_int_equal(ret, verdict < 0 ? verdict : 0);
	return seen;
}

static void add(struct count_table *table, enum count_from from, const struct tally_key *key,
		uint64_t calls)
{
	const struct tally tally = {
		.calls = calls, .failures = 1, .bytes = calls * 10, .ns = calls * 100};

	assert_int_equal(count_table__add(table, from, key, &tally), 0);
}

static int make_table(void **state)
{
	*state = count_table__new(sizeof(struct tally_key));
	return *state ? 0 : -1;
}

static int free_table(void **state)
{
	count_table__free(*state);
	return 0;
}

static void test_sources_add_up(void **state)
{
	struct count_table *table = *state;
	struct seen seen;

	count_table__begin(table);
	add(table, COUNT_MAP, &one, 5);
	add(table, COUNT_LIVING, &one, 2);
	add(table, COUNT_LIVING, &one, 3);
	add(table, COUNT_ENDED, &one, 4);
	add(table, COUNT_MAP, &other, 1);
	seen = look(table, 0);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(seen.living, 1);
	assert_int_equal(seen.sum.calls, 15);
	assert_int_equal(seen.sum.failures, 5);
	assert_int_equal(seen.sum.bytes, 150);
	assert_int_equal(seen.sum.ns, 1500);
}

static void test_a_reading_is_of_its_own(void **state)
{
	struct count_table *table = *state;

	for (int i = 0; i < 3; i++) {
		count_table__begin(table);
		add(table, COUNT_MAP, &one, 5);
		add(table, COUNT_LIVING, &one, 2);
		assert_int_equal(look(table, 0).sum.calls, 7);
	}
}

static void test_ended_threads_stay(void **state)
{
	struct count_table *table = *state;

	count_table__begin(table);
	add(table, COUNT_ENDED, &one, 4);
	look(table, 0);
	count_table__begin(table);
	add(table, COUNT_MAP, &one, 1);
	assert_int_equal(look(table, 0).sum.calls, 5);
}

/* A thread that ends moves its counts to a part of the map that has already been read. */
static void test_no_sum_falls(void **state)
{
	struct count_table *table = *state;

	count_table__begin(table);
	add(table, COUNT_MAP, &one, 10);
	add(table, COUNT_LIVING, &one, 90);
	assert_int_equal(look(table, 0).sum.calls, 100);
	count_table__begin(table);
	add(table, COUNT_MAP, &one, 10);
	assert_int_equal(look(table, 0).sum.calls, 100);
	assert_int_equal(look(table, 0).sum.bytes, 1000);
	count_table__begin(table);
	add(table, COUNT_MAP, &one, 101);
	assert_int_equal(look(table, 0).sum.calls, 101);
}

static void test_what_is_done_is_forgotten(void **state)
{
	struct count_table *table = *state;

	count_table__begin(table);
	add(table, COUNT_MAP, &one, 10);
	add(table, COUNT_MAP, &other, 10);
	assert_int_equal(look(table, 1).entries, 2);
	assert_int_equal(look(table, 0).entries, 0);
	/* The same key now belongs to another process. */
	count_table__begin(table);
	add(table, COUNT_MAP, &one, 3);
	assert_int_equal(look(table, 0).sum.calls, 3);
}

static void test_an_error_ends_it(void **state)
{
	struct count_table *table = *state;

	count_table__begin(table);
	add(table, COUNT_MAP, &one, 10);
	add(table, COUNT_MAP, &other, 10);
	assert_int_equal(look(table, -5).entries, 1);
	assert_int_equal(look(table, 0).entries, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sources_add_up, make_table, free_table),
		cmocka_unit_test_setup_teardown(test_a_reading_is_of_its_own, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(test_ended_threads_stay, make_table, free_table),
		cmocka_unit_test_setup_teardown(test_no_sum_falls, make_table, free_table),
		cmocka_unit_test_setup_teardown(test_what_is_done_is_forgotten, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(test_an_error_ends_it, make_table, free_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
