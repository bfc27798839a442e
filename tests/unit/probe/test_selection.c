// SPDX-License-Identifier: BSD-2-Clause
// Which query functions are probed, and where.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/api.h"
#include "model/model.h"
#include "probe/selection.h"

static bool wants(const struct selection *selection, const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	assert_true(row >= 0);
	return selection__wants(selection, &api_functions[row]);
}

static bool wants_return(const struct selection *selection, const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	assert_true(row >= 0);
	return selection__wants_return(selection, &api_functions[row].desc);
}

/* No command probes them unless it requests them. */
static void test_none(void **state)
{
	struct selection selection = {.sections = SECTION_ALL};

	(void)state;
	for (selection.api = API_AUTO; selection.api <= API_BOTH; selection.api++)
		for (size_t row = 0; row < api_function_count; row++)
			if (api_functions[row].desc.operation == OP_ASK)
				assert_false(selection__wants(&selection, &api_functions[row]));
}

/* Of libraries above CUDA, whichever layer of CUDA is watched, for all that has objects. */
static void test_libraries(void **state)
{
	struct selection selection = {.sections = SECTION_ALL};

	(void)state;
	for (selection.api = API_AUTO; selection.api <= API_BOTH; selection.api++) {
		assert_true(wants(&selection, "cublasCreate_v2"));
		assert_true(wants(&selection, "ncclCommAbort"));
		assert_true(wants_return(&selection, "ncclCommAbort"));
	}
	selection.sections = SECTION_MEMORY;
	assert_false(wants(&selection, "cublasCreate_v2"));
	selection.sections = SECTION_MEMORY | SECTION_OBJECTS;
	assert_true(wants(&selection, "cublasCreate_v2"));
}

static void test_asks(void **state)
{
	struct selection selection = {.sections = SECTION_ALL, .asks = true};

	(void)state;
	for (selection.api = API_AUTO; selection.api <= API_BOTH; selection.api++) {
		assert_true(wants(&selection, "cudaGetLastError"));
		assert_true(wants(&selection, "cudaGetErrorString"));
		assert_true(wants(&selection, "cuGetErrorName"));
		assert_false(wants(&selection, "cudaGetDevice"));
		assert_false(wants(&selection, "cuCtxGetCurrent"));
	}
	assert_false(wants_return(&selection, "cudaGetLastError"));
}

/*
 * If CUDA is unavailable, a program may call nothing else; a command that does not look for that
 * does not probe them.
 */
static void test_starts(void **state)
{
	static const bool runtime[] = {[API_AUTO] = true, [API_RUNTIME] = true, [API_BOTH] = true};
	static const bool driver[] = {[API_AUTO] = true, [API_DRIVER] = true, [API_BOTH] = true};
	struct selection selection = {.sections = SECTION_ALL};

	(void)state;
	for (int asks = 0; asks < 2; asks++) {
		selection.asks = asks;
		for (selection.api = API_AUTO; selection.api <= API_BOTH; selection.api++) {
			assert_int_equal(wants(&selection, "cuInit"),
					 asks && driver[selection.api]);
			assert_int_equal(wants(&selection, "cuDeviceGetCount"),
					 asks && driver[selection.api]);
			assert_int_equal(wants(&selection, "cudaInitDevice"),
					 asks && runtime[selection.api]);
			assert_int_equal(wants(&selection, "cudaGetDeviceCount"),
					 asks && runtime[selection.api]);
		}
	}
	assert_true(wants_return(&selection, "cuInit"));
	assert_true(wants_return(&selection, "cudaGetDeviceCount"));
}

static void test_getters(void **state)
{
	static const bool runtime[] = {[API_AUTO] = true, [API_RUNTIME] = true, [API_BOTH] = true};
	static const bool driver[] = {[API_AUTO] = true, [API_DRIVER] = true, [API_BOTH] = true};
	struct selection selection = {.sections = SECTION_ALL, .getters = true};

	(void)state;
	for (selection.api = API_AUTO; selection.api <= API_BOTH; selection.api++) {
		assert_int_equal(wants(&selection, "cudaGetDevice"), runtime[selection.api]);
		assert_int_equal(wants(&selection, "cuCtxGetCurrent"), driver[selection.api]);
		assert_false(wants(&selection, "cudaPeekAtLastError"));
	}
	assert_true(wants_return(&selection, "cudaGetDevice"));
	assert_true(wants_return(&selection, "cuCtxGetCurrent"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),	cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_asks),	cmocka_unit_test(test_starts),
		cmocka_unit_test(test_getters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
