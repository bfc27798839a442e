// SPDX-License-Identifier: BSD-2-Clause
// What repeats in the launches of a thread, and the names of the kernels in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "finding_launches.h"

static size_t period_of(const struct thread_account *thread)
{
	struct sequence sequence;

	sequence__find(thread, &sequence);
	return sequence.period;
}

static void sequences(void **state)
{
	struct thread_account thread = {0};
	struct sequence sequence;

	(void)state;
	assert_int_equal(period_of(&thread), 0);
	rounds(&thread, "abc", 1);
	assert_int_equal(period_of(&thread), 0);
	rounds(&thread, "abc", 1);
	assert_int_equal(period_of(&thread), 3);
	/* The ring goes round many times, and cuts a round in two. */
	rounds(&thread, "abc", 1000);
	sequence__find(&thread, &sequence);
	assert_int_equal(sequence.period, 3);
	assert_true(sequence.share == 1);
	thread = (struct thread_account){0};
	rounds(&thread, "a", 600);
	assert_int_equal(period_of(&thread), 1);
	/* Mostly one kernel, but the whole round is what repeats. */
	thread = (struct thread_account){0};
	rounds(&thread, "aaaaaaaaaaaaaaaaaaab", 30);
	assert_int_equal(period_of(&thread), 20);
}

static void sequences_are_interrupted(void **state)
{
	struct thread_account thread = {0};
	struct sequence sequence;

	(void)state;
	for (int i = 0; i < 300; i++) {
		rounds(&thread, "abcdefgh", 10);
		/* What is printed now and then; never the same. */
		launch(&thread, 1000 + (uint64_t)i);
	}
	sequence__find(&thread, &sequence);
	assert_int_equal(sequence.period, 8);
	assert_true(sequence.share > 0.85 && sequence.share < 0.95);
	for (int i = 0; i < 8; i++)
		assert_true(sequence.handles[i] >= 'a' && sequence.handles[i] <= 'h');
}

static void nothing_repeats(void **state)
{
	struct thread_account thread = {0};
	uint64_t random = 1;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		launch(&thread, i);
	assert_int_equal(period_of(&thread), 0);
	thread = (struct thread_account){0};
	for (int i = 0; i < 1000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		launch(&thread, random >> 61);
	}
	assert_int_equal(period_of(&thread), 0);
	/* One half repeats, the other does not. */
	thread = (struct thread_account){0};
	rounds(&thread, "abcd", 64);
	for (uint64_t i = 0; i < SEQUENCE_KEPT / 2; i++)
		launch(&thread, 1000 + i);
	assert_int_equal(period_of(&thread), 0);
}

static void sequences_have_names(void **state)
{
	struct process process = {0};
	struct sequence sequence = {.period = 5, .handles = {1, 2, 2, 3, 4}};
	char *text;

	(void)state;
	name_kernel(&process, 1, "gemm");
	name_kernel(&process, 2, "relu");
	name_kernel(&process, 3, NULL);
	text = sequence__text(&sequence, &process);
	assert_string_equal(text, "5 launches: gemm, relu x2, (unnamed), (graph)");
	free(text);
	sequence.period = SEQUENCE_KEPT / 2;
	for (size_t i = 0; i < sequence.period; i++) {
		char name[400];

		snprintf(name, sizeof(name), "kernel%zu%0350d", i, 0);
		name_kernel(&process, 100 + i, name);
		sequence.handles[i] = 100 + i;
	}
	text = sequence__text(&sequence, &process);
	assert_true(strlen(text) < 8 * 50 + 40);
	assert_non_null(strstr(text, "256 launches: kernel0000"));
	assert_string_equal(text + strlen(text) - 5, ", ...");
	free(text);
	kernel_table__free(process.kernel_table);
}

/* A handle keeps its name when its process has ended, and stands for the latest kernel. */
static void handles_outlast_their_maps(void **state)
{
	struct launch_key first = {.kernel = {.handle = 5}}, second = {.kernel = {.handle = 5, .generation = 1}};
	struct kernel_table *table = kernel_table__new();
	const char *brief;

	(void)state;
	assert_false(kernel_table__knows(table, 5, &brief));
	assert_int_equal(kernel_table__set(table, &first, 1, "old"), 0);
	assert_int_equal(kernel_table__fold(table, &first), 0);
	assert_true(kernel_table__knows(table, 5, &brief));
	assert_string_equal(brief, "old");
	assert_int_equal(kernel_table__set(table, &first, 1, "old"), 0);
	assert_int_equal(kernel_table__set(table, &second, 1, "new"), 0);
	assert_true(kernel_table__knows(table, 5, &brief));
	assert_string_equal(brief, "new");
	assert_int_equal(kernel_table__fold(table, &second), 0);
	assert_true(kernel_table__knows(table, 5, &brief));
	assert_string_equal(brief, "new");
	assert_int_equal(kernel_table__fold(table, &first), 0);
	assert_int_equal(kernel_table__set(table, &second, 1, "new"), 0);
	assert_int_equal(kernel_table__set(table, &first, 1, "old"), 0);
	assert_true(kernel_table__knows(table, 5, &brief));
	assert_string_equal(brief, "new");
	assert_int_equal(kernel_table__fold(table, &first), 0);
	assert_int_equal(kernel_table__fold(table, &second), 0);
	assert_true(kernel_table__knows(table, 5, &brief));
	assert_string_equal(brief, "new");
	for (uint64_t i = 0; i < 5000; i++) {
		struct launch_key key = {.kernel.handle = 100 + i};

		assert_int_equal(kernel_table__set(table, &key, 1, "many"), 0);
		assert_int_equal(kernel_table__fold(table, &key), 0);
	}
	assert_false(kernel_table__knows(table, 5, &brief));
	assert_true(kernel_table__knows(table, 5099, &brief));
	kernel_table__free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences),
		cmocka_unit_test(sequences_are_interrupted),
		cmocka_unit_test(nothing_repeats),
		cmocka_unit_test(sequences_have_names),
		cmocka_unit_test(handles_outlast_their_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
