// SPDX-License-Identifier: BSD-2-Clause
// Lines for calls that were in progress when tracing began: with which function, and with which
// stack.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/before.h"

static const struct stack_frame frames[] = {
	{.function = "poll", .object = "libc.so.6"},
	{.object = "libcuda.so.1", .offset = 0x1234},
	{.function = "cuOfTheFuture", .object = "libcuda.so.1"},
	{.function = "cuStreamSynchronize", .object = "libcuda.so.1"},
	{.function = "cudaStreamSynchronize", .object = "libcudart.so.13"},
	{.function = "step", .object = "train"},
	{.function = "cudaFree", .object = "train"},
};

#define BEYOND 5 /* the CUDA frames among them */

static const struct dump_thread in_call = {
	.tid = 7,
	.call = "cudaStreamSynchronize",
	.inner = "cuOfTheFuture",
	.beyond = BEYOND,
	.stack = {.serial = 1, .count = sizeof(frames) / sizeof(*frames), .frames = frames},
};

struct choice {
	struct trace_selection *selection;
	struct trace_functions *functions;
};

static struct choice choose(enum api_mode api, const char *words)
{
	struct choice choice = {trace_selection__new(api), trace_functions__new(false)};
	struct error err = {0};

	assert_non_null(choice.selection);
	assert_non_null(choice.functions);
	if (words)
		assert_int_equal(trace_selection__add(choice.selection, words, &err), 0);
	return choice;
}

static void clear(struct choice *choice)
{
	trace_selection__free(choice->selection);
	trace_functions__free(choice->functions);
}

/* It is shown as a call of the function in frame number `at`. */
static void expect_line(const struct choice *choice, size_t at)
{
	struct trace_line line;
	struct stack stack;

	assert_true(trace_before__line(&in_call, choice->selection, choice->functions, 99, &stack,
				       &line));
	assert_int_equal(line.kind, LINE_BEFORE);
	assert_string_equal(trace_function__symbol(line.function), frames[at].function);
	assert_int_equal(line.tid, 7);
	assert_int_equal(line.device, -1);
	assert_int_equal(line.field_count, 0);
	assert_ptr_equal(line.stack, &stack);
	assert_int_equal(stack.serial, 99);
	assert_ptr_equal(stack.frames, frames + at);
	assert_int_equal(stack.count, in_call.stack.count - at);
}

static void expect_none(const struct choice *choice, const struct dump_thread *thread)
{
	struct trace_line line;
	struct stack stack;

	assert_false(
		trace_before__line(thread, choice->selection, choice->functions, 0, &stack, &line));
}

static void the_outermost_that_is_traced(void **unused)
{
	static const struct {
		enum api_mode api;
		const char *words;
		size_t at;
	} cases[] = {
		{API_BOTH, NULL, 4},
		{API_RUNTIME, NULL, 4},
		{API_DRIVER, NULL, 3},
		{API_BOTH, "sync", 4},
		{API_BOTH, "cuStreamSynchronize", 3},
		{API_BOTH, "!cudaStreamSynchronize", 3},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct choice choice = choose(cases[i].api, cases[i].words);

		expect_line(&choice, cases[i].at);
		clear(&choice);
	}
}

/* Nor one whose name only the program's own function has. */
static void none_that_is_traced(void **unused)
{
	static const char *const words[] = {"memory", "cudaFree", "launch", "!sync",
					    "cuOfTheFuture"};

	(void)unused;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct choice choice = choose(API_BOTH, words[i]);

		expect_none(&choice, &in_call);
		clear(&choice);
	}
}

/* Once a library is found to export it, it has a row. */
static void one_that_the_table_does_not_know(void **unused)
{
	struct choice choice = choose(API_BOTH, "cuOfTheFuture");

	(void)unused;
	assert_true(trace_functions__add(choice.functions, "cuOfTheFuture", LAYER_DRIVER) >= 0);
	expect_line(&choice, 2);
	clear(&choice);
}

static void a_thread_in_no_call(void **unused)
{
	struct dump_thread thread = in_call;
	struct choice choice = choose(API_BOTH, "all");

	(void)unused;
	thread.call = thread.inner = NULL;
	expect_none(&choice, &thread);
	/* The stack could not be read. */
	thread = (struct dump_thread){.tid = 7, .no_stack = true};
	expect_none(&choice, &thread);
	clear(&choice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outermost_that_is_traced),
		cmocka_unit_test(none_that_is_traced),
		cmocka_unit_test(one_that_the_table_does_not_know),
		cmocka_unit_test(a_thread_in_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
