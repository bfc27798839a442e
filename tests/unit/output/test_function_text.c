// SPDX-License-Identifier: BSD-2-Clause
// Function names in text for people.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "output/function_text.h"

static void expect_sentence(const char *text, const char *expected)
{
	char *made = NULL;
	size_t length;
	FILE *out = open_memstream(&made, &length);

	function_text__print_sentence(out, text);
	fclose(out);
	assert_string_equal(made, expected);
	free(made);
}

static void test_sentences(void **state)
{
	(void)state;
	expect_sentence("", "");
	expect_sentence("5 calls of cuMemFree_v2: CUDA_ERROR_INVALID_VALUE",
			"5 calls of cuMemFree: CUDA_ERROR_INVALID_VALUE");
	expect_sentence("cuMemAlloc_v2, cuMemAlloc", "cuMemAlloc, cuMemAlloc_v1");
	expect_sentence("my_cuMemAlloc_v2 cuMemAlloc_v22", "my_cuMemAlloc_v2 cuMemAlloc_v22");
	expect_sentence("stays (cudaMalloc)", "stays (cudaMalloc)");
	/* Hostile text is escaped throughout, and characters stay whole. */
	expect_sentence("a\x1b[2J \xc3\xa4 cuMemFree_v2\n", "a\\x1b[2J \xc3\xa4 cuMemFree\\n");
}

static void test_long_words(void **state)
{
	char word[4096];

	(void)state;
	memset(word, 'c', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	expect_sentence(word, word);
}

static void expect_row(const char *symbol, const char *expected)
{
	char *made = NULL;
	size_t length;
	FILE *out = open_memstream(&made, &length);

	function_text__print(out, (size_t)api__find(symbol, API_NEWEST));
	fclose(out);
	assert_string_equal(made, expected);
	free(made);
}

static void test_rows(void **state)
{
	(void)state;
	expect_row("cuMemcpyHtoD_v2", "cuMemcpyHtoD");
	expect_row("cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD_ptds");
	expect_row("cuMemcpyHtoD", "cuMemcpyHtoD_v1");
	expect_row("cudaMemcpy_ptds", "cudaMemcpy_ptds");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_long_words),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
