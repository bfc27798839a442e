// SPDX-License-Identifier: BSD-2-Clause
// Hash tables: find, add, take, drop, clear, with memory and without.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/table.h"
#include "failing_memory.h"

struct key {
	uint32_t first, second;
};

struct item {
	struct key key;
	int value;
	UT_hash_handle hh;
};

struct owner {
	struct item *items; /* a uthash table */
};

static struct item *take(struct owner *owner, uint32_t first, uint32_t second)
{
	const struct key key = {first, second};

	return TABLE_TAKE(owner->items, key, &key);
}

static struct item *find(const struct owner *owner, uint32_t first, uint32_t second)
{
	const struct key key = {first, second};

	return TABLE_FIND(owner->items, key, &key);
}

static void test_nothing_is_found_in_an_empty_table(void **state)
{
	const struct owner owner = {NULL};

	(void)state;
	assert_null(find(&owner, 1, 2));
}

static void test_takes_the_same_again(void **state)
{
	struct owner owner = {NULL};
	struct item *item = take(&owner, 1, 2);

	(void)state;
	assert_non_null(item);
	assert_int_equal(item->key.first, 1);
	assert_int_equal(item->key.second, 2);
	assert_int_equal(item->value, 0);
	item->value = 7;
	assert_ptr_equal(take(&owner, 1, 2), item);
	assert_ptr_equal(find(&owner, 1, 2), item);
	assert_int_equal(item->value, 7);
	assert_null(find(&owner, 2, 1));
	assert_ptr_not_equal(take(&owner, 2, 1), item);
	assert_int_equal(HASH_COUNT(owner.items), 2);
	TABLE_CLEAR(owner.items, free);
}

static void test_adds_what_is_made_elsewhere(void **state)
{
	struct owner owner = {NULL};
	struct item item = {.key = {3, 4}};

	(void)state;
	assert_int_equal(TABLE_ADD(owner.items, key, &item), 0);
	assert_ptr_equal(find(&owner, 3, 4), &item);
	HASH_DEL(owner.items, &item);
	assert_null(owner.items);
}

static int released;

static void release(struct item *item)
{
	released += item->value;
	free(item);
}

static void test_clears_all(void **state)
{
	struct owner owner = {NULL};

	(void)state;
	released = 0;
	TABLE_CLEAR(owner.items, release);
	assert_int_equal(released, 0);
	for (uint32_t i = 0; i < 1000; i++)
		take(&owner, i, 0)->value = 1;
	TABLE_CLEAR(owner.items, release);
	assert_int_equal(released, 1000);
	assert_null(owner.items);
	assert_non_null(take(&owner, 1, 2));
	TABLE_CLEAR(owner.items, free);
}

static void test_drops_some(void **state)
{
	struct owner owner = {NULL};

	(void)state;
	TABLE_DROP(owner.items, item, true, free);
	assert_null(owner.items);
	for (uint32_t i = 0; i < 1000; i++)
		take(&owner, i, 0)->value = 1;
	released = 0;
	TABLE_DROP(owner.items, item, item->key.first % 3, release);
	assert_int_equal(released, 666);
	assert_int_equal(HASH_COUNT(owner.items), 334);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(!find(&owner, i, 0), i % 3 != 0);
	TABLE_DROP(owner.items, item, true, free);
	assert_null(owner.items);
}

#ifdef FAILING_MEMORY
/*
 * Fails the first, the second, ... allocation of an addition to the table. Returns how many failed.
 */
static int fail_in_turn(struct owner *owner, uint32_t first)
{
	unsigned int count = HASH_COUNT(owner->items);

	for (int succeed = 0;; succeed++) {
		struct item *item;

		allocations_left = (size_t)succeed + 1;
		item = take(owner, first, 0);
		allocations_left = SIZE_MAX;
		if (item)
			return succeed;
		assert_int_equal(HASH_COUNT(owner->items), count);
		assert_null(find(owner, first, 0));
		for (uint32_t i = 0; i < count; i++)
			assert_non_null(find(owner, i, 0));
	}
}

/*
 * The element; in an empty table the table and its buckets, too; sometimes more buckets. The rest
 * stays as it was.
 */
static void test_without_memory(void **state)
{
	struct owner owner = {NULL};
	int most = 0;

	(void)state;
	assert_int_equal(fail_in_turn(&owner, 0), 3);
	for (uint32_t i = 1; i < 2000; i++) {
		int failed = fail_in_turn(&owner, i);

		if (failed > most)
			most = failed;
		assert_true(failed >= 1);
	}
	assert_int_equal(most, 2);
	assert_int_equal(HASH_COUNT(owner.items), 2000);
	TABLE_CLEAR(owner.items, free);
}

static void test_what_cannot_be_added_stays_with_the_caller(void **state)
{
	struct owner owner = {NULL};
	struct item item = {.key = {3, 4}, .value = 5};
	int ret;

	(void)state;
	allocations_left = 0;
	ret = TABLE_ADD(owner.items, key, &item);
	allocations_left = SIZE_MAX;
	assert_int_equal(ret, -ENOMEM);
	assert_null(owner.items);
	assert_int_equal(item.value, 5);
}

/* One that is there is found without memory. */
static void test_takes_what_is_there_without_memory(void **state)
{
	struct owner owner = {NULL};
	struct item *item = take(&owner, 1, 2), *again;

	(void)state;
	allocations_left = 0;
	again = take(&owner, 1, 2);
	allocations_left = SIZE_MAX;
	assert_ptr_equal(again, item);
	TABLE_CLEAR(owner.items, free);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_found_in_an_empty_table),
		cmocka_unit_test(test_takes_the_same_again),
		cmocka_unit_test(test_adds_what_is_made_elsewhere),
		cmocka_unit_test(test_clears_all),
		cmocka_unit_test(test_drops_some),
#ifdef FAILING_MEMORY
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_what_cannot_be_added_stays_with_the_caller),
		cmocka_unit_test(test_takes_what_is_there_without_memory),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
