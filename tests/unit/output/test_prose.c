// SPDX-License-Identifier: BSD-2-Clause
// Lines that are wider than the terminal (output/prose.h), and the width of sentences.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/width.h"
#include "output/prose.h"
#include "output/wrap.h"

static void expect(const char *text, size_t width, const char *expected)
{
	char *got = NULL, *changed = strdup(text);
	size_t length = 0;
	FILE *out = open_memstream(&got, &length);

	prose__print(out, changed, width);
	fclose(out);
	assert_string_equal(got, expected);
	free(changed);
	free(got);
}

/* Sentences have a width that is easy to read, however wide the terminal is. */
static void sentences_end_early(void **state)
{
	(void)state;
	assert_int_equal(wrap__width(80), 80);
	assert_int_equal(wrap__width(100), 100);
	assert_int_equal(wrap__width(160), 100);
	assert_int_equal(wrap__width(0), 100);
}

/* Each line stays one, or goes on two columns further right. */
static void wraps_each_line(void **state)
{
	static const char rows[] = "threads\n"
				   "  thread 12 main   in cudaMalloc\n"
				   "    main (main.c:12)\n"
				   "\n"
				   "kernels\n"
				   "  gemm\n";

	(void)state;
	expect(rows, 100, rows);
	expect(rows, 40, rows);
	expect(rows, 20,
	       "threads\n"
	       "  thread 12 main in\n"
	       "    cudaMalloc\n"
	       "    main (main.c:12)\n"
	       "\n"
	       "kernels\n"
	       "  gemm\n");
	expect("", 20, "");
}

/* The text of a row stays in its column, if there is room behind its head. */
static void keeps_columns(void **state)
{
	static const char row[] =
		"    copies      24.0/s, 2.4 MB/s to the device, 0 B/s to the host\n";

	(void)state;
	expect(row, 80, row);
	expect(row, 50,
	       "    copies      24.0/s, 2.4 MB/s to the device,\n"
	       "                0 B/s to the host\n");
	expect("  846 us  78.2 %  waiting for a queue         main (training.c:59), 1 a step\n", 72,
	       "  846 us  78.2 %  waiting for a queue         main (training.c:59), 1 a\n"
	       "                                              step\n");
	expect(row, 30,
	       "    copies 24.0/s, 2.4 MB/s to\n"
	       "      the device, 0 B/s to the\n"
	       "      host\n");
}

/* Wide characters count twice, and a word without room stays whole. */
static void measures_columns(void **state)
{
	(void)state;
	expect("ab \u8a13\u7df4 c\n", 7, "ab \u8a13\u7df4\n  c\n");
	expect("ab \u8a13\u7df4 c\n", 9, "ab \u8a13\u7df4 c\n");
	expect("a bbbbbbbbbbbb c\n", 6, "a\n  bbbbbbbbbbbb\n  c\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences_end_early),
		cmocka_unit_test(wraps_each_line),
		cmocka_unit_test(keeps_columns),
		cmocka_unit_test(measures_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
