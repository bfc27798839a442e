// SPDX-License-Identifier: BSD-2-Clause
// Text in memory, with and without memory to allocate.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text_stream.h"

#ifndef GPUPROBE_SANITIZED /* it has its own allocation functions */
/* Larger requests than this fail. */
static size_t limit = SIZE_MAX;

void *__libc_realloc(void *old, size_t size);

void *realloc(void *old, size_t size)
{
	return size > limit ? NULL : __libc_realloc(old, size);
}
#endif

static void test_empty(void **state)
{
	size_t length = 7;
	char *text;
	FILE *out = text_stream__open(&text, &length);

	(void)state;
	assert_non_null(out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "");
	assert_int_equal(length, 0);
	free(text);
}

static void test_reports_where_it_is(void **state)
{
	size_t length;
	char *text;
	FILE *out = text_stream__open(&text, &length);

	(void)state;
	assert_int_equal(ftell(out), 0);
	for (long i = 0; i < 20000; i++) {
		assert_int_equal(ftell(out), i);
		fputc('x', out);
	}
	assert_int_equal(fclose(out), 0);
	assert_int_equal(length, 20000);
	free(text);
}

static void write_lines(FILE *out, int count)
{
	for (int i = 0; i < count; i++)
		fprintf(out, "line %d\n", i);
}

static void test_grows(void **state)
{
	size_t length, expected = 0;
	char *text, line[32], *at;
	FILE *out = text_stream__open(&text, &length);

	(void)state;
	write_lines(out, 20000);
	assert_int_equal(fclose(out), 0);
	at = text;
	for (int i = 0; i < 20000; i++) {
		size_t size = (size_t)snprintf(line, sizeof(line), "line %d\n", i);

		assert_memory_equal(at, line, size);
		at += size;
		expected += size;
	}
	assert_int_equal(length, expected);
	assert_int_equal(*at, '\0');
	free(text);
}

#ifndef GPUPROBE_SANITIZED
/* Whichever part did not fit: no text rather than a partial one. */
static void test_without_memory(void **state)
{
	size_t length;
	char *text;
	FILE *out = text_stream__open(&text, &length);

	(void)state;
	limit = 20000;
	write_lines(out, 20000);
	assert_int_equal(fclose(out), EOF);
	limit = SIZE_MAX;
	assert_null(text);
}

/* The last piece, which is only written by fclose. */
static void test_without_memory_at_the_end(void **state)
{
	size_t length;
	char *text;
	FILE *out = text_stream__open(&text, &length);

	(void)state;
	limit = 1000;
	write_lines(out, 200);
	assert_int_equal(fclose(out), EOF);
	limit = SIZE_MAX;
	assert_null(text);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_reports_where_it_is),
#ifndef GPUPROBE_SANITIZED
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_without_memory_at_the_end),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
