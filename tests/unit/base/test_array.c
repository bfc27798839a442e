// SPDX-License-Identifier: BSD-2-Clause
// Arrays that grow, with memory and without.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"

#ifndef GPUPROBE_SANITIZED /* which has allocation functions of its own */
static bool no_memory;
static size_t reallocations;

void *__libc_realloc(void *old, size_t size);

void *realloc(void *old, size_t size)
{
	reallocations++;
	return no_memory ? NULL : __libc_realloc(old, size);
}
#endif

struct pair {
	uint64_t first;
	uint32_t second;
};

struct pairs {
	struct pair *items;
	size_t count;
};

static void append_some(struct pairs *pairs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(ARRAY_APPEND(pairs->items, pairs->count,
					      (struct pair){.first = i, .second = i + 1}),
				 0);
}

static void test_keeps_all_in_order(void **state)
{
	struct pairs pairs = {0};

	(void)state;
	append_some(&pairs, 1000);
	assert_int_equal(pairs.count, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(pairs.items[i].first, i);
		assert_int_equal(pairs.items[i].second, i + 1);
	}
	free(pairs.items);
}

/* After the count is lowered the array has the room that the count implies; see the sanitizer. */
static void test_grows_again_after_a_lower_count(void **state)
{
	(void)state;
	for (size_t lower = 0; lower <= 33; lower++) {
		struct pairs pairs = {0};

		append_some(&pairs, 33);
		pairs.count = lower;
		append_some(&pairs, 70);
		assert_int_equal(pairs.count, lower + 70);
		for (size_t i = 0; i < lower; i++)
			assert_int_equal(pairs.items[i].first, i);
		assert_int_equal(pairs.items[lower + 69].first, 69);
		free(pairs.items);
	}
}

static void test_room_is_there_at_once(void **state)
{
	(void)state;
	for (uint32_t count = 0; count <= 17; count++) {
		for (size_t more = 0; more <= 17; more++) {
			struct pairs pairs = {0};

			append_some(&pairs, count);
			assert_int_equal(ARRAY_RESERVE(pairs.items, pairs.count, more), 0);
			assert_int_equal(pairs.count, count);
			for (size_t i = 0; i < more; i++)
				pairs.items[pairs.count++] = (struct pair){.first = i};
			append_some(&pairs, 1);
			assert_int_equal(pairs.count, count + more + 1);
			free(pairs.items);
		}
	}
}

/* Pointers, and a count of another type. */
static void test_other_types(void **state)
{
	const char **texts = NULL;
	unsigned int count = 0;

	(void)state;
	assert_int_equal(ARRAY_APPEND(texts, count, "first"), 0);
	assert_int_equal(ARRAY_APPEND(texts, count, "second"), 0);
	assert_int_equal(count, 2);
	assert_string_equal(texts[0], "first");
	assert_string_equal(texts[1], "second");
	free(texts);
}

static void test_sizes_that_overflow(void **state)
{
	struct pairs pairs = {0};

	(void)state;
	append_some(&pairs, 3);
	assert_int_equal(ARRAY_RESERVE(pairs.items, pairs.count, SIZE_MAX), -ENOMEM);
	assert_int_equal(ARRAY_RESERVE(pairs.items, pairs.count, SIZE_MAX - 3), -ENOMEM);
	assert_int_equal(
		ARRAY_RESERVE(pairs.items, pairs.count, SIZE_MAX / sizeof(*pairs.items) + 1),
		-ENOMEM);
	assert_int_equal(ARRAY_RESERVE(pairs.items, pairs.count, SIZE_MAX / 2 + 2), -ENOMEM);
	assert_int_equal(pairs.count, 3);
	assert_int_equal(pairs.items[2].second, 3);
	free(pairs.items);
}

#ifndef GPUPROBE_SANITIZED
/* At each count: an array that is full stays as it was, one that has room takes the item. */
static void test_without_memory(void **state)
{
	struct pairs pairs = {0};

	(void)state;
	for (uint32_t count = 0; count < 40; count++) {
		const struct pair *before = pairs.items;
		bool full = (count & (count - 1)) == 0;
		int reserved, appended;

		no_memory = true;
		reserved = ARRAY_RESERVE(pairs.items, pairs.count, 1);
		appended = ARRAY_APPEND(pairs.items, pairs.count, (struct pair){.first = count});
		no_memory = false;
		assert_int_equal(reserved, full ? -ENOMEM : 0);
		assert_int_equal(appended, full ? -ENOMEM : 0);
		assert_ptr_equal(pairs.items, before);
		assert_int_equal(pairs.count, full ? count : count + 1);
		if (full)
			append_some(&pairs, 1);
	}
	free(pairs.items);
}

static void test_does_not_move_without_need(void **state)
{
	struct pairs pairs = {0};

	(void)state;
	reallocations = 0;
	append_some(&pairs, 1000);
	assert_int_equal(reallocations, 11);
	free(pairs.items);
}
#endif

static int by_number(const void *one, const void *other)
{
	int a = *(const int *)one, b = *(const int *)other;

	return (a > b) - (a < b);
}

static void keeps_one_of_equal_items(void **state)
{
	static const int distinct[] = {-1, 2, 3, 7};
	int numbers[] = {3, 7, 3, -1, 2, 7, 7, -1};

	(void)state;
	assert_int_equal(array__keep_distinct(numbers, 8, sizeof(*numbers), by_number), 4);
	assert_memory_equal(numbers, distinct, sizeof(distinct));
	assert_int_equal(array__keep_distinct(numbers, 4, sizeof(*numbers), by_number), 4);
	assert_int_equal(array__keep_distinct(NULL, 0, sizeof(*numbers), by_number), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_all_in_order),
		cmocka_unit_test(test_grows_again_after_a_lower_count),
		cmocka_unit_test(test_room_is_there_at_once),
		cmocka_unit_test(test_other_types),
		cmocka_unit_test(test_sizes_that_overflow),
#ifndef GPUPROBE_SANITIZED
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_does_not_move_without_need),
#endif
		cmocka_unit_test(keeps_one_of_equal_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
