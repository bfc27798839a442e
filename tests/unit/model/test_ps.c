// SPDX-License-Identifier: BSD-2-Clause
// The order of the processes of `gpuprobe ps`, and what they are said to do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/ps.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define ROWS 8

/* --- order --- */

struct family {
	struct ps ps;
	struct process processes[ROWS];
	struct process_gpu gpus[ROWS];
};

/* Starts in the order of the calls. */
static void add(struct family *family, pid_t pid, pid_t ancestor, uint64_t bytes)
{
	size_t i = family->ps.count++;

	family->gpus[i] = (struct process_gpu){.used_bytes = bytes};
	family->processes[i] = (struct process){
		.pid = pid, .start_ns = 100 + i, .gpus = &family->gpus[i], .gpu_count = 1};
	family->ps.rows[i] = (struct ps_row){
		.process = &family->processes[i], .context = PS_HAS_CONTEXT, .ancestor = ancestor};
}

static void begin(struct family *family)
{
	*family = (struct family){0};
	family->ps.rows = calloc(ROWS, sizeof(*family->ps.rows));
	assert_non_null(family->ps.rows);
}

/* The pids in their order, each with its depth: "10:0 11:1". */
static void expect_order(struct family *family, const char *expected)
{
	char text[256] = "";

	for (size_t i = 0; i < family->ps.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d:%u", i ? " " : "",
			 family->ps.rows[i].process->pid, family->ps.rows[i].depth);
	assert_string_equal(text, expected);
	free(family->ps.rows);
}

static void test_memory_then_pid(void **state)
{
	struct family family;

	(void)state;
	begin(&family);
	add(&family, 12, 0, 5);
	add(&family, 11, 0, GPU_UNKNOWN_BYTES);
	add(&family, 10, 0, 5);
	add(&family, 13, 0, 9);
	ps__sort(&family.ps);
	expect_order(&family, "13:0 10:0 12:0 11:0");
}

/* The launcher has no memory of its own; its family has more than the big process beside it. */
static void test_tree(void **state)
{
	struct family family;

	(void)state;
	begin(&family);
	add(&family, 10, 1, 0);
	add(&family, 20, 0, 70);
	add(&family, 11, 10, 40);
	add(&family, 12, 10, 50);
	add(&family, 13, 11, 0);
	assert_int_equal(ps__sort_as_tree(&family.ps), 0);
	expect_order(&family, "10:0 12:1 11:1 13:2 20:0");
}

/* Pids that changed hands while they were read: a cycle, and a child older than its parent. */
static void test_impossible_ancestors(void **state)
{
	struct family family;

	(void)state;
	begin(&family);
	add(&family, 10, 11, 1);
	add(&family, 11, 10, 2);
	add(&family, 12, 12, 9);
	assert_int_equal(ps__sort_as_tree(&family.ps), 0);
	expect_order(&family, "12:0 10:0 11:1");
}

static void test_empty_tree(void **state)
{
	struct family family;

	(void)state;
	begin(&family);
	assert_int_equal(ps__sort_as_tree(&family.ps), 0);
	expect_order(&family, "");
}

/* --- state --- */

static struct ps_row judged(struct dump_thread *threads, size_t count)
{
	struct dump_process look = {.threads = threads, .thread_count = count};
	struct ps_row row = {0};

	for (size_t i = 0; i < count; i++) {
		threads[i].tid = 100 + (pid_t)i;
		look.in_cuda += threads[i].call || threads[i].by;
	}
	ps_row__judge(&row, &look);
	return row;
}

#define JUDGE(...) \
	judged((struct dump_thread[]){__VA_ARGS__}, COUNT(((struct dump_thread[]){__VA_ARGS__})))
#define THREAD(...) ((struct dump_thread){__VA_ARGS__})
#define ASLEEP THREAD(.run = DUMP_SLEEPS)
#define LAUNCHING THREAD(.run = DUMP_RUNS, .call = "cudaLaunchKernel")
#define SPINNING THREAD(.run = DUMP_RUNS, .call = "cudaStreamSynchronize")
#define COLLECTIVE THREAD(.run = DUMP_SLEEPS, .call = "cuLaunchKernel", .by = "ncclAllReduce")

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(JUDGE(ASLEEP, ASLEEP).state, PS_IDLE);
	assert_int_equal(JUDGE(ASLEEP, THREAD(.run = DUMP_READY)).state, PS_RUNNING);
	assert_int_equal(JUDGE(ASLEEP, LAUNCHING).state, PS_RUNNING);
	assert_int_equal(JUDGE(ASLEEP, SPINNING).state, PS_WAITING);
	assert_int_equal(JUDGE(COLLECTIVE, LAUNCHING).state, PS_WAITING);
	assert_int_equal(JUDGE(THREAD(.run = DUMP_STOPPED), SPINNING).state, PS_STOPPED);
	assert_int_equal(JUDGE(THREAD(.run = DUMP_FROZEN)).state, PS_STOPPED);
	assert_false(JUDGE(ASLEEP, ASLEEP).blocked);
	assert_true(JUDGE(ASLEEP, THREAD(.run = DUMP_SLEEPS_ON)).blocked);
	assert_false(JUDGE(LAUNCHING, THREAD(.run = DUMP_SLEEPS_ON)).blocked);
}

static void test_unseen_threads_may_do_anything(void **state)
{
	struct dump_thread thread = ASLEEP;
	const struct dump_process look = {.threads = &thread, .thread_count = 1, .unseen = 3};
	struct ps_row row = {0};

	(void)state;
	ps_row__judge(&row, &look);
	assert_int_equal(row.state, PS_UNKNOWN);
	assert_int_equal(row.threads, 4);
}

static void test_the_most_important_thread(void **state)
{
	struct ps_row row = JUDGE(LAUNCHING, ASLEEP, COLLECTIVE, SPINNING);

	(void)state;
	assert_string_equal(ps_row__call(&row), "ncclAllReduce");
	assert_string_equal(row.call, "cuLaunchKernel");
	assert_int_equal(row.call_tid, 102);
	assert_int_equal(row.in_cuda, 3);
	row = JUDGE(ASLEEP, ASLEEP);
	assert_null(ps_row__call(&row));
	assert_int_equal(row.call_tid, 0);
}

/* Only with a GPU of its own, and if each of them is known to have done nothing. */
static void test_stuck(void **state)
{
	struct gpu gpus[2] = {{.busy_percent = 0}, {.busy_percent = 7}};
	const struct ps ps = {.model = {.gpus = gpus, .gpu_count = 2}};
	struct ps_row row = JUDGE(SPINNING);

	(void)state;
	assert_false(ps_row__seems_stuck(&ps, &row));
	row.on_gpus[0] = 1;
	assert_true(ps_row__seems_stuck(&ps, &row));
	row.on_gpus[0] = 3;
	assert_false(ps_row__seems_stuck(&ps, &row));
	row.on_gpus[0] = 1;
	gpus[0].busy_percent = GPU_UNKNOWN_PERCENT;
	assert_false(ps_row__seems_stuck(&ps, &row));
	gpus[0].busy_percent = 0;
	row.state = PS_RUNNING;
	assert_false(ps_row__seems_stuck(&ps, &row));
}

static void test_notes_are_bounded(void **state)
{
	struct ps ps = {0};

	(void)state;
	for (int i = 0; i < 2 * PS_NOTES_MAX; i++)
		ps__note(&ps, "%0*d", 2 * PS_NOTE_SIZE, i);
	assert_int_equal(ps.note_count, PS_NOTES_MAX);
	assert_int_equal(strlen(ps.notes[0]), PS_NOTE_SIZE - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_then_pid),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_impossible_ancestors),
		cmocka_unit_test(test_empty_tree),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_unseen_threads_may_do_anything),
		cmocka_unit_test(test_the_most_important_thread),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_notes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
