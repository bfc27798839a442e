// SPDX-License-Identifier: BSD-2-Clause
// The sequence that a thread's launches repeat, and the names of the kernels in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "finding_launches.h"

/* The thread's own sequence; number and start identify the thread. */
static void of_a_thread(void **state)
{
	const struct thread_profile threads[] = {
		{.tid = 7, .start_ns = 1}, {.tid = 7, .start_ns = 2}, {.tid = 8, .start_ns = 1}};
	struct process process = {0};
	struct sequence sequence;

	(void)state;
	sequence__find(&process, &threads[0], &sequence);
	assert_int_equal(sequence.period, 0);
	repeats(&process, &threads[0], "abc");
	repeats(&process, &threads[1], "gh");
	sequence__find(&process, &threads[0], &sequence);
	assert_int_equal(sequence.period, 3);
	assert_int_equal(sequence.handles[2], 'c');
	assert_true(sequence.share == 1);
	sequence__find(&process, &threads[1], &sequence);
	assert_int_equal(sequence.period, 2);
	sequence__find(&process, &threads[2], &sequence);
	assert_int_equal(sequence.period, 0);
	process_steps__free(process.steps);
}

/* Other work between steps is not part of them; a thread without steps has no sequence. */
static void with_other_things(void **state)
{
	const struct thread_profile thread = {.tid = 7};
	struct thread_profile sampled = thread;
	struct process process = {0};
	struct sequence sequence;
	struct step_thread *steps = repeats(&process, &thread, "abcd");

	(void)state;
	sampled.launches = 5 * (steps->phases[0].steps + 1);
	step_phase__add(&steps->phases[0], BEGAN + 199 * NS_PER_MS, NS_PER_MS);
	sequence__find(&process, &thread, &sequence);
	assert_true(sequence.share > 0.504 && sequence.share < 0.506);
	process.family_calls[RATE_LAUNCH].sampled = true;
	sequence__find(&process, &sampled, &sequence);
	assert_true(sequence.share == 0.8); /* of its launches: that part of them */
	steps->phases[0] = (struct step_phase){.anchor.launches = 4};
	sequence__find(&process, &thread, &sequence);
	assert_int_equal(sequence.period, 0);
	process_steps__free(process.steps);
}

static void sequences_have_names(void **state)
{
	struct process process = {0};
	uint64_t few[] = {1, 2, 2, 3, 4}, many[256];
	struct sequence sequence = {.period = 5, .handles = few};
	char gemm[] = "gemm", whole[] = "void gemm<float>(int)";
	struct kernel kernels[] = {{.is_rest = true}, {.label = gemm, .name = whole}};
	char *text;

	(void)state;
	name_kernel(&process, 1, "gemm");
	name_kernel(&process, 2, "relu");
	name_kernel(&process, 3, NULL);
	text = sequence__text(&sequence, &process, false);
	assert_string_equal(text, "5 launches: gemm, relu x2, (unnamed), (graph)");
	free(text);
	process.kernels = kernels;
	process.kernel_count = 2;
	text = sequence__text(&sequence, &process, true);
	assert_string_equal(text, "5 launches: void gemm<float>(int), relu x2, (unnamed), (graph)");
	free(text);
	sequence.period = 256;
	sequence.handles = many;
	for (size_t i = 0; i < sequence.period; i++) {
		char name[400];

		snprintf(name, sizeof(name), "kernel%zu%0350d", i, 0);
		name_kernel(&process, 100 + i, name);
		many[i] = 100 + i;
	}
	text = sequence__text(&sequence, &process, false);
	assert_true(strlen(text) < 8 * 62 + 40);
	assert_non_null(strstr(text, "256 launches: kernel0000"));
	assert_string_equal(text + strlen(text) - 5, ", ...");
	free(text);
	kernel_table__free(process.kernel_table);
}

/* A handle keeps its name after its process has ended, and stands for the latest kernel. */
static void handles_outlast_their_maps(void **state)
{
	struct launch_key first = {.kernel = {.handle = 5}},
			  second = {.kernel = {.handle = 5, .generation = 1}};
	struct kernel_table *table = kernel_table__new();
	const char *label;

	(void)state;
	assert_false(kernel_table__knows(table, 5, &label));
	assert_int_equal(kernel_table__set(table, &first, 1, "old"), 0);
	assert_int_equal(kernel_table__fold(table, &first), 0);
	assert_true(kernel_table__knows(table, 5, &label));
	assert_string_equal(label, "old");
	assert_int_equal(kernel_table__set(table, &first, 1, "old"), 0);
	assert_int_equal(kernel_table__set(table, &second, 1, "new"), 0);
	assert_true(kernel_table__knows(table, 5, &label));
	assert_string_equal(label, "new");
	assert_int_equal(kernel_table__fold(table, &second), 0);
	assert_true(kernel_table__knows(table, 5, &label));
	assert_string_equal(label, "new");
	assert_int_equal(kernel_table__fold(table, &first), 0);
	assert_int_equal(kernel_table__set(table, &second, 1, "new"), 0);
	assert_int_equal(kernel_table__set(table, &first, 1, "old"), 0);
	assert_true(kernel_table__knows(table, 5, &label));
	assert_string_equal(label, "new");
	assert_int_equal(kernel_table__fold(table, &first), 0);
	assert_int_equal(kernel_table__fold(table, &second), 0);
	assert_true(kernel_table__knows(table, 5, &label));
	assert_string_equal(label, "new");
	for (uint64_t i = 0; i < 5000; i++) {
		struct launch_key key = {.kernel.handle = 100 + i};

		assert_int_equal(kernel_table__set(table, &key, 1, "many"), 0);
		assert_int_equal(kernel_table__fold(table, &key), 0);
	}
	assert_false(kernel_table__knows(table, 5, &label));
	assert_true(kernel_table__knows(table, 5099, &label));
	kernel_table__free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_thread),
		cmocka_unit_test(with_other_things),
		cmocka_unit_test(sequences_have_names),
		cmocka_unit_test(handles_outlast_their_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
