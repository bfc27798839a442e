// SPDX-License-Identifier: BSD-2-Clause
// Stacks by id: equal frames are stored once, the store is bounded, and entries are evicted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stack/store.h"

#define FORGOTTEN_MAX 64

struct forgotten {
	uint64_t ids[FORGOTTEN_MAX];
	size_t count;
};

static const struct stack_owner owner = {.start_ns = 5, .pid = 7};

static void note(void *arg, uint64_t id)
{
	struct forgotten *forgotten = arg;

	assert_true(forgotten->count < FORGOTTEN_MAX);
	forgotten->ids[forgotten->count++] = id;
}

/* A stack of two frames, whose texts will be at another address the next time. */
static void add(struct stack_store *store, uint64_t id, const char *function, uint32_t line)
{
	char *text = strdup(function), *file = strdup("/src/a.c");
	struct stack_frame frames[2];
	struct stack stack = {.count = 2, .frames = frames, .serial = id};

	memset(frames, (int)id, sizeof(frames)); /* padding between members has any value */
	frames[0] = (struct stack_frame){
		.function = text, .object = NULL, .file = file, .offset = 4, .line = line};
	frames[1] = (struct stack_frame){.function = "main", .object = "a.out"};
	assert_int_equal(stack_store__add(store, id, &owner, &stack), 0);
	free(text);
	free(file);
}

static void same_frames_are_one(void **state)
{
	struct stack_store *store = stack_store__new(10, NULL, NULL);
	const struct stack *first, *second;

	(void)state;
	add(store, 1, "f", 10);
	add(store, 2, "f", 10);
	add(store, 3, "f", 11);
	add(store, 4, "g", 10);
	first = stack_store__find(store, 1);
	assert_non_null(first);
	assert_ptr_equal(stack_store__find(store, 2), first);
	assert_int_equal(stack_store__count(store), 3);
	assert_int_equal(first->serial, 0);
	assert_int_equal(first->count, 2);
	assert_string_equal(first->frames[0].function, "f");
	assert_string_equal(first->frames[0].file, "/src/a.c");
	assert_int_equal(first->frames[0].line, 10);
	assert_null(first->frames[0].object);
	assert_string_equal(first->frames[1].object, "a.out");
	second = stack_store__find(store, 3);
	assert_ptr_not_equal(second, first);
	assert_int_equal(second->serial, 1);
	assert_ptr_equal(second->frames[1].function, first->frames[1].function);
	assert_null(stack_store__find(store, 5));
	stack_store__free(store);
}

/* An incomplete stack differs from a complete one with the same frames. */
static void ends_report_stacks_apart(void **state)
{
	struct stack_store *store = stack_store__new(10, NULL, NULL);
	struct stack_frame frame = {.function = "f"};
	struct stack whole = {.count = 1, .frames = &frame}, broken = whole, none = {0};

	(void)state;
	broken.broken = true;
	stack_store__add(store, 1, &owner, &whole);
	stack_store__add(store, 2, &owner, &broken);
	stack_store__add(store, 3, &owner, &none);
	assert_int_equal(stack_store__count(store), 3);
	assert_false(stack_store__find(store, 1)->broken);
	assert_true(stack_store__find(store, 2)->broken);
	assert_int_equal(stack_store__find(store, 3)->count, 0);
	stack_store__free(store);
}

static void the_longest_not_asked_for_leaves(void **state)
{
	struct forgotten forgotten = {0};
	struct stack_store *store = stack_store__new(3, note, &forgotten);

	(void)state;
	add(store, 1, "a", 0);
	add(store, 2, "b", 0);
	add(store, 3, "c", 0);
	add(store, 4, "a", 0);
	assert_non_null(stack_store__find(store, 2));
	assert_int_equal(forgotten.count, 0);
	add(store, 5, "d", 0); /* c is evicted: b and a were requested later */
	assert_int_equal(forgotten.count, 1);
	assert_int_equal(forgotten.ids[0], 3);
	assert_null(stack_store__find(store, 3));
	add(store, 6, "e", 0); /* and now a, with both of its ids */
	assert_int_equal(forgotten.count, 3);
	assert_int_equal(forgotten.ids[1] + forgotten.ids[2], 1 + 4);
	assert_null(stack_store__find(store, 1));
	assert_null(stack_store__find(store, 4));
	assert_string_equal(stack_store__find(store, 2)->frames[0].function, "b");
	assert_int_equal(stack_store__count(store), 3);
	assert_int_equal(stack_store__evicted(store), 2);
	stack_store__free(store);
	assert_int_equal(forgotten.count, 3);
}

/* The ids of one stack are bounded, too. */
static void ids_are_bounded(void **state)
{
	struct forgotten forgotten = {0};
	struct stack_store *store = stack_store__new(2, note, &forgotten);

	(void)state;
	add(store, 100, "rare", 0);
	for (uint64_t id = 1; id <= 20; id++)
		add(store, id, "f", 0);
	assert_int_equal(forgotten.count, 13);
	assert_int_equal(forgotten.ids[0], 100);
	assert_int_equal(forgotten.ids[12], 13);
	assert_null(stack_store__find(store, 100));
	assert_null(stack_store__find(store, 13));
	assert_non_null(stack_store__find(store, 14));
	/* The first stands for the others, and stays. */
	assert_int_equal(stack_store__same(store, 20), 1);
	assert_int_equal(stack_store__same(store, 13), 13);
	assert_int_equal(stack_store__count(store), 1);
	assert_int_equal(stack_store__evicted(store), 1);
	stack_store__free(store);
}

static void an_id_is_of_one_process(void **state)
{
	struct stack_store *store = stack_store__new(4, NULL, NULL);
	const struct stack_owner later = {.start_ns = 6, .pid = 7},
				 other = {.start_ns = 5, .pid = 8};

	(void)state;
	add(store, 1, "f", 0);
	assert_true(stack_store__has(store, 1, &owner));
	assert_false(stack_store__has(store, 1, &later));
	assert_false(stack_store__has(store, 1, &other));
	assert_false(stack_store__has(store, 2, &owner));
	add(store, 1, "g", 0); /* replaces it */
	assert_string_equal(stack_store__find(store, 1)->frames[0].function, "g");
	assert_int_equal(stack_store__count(store), 1);
	assert_int_equal(stack_store__evicted(store), 0);
	stack_store__free(store);
}

static void what_an_id_stood_for_is_reported_anew(void **state)
{
	struct forgotten forgotten = {0};
	struct stack_store *store = stack_store__new(4, note, &forgotten);

	(void)state;
	add(store, 1, "f", 0);
	add(store, 2, "f", 0);
	assert_int_equal(stack_store__same(store, 2), 1);
	add(store, 1, "g", 0); /* another process's: its stack is no longer that of 2 */
	assert_int_equal(forgotten.count, 1);
	assert_int_equal(forgotten.ids[0], 2);
	assert_null(stack_store__find(store, 2));
	assert_int_equal(stack_store__same(store, 1), 1);
	add(store, 1, "g", 0);
	assert_int_equal(stack_store__count(store), 1);
	stack_store__free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_frames_are_one),
		cmocka_unit_test(ends_report_stacks_apart),
		cmocka_unit_test(the_longest_not_asked_for_leaves),
		cmocka_unit_test(ids_are_bounded),
		cmocka_unit_test(an_id_is_of_one_process),
		cmocka_unit_test(what_an_id_stood_for_is_reported_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
