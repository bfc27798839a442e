// SPDX-License-Identifier: BSD-2-Clause
// Sentences for another width than they were written for (output/prose.h).
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

#define SENTENCE \
	"the GPU waits for the program: it is idle at least 71.0 % of the steady time (proved), " \
	"busy " \
	"about 15.0 % (NVML), and holds the program up for 2.0 % of 60.0 s"

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

/* The caller frees it. */
static char *wrapped(int indent, int width)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	wrap__print(out, SENTENCE, indent, 2, width);
	fclose(out);
	return text;
}

static void wraps_a_sentence_anew(void **state)
{
	static const size_t widths[] = {40, 60, 80, 99};

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		char *written = wrapped(4, PROSE_WIDTH), *wanted = wrapped(4, (int)widths[i]);

		expect(written, widths[i], wanted);
		free(written);
		free(wanted);
	}
}

/* Titles and rows keep their lines, although rows begin two columns further right. */
static void joins_no_rows(void **state)
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
		cmocka_unit_test(wraps_a_sentence_anew),
		cmocka_unit_test(joins_no_rows),
		cmocka_unit_test(keeps_columns),
		cmocka_unit_test(measures_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
