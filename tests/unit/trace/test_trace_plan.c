// SPDX-License-Identifier: BSD-2-Clause
// The plans of all functions: that they fit the limits and keep what is shown.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "both_functions.h"

/* The maximum kept of a call, without kernel arguments and stack. */
static size_t payload_of(const struct trace_plan *plan)
{
	size_t size = plan->words * 8u + (plan->flags & TRACE_PLAN_KERNEL ? 8 : 0), i;

	for (i = 0; i < plan->reads; i++)
		size += 2 + (plan->read[i].kind == TRACE_READ_BYTES ? plan->read[i].size :
								      TRACE_STRING_SIZE + 1);
	return size;
}

static void check_limits(const struct trace_function *function)
{
	const struct trace_plan *plan = &function->plan;
	size_t i;

	assert_true(plan->words <= TRACE_WORDS);
	assert_true(plan->reads <= TRACE_READS);
	assert_true(payload_of(plan) <= TRACE_PAYLOAD_MAX);
	assert_true(function->step_count < TRACE_FIELDS_MAX);
	for (i = 0; i < plan->reads; i++) {
		assert_true(plan->read[i].word < plan->words);
		if (plan->read[i].kind == TRACE_READ_BYTES)
			assert_in_range(plan->read[i].size, 1, TRACE_BLOCK_MAX);
		else
			assert_int_equal(plan->read[i].size, 0);
		assert_non_null(function->block[i].name);
	}
	if (plan->flags & TRACE_PLAN_KERNEL)
		assert_true(plan->kernel_word < plan->words);
	else
		assert_int_equal(plan->kernel_word, TRACE_NO_WORD);
	if (plan->flags & TRACE_PLAN_ARGS) {
		assert_true(plan->args_word < plan->words);
		assert_true(plan->extra_word == TRACE_NO_WORD || plan->extra_word < plan->words);
	}
}

/* Every step's bytes are among those that the plan keeps; a descriptor has several fields. */
static void check_steps(const struct trace_function *function)
{
	const struct trace_plan *plan = &function->plan;
	const struct trace_step *step = function->steps, *end = step + function->step_count;

	for (; step < end; step++) {
		assert_non_null(step->name);
		assert_true(step->unit > 0);
		if (step->block == STEP_FROM_WORDS) {
			assert_true(step->offset + step->size <= plan->words * 8u);
			continue;
		}
		assert_true(step->block < plan->reads);
		if (plan->read[step->block].kind == TRACE_READ_BYTES)
			assert_true(step->offset + step->size <= plan->read[step->block].size);
	}
}

static void test_all_rows(void **state)
{
	const struct state *both = *state;
	uint32_t row;

	assert_int_equal(trace_functions__count(both->plain), api_function_count);
	for (row = 0; row < api_function_count; row++) {
		const struct trace_function *plain = trace_functions__at(both->plain, row);

		assert_string_equal(trace_function__symbol(plain), api_functions[row].symbol);
		assert_int_equal(trace_function__plan(plain)->layer, api_functions[row].desc.layer);
		check_limits(plain);
		check_steps(plain);
		check_limits(trace_functions__at(both->with_args, row));
		assert_false(plain->plan.flags & TRACE_PLAN_ARGS);
	}
	assert_null(trace_functions__at(both->plain, row));
}

/* Every argument of a call other than a launch is shown, or the data that it points to. */
static void test_all_arguments(void **state)
{
	const struct state *both = *state;
	uint32_t row;
	unsigned int i, j;

	for (row = 0; row < api_function_count; row++) {
		const struct api_function *api = &api_functions[row];
		const struct trace_function *function = trace_functions__at(both->plain, row);

		if (function->operation == OP_LAUNCH)
			continue;
		for (i = 0; i < api->argument_count; i++) {
			uint8_t word = api->arguments[i].word;
			bool shown = word == LOCATION_NONE;

			for (j = 0; j < function->step_count && !shown; j++) {
				const struct trace_step *step = &function->steps[j];

				shown = step->block == STEP_FROM_WORDS ?
						step->offset / 8 == word &&
							step->form != FORM_UNKNOWN :
						function->plan.read[step->block].word == word;
			}
			if (!shown)
				fail_msg("%s.%s is not shown", api->symbol, api->arguments[i].name);
		}
	}
}

static const struct trace_plan *plan_of(const struct trace_functions *functions, const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	if (row < 0)
		fail_msg("%s is not in the table", symbol);
	return trace_function__plan(trace_functions__at(functions, (uint32_t)row));
}

static void test_launches(void **state)
{
	static const struct {
		const char *symbol;
		uint8_t words, words_with_args, kernel, args, extra;
	} launches[] = {
		{"cudaLaunchKernel", 8, 8, 0, 5, TRACE_NO_WORD},
		{"cudaLaunchKernel_ptsz", 8, 8, 0, 5, TRACE_NO_WORD},
		{"__cudaLaunchKernel", 8, 8, 0, 5, TRACE_NO_WORD},
		{"cudaLaunchCooperativeKernel", 8, 8, 0, 5, TRACE_NO_WORD},
		{"cudaLaunchKernelExC", 2, 3, 1, 2, TRACE_NO_WORD},
		{"cuLaunchKernel", 9, 11, 0, 9, 10},
		{"cuLaunchCooperativeKernel_ptsz", 9, 10, 0, 9, TRACE_NO_WORD},
		{"cuLaunchKernelEx", 2, 4, 1, 2, 3},
		{"cuLaunch", 1, 1, 0, TRACE_NO_WORD, TRACE_NO_WORD},
	};
	const struct state *both = *state;
	size_t i;

	for (i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
		const struct trace_plan *plain = plan_of(both->plain, launches[i].symbol);
		const struct trace_plan *with_args = plan_of(both->with_args, launches[i].symbol);

		assert_int_equal(plain->flags, TRACE_PLAN_KERNEL);
		assert_int_equal(plain->words, launches[i].words);
		assert_int_equal(plain->args_word, TRACE_NO_WORD);
		assert_int_equal(with_args->words, launches[i].words_with_args);
		assert_int_equal(with_args->kernel_word, launches[i].kernel);
		assert_int_equal(with_args->args_word, launches[i].args);
		assert_int_equal(with_args->extra_word, launches[i].extra);
	}
}

/* The calls after which a kernel's handle may mean another kernel. */
static void test_ends(void **state)
{
	static const char *const ends[] = {"cuModuleUnload",
					   "cuLibraryUnload",
					   "cudaLibraryUnload",
					   "cuCtxDestroy_v2",
					   "cudaDeviceReset",
					   "cuDevicePrimaryCtxReset_v2",
					   "cuDevicePrimaryCtxRelease_v2",
					   "cuGreenCtxDestroy"};
	static const char *const others[] = {"cudaMalloc", "cudaStreamDestroy", "cuCtxCreate_v2",
					     "cuCtxSetCurrent"};
	const struct state *both = *state;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		assert_int_equal(plan_of(both->plain, ends[i])->flags, TRACE_PLAN_ENDS);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(plan_of(both->plain, others[i])->flags, 0);
}

static void test_returns(void **state)
{
	static const struct {
		const char *symbol;
		enum trace_returns returns;
	} functions[] = {
		{"cudaMalloc", TRACE_RETURNS_ERROR},
		{"cudaGetLastError", TRACE_RETURNS_EARLIER},
		{"cudaPeekAtLastError", TRACE_RETURNS_EARLIER},
		{"cudaGetErrorString", TRACE_RETURNS_VALUE},
		{"cudaGetErrorName", TRACE_RETURNS_VALUE},
		{"__cudaRegisterFatBinary", TRACE_RETURNS_VALUE},
		{"__cudaRegisterFunction", TRACE_RETURNS_NOTHING},
		{"cudaCreateChannelDesc", TRACE_RETURNS_NOTHING},
		{"cuGetErrorString", TRACE_RETURNS_ERROR},
	};
	const struct state *both = *state;
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_int_equal(plan_of(both->plain, functions[i].symbol)->returns,
				 functions[i].returns);
}

/* Functions that the table does not know. */
static void test_add(void **state)
{
	struct trace_functions *functions = trace_functions__new(false);
	char symbol[32] = "cuSomethingNew";
	const struct trace_function *added;
	int row;

	(void)state;
	assert_non_null(functions);
	row = trace_functions__add(functions, symbol, LAYER_DRIVER);
	assert_int_equal(row, api_function_count);
	assert_int_equal(trace_functions__add(functions, symbol, LAYER_DRIVER), row);
	assert_int_equal(trace_functions__add(functions, symbol, LAYER_RUNTIME), row + 1);
	strcpy(symbol, "overwritten");
	added = trace_functions__at(functions, (uint32_t)row);
	assert_string_equal(trace_function__symbol(added), "cuSomethingNew");
	assert_int_equal(trace_function__operation(added), OP_NONE);
	assert_int_equal(trace_function__layer(added), LAYER_DRIVER);
	assert_int_equal(trace_function__returns(added), TRACE_RETURNS_ERROR);
	assert_int_equal(trace_function__plan(added)->words, 6);
	assert_int_equal(added->step_count, 6);
	while (trace_functions__count(functions) < MAX_FUNCTIONS) {
		snprintf(symbol, sizeof(symbol), "cuNew%zu", trace_functions__count(functions));
		assert_true(trace_functions__add(functions, symbol, LAYER_DRIVER) > row);
	}
	assert_int_equal(trace_functions__add(functions, "cuOneMore", LAYER_DRIVER), -ENOSPC);
	assert_ptr_equal(trace_functions__at(functions, (uint32_t)row), added);
	trace_functions__free(functions);
	trace_functions__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_rows), cmocka_unit_test(test_all_arguments),
		cmocka_unit_test(test_launches), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_returns),	 cmocka_unit_test(test_add),
	};

	return cmocka_run_group_tests_name("trace plan", tests, set_up, tear_down);
}
