// SPDX-License-Identifier: BSD-2-Clause
// A program that makes up errors or kernels without end: its lists are bounded, and their sums stay
// exact.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "model/failures.h"
#include "model/kernels.h"

#define CODES 16000
#define HANDLES 3000

/* --- failures --- */

static void add_failures(struct process *process, int first, int last, int step, uint64_t count)
{
	const struct failure_record record = {.count = count, .first_ns = 10, .last_ns = 20};

	for (int code = first; code != last; code += step) {
		const struct failure_key key = {.row = 1, .code = code};

		assert_int_equal(failures__add(process, &key, &record), 0);
	}
}

static uint64_t sum_of(const struct process *process)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < process->failure_count; i++)
		sum += process->failures[i].count;
	return sum;
}

/* 0: it has no entry. */
static uint64_t count_of(const struct process *process, int code)
{
	for (size_t i = 0; i < process->failure_count; i++)
		if (!process->failures[i].is_rest && process->failures[i].code == code)
			return process->failures[i].count;
	return 0;
}

/* As a reading finds it in its middle: with zeros, and without failures__begin. */
static void test_the_rest_of_a_new_process_has_its_name(void **state)
{
	struct process process = {.pid = 1};

	(void)state;
	add_failures(&process, 1, FAILURES_MAX + 2, 1, 3);
	assert_int_equal(failures__finish(&process), 0);
	assert_int_equal(process.failure_count, FAILURES_MAX + 1);
	assert_true(process.failures[FAILURES_MAX].is_rest);
	assert_string_equal(process.failures[FAILURES_MAX].function, FAILURES_REST);
	assert_string_equal(process.failures[FAILURES_MAX].error, FAILURES_REST);
	process__clear(&process);
}

static void test_few_failures_have_an_entry_each(void **state)
{
	struct process process = {.pid = 1};

	(void)state;
	failures__begin(&process);
	add_failures(&process, 1, FAILURES_MAX + 1, 1, 3);
	assert_int_equal(failures__finish(&process), 0);
	assert_int_equal(process.failure_count, FAILURES_MAX);
	assert_false(process.failures[FAILURES_MAX - 1].is_rest);
	process__clear(&process);
}

static void test_many_failures_have_one_entry_more(void **state)
{
	struct process process = {.pid = 1};
	const struct failure *rest;

	(void)state;
	failures__begin(&process);
	add_failures(&process, 1, CODES + 1, 1, 3);
	assert_int_equal(failures__finish(&process), 0);
	assert_int_equal(process.failure_count, FAILURES_MAX + 1);
	assert_int_equal(sum_of(&process), 3 * CODES);
	rest = &process.failures[FAILURES_MAX];
	assert_true(rest->is_rest);
	assert_string_equal(rest->function, "other");
	assert_string_equal(rest->error, "other");
	assert_int_equal(rest->first_ns, 10);
	assert_int_equal(rest->last_ns, 20);
	process__clear(&process);
}

/* In whatever order the map is read: an error with an entry keeps it, and one without gets none. */
static void test_entries_stay(void **state)
{
	struct process process = {.pid = 1};
	uint64_t rest;

	(void)state;
	failures__begin(&process);
	add_failures(&process, 1, 1001, 1, 3);
	assert_int_equal(failures__finish(&process), 0);
	rest = process.failures[FAILURES_MAX].count;
	failures__begin(&process);
	add_failures(&process, 2000, 0, -1, 5);
	assert_int_equal(failures__finish(&process), 0);
	assert_int_equal(sum_of(&process), 5 * 2000);
	assert_true(process.failures[FAILURES_MAX].count >= rest);
	for (int code = 1; code <= FAILURES_MAX; code++)
		assert_int_equal(count_of(&process, code), 5);
	assert_int_equal(count_of(&process, FAILURES_MAX + 1), 0);
	process__clear(&process);
}

/* --- kernels --- */

static struct launch_key key_of(uint64_t number)
{
	struct launch_key key;

	memset(&key, 0, sizeof(key));
	key.kernel.handle = number;
	return key;
}

static void launch(struct kernel_table *table, uint64_t first, uint64_t last, uint64_t launches,
		   const char *name)
{
	for (uint64_t number = first; number <= last; number++) {
		const struct launch_key key = key_of(number);

		assert_int_equal(kernel_table__set(table, &key, launches, name), 0);
	}
}

static const struct kernel *find_rest(const struct process *process)
{
	for (size_t i = 0; i < process->kernel_count; i++)
		if (process->kernels[i].is_rest)
			return &process->kernels[i];
	return NULL;
}

static uint64_t launches_of(const struct process *process, const char *name)
{
	for (size_t i = 0; i < process->kernel_count; i++)
		if (process->kernels[i].name && !strcmp(process->kernels[i].name, name))
			return process->kernels[i].launches;
	return 0;
}

static void test_nameless_kernels_are_one_beyond_a_bound(void **state)
{
	struct process process = {.kernel_table = kernel_table__new()};

	(void)state;
	assert_non_null(process.kernel_table);
	launch(process.kernel_table, 1, HANDLES, 2, NULL);
	assert_int_equal(kernel_table__list(process.kernel_table, &process), 0);
	assert_int_equal(process.kernel_count, 1025);
	assert_int_equal(process.launches, 2 * HANDLES);
	assert_non_null(find_rest(&process));
	assert_int_equal(find_rest(&process)->launches, 2 * (HANDLES - 1024));
	process__clear(&process);
}

/*
 * A kernel in the rest that gets a name takes its launches with it, to a new or an existing kernel.
 */
static void test_the_rest_can_be_named(void **state)
{
	struct process process = {.kernel_table = kernel_table__new()};

	(void)state;
	assert_non_null(process.kernel_table);
	launch(process.kernel_table, 1, HANDLES, 2, NULL);
	launch(process.kernel_table, HANDLES - 1, HANDLES, 5, "late");
	launch(process.kernel_table, HANDLES - 2, HANDLES - 2, 7, "later");
	assert_int_equal(kernel_table__list(process.kernel_table, &process), 0);
	assert_int_equal(launches_of(&process, "late"), 10);
	assert_int_equal(launches_of(&process, "later"), 7);
	assert_int_equal(process.launches, 2 * (HANDLES - 3) + 17);
	assert_int_equal(find_rest(&process)->launches, 2 * (HANDLES - 3 - 1024));
	process__clear(&process);
}

/* Its handles disappear, and their counts stay. */
static void test_the_rest_outlives_its_handles(void **state)
{
	struct process process = {.kernel_table = kernel_table__new()};

	(void)state;
	assert_non_null(process.kernel_table);
	launch(process.kernel_table, 1, HANDLES, 2, NULL);
	for (uint64_t number = 1; number <= HANDLES; number++) {
		const struct launch_key key = key_of(number);

		assert_int_equal(kernel_table__fold(process.kernel_table, &key), 0);
	}
	launch(process.kernel_table, HANDLES + 1, HANDLES + 10, 1, NULL);
	assert_int_equal(kernel_table__list(process.kernel_table, &process), 0);
	assert_int_equal(process.kernel_count, 1025);
	assert_int_equal(process.launches, 2 * HANDLES + 10);
	process__clear(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_failures_have_an_entry_each),
		cmocka_unit_test(test_the_rest_of_a_new_process_has_its_name),
		cmocka_unit_test(test_many_failures_have_one_entry_more),
		cmocka_unit_test(test_entries_stay),
		cmocka_unit_test(test_nameless_kernels_are_one_beyond_a_bound),
		cmocka_unit_test(test_the_rest_can_be_named),
		cmocka_unit_test(test_the_rest_outlives_its_handles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
