// SPDX-License-Identifier: BSD-2-Clause
// Columns of text on a terminal (base/width.h).
#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/escape.h"
#include "base/width.h"

#define WIDE "\u8a13\u7df4"	 /* of two columns each */
#define COMBINED "e\u0301\u0301" /* of one column */
#define EMOJI "\U0001f525"

/* By how many characters other versions of Unicode may differ from the table. */
#define UNICODE_CHANGES 1000

static void expect_first(const char *text, enum width_form form, size_t bytes, int columns)
{
	struct width_piece piece = width__first(text, strlen(text), form);

	if (piece.bytes != bytes || piece.columns != columns)
		fail_msg("'%s': %zu bytes, %d columns", text, piece.bytes, piece.columns);
}

static void measures_characters(void **state)
{
	(void)state;
	expect_first("ab", WIDTH_RAW, 1, 1);
	expect_first("\u00e9", WIDTH_RAW, 2, 1);
	expect_first(WIDE, WIDTH_RAW, 3, 2);
	expect_first(EMOJI, WIDTH_RAW, 4, 2);
	expect_first("\u0301", WIDTH_RAW, 2, 0);
	expect_first("\u200d", WIDTH_RAW, 3, 0);
	expect_first("\\", WIDTH_RAW, 1, 2);
	expect_first("\\", WIDTH_ESCAPED, 1, 1);
}

/* What is not printable takes the columns that escape__text writes, in each form. */
static void measures_what_is_escaped(void **state)
{
	static const char *const texts[] = {"\n",   "\t",   "\r",	"\033",	    "\x7f",
					    "\x80", "\xff", "\xe8\xa8", "\xc0\x80", "\u202e"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *text = texts[i];
		char *escaped = NULL;
		size_t length = 0, columns = 0;
		FILE *out = open_memstream(&escaped, &length);

		escape__text(out, text);
		fclose(out);
		for (const char *at = text; *at; at++) {
			struct width_piece piece = width__first(at, strlen(at), WIDTH_RAW);

			assert_int_equal(piece.bytes, 1);
			columns += (size_t)piece.columns;
		}
		assert_int_equal(columns, length);
		assert_int_equal(columns, width__columns(escaped, length));
		free(escaped);
	}
}

static void measures_texts(void **state)
{
	static const char text[] = "ab" WIDE COMBINED EMOJI;

	(void)state;
	assert_int_equal(width__columns("", 0), 0);
	assert_int_equal(width__columns("abcdefghij", 10), 10);
	assert_int_equal(width__columns(text, strlen(text)), 2 + 4 + 1 + 2);
	/* The end of the text cuts a character off: its bytes are not part of one. */
	assert_int_equal(width__columns(WIDE, 4), 2 + 4);
}

static void fits(void **state)
{
	static const char text[] = "a" WIDE COMBINED "z";
	static const size_t bytes[] = {0, 1, 1, 4, 4, 7, 12, 13, 13};

	(void)state;
	for (size_t columns = 0; columns < sizeof(bytes) / sizeof(*bytes); columns++)
		assert_int_equal(width__fit(text, strlen(text), columns), bytes[columns]);
}

static void agrees_with_the_c_library(void **state)
{
	unsigned int known = 0, differ = 0;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	for (uint32_t code = 0x20; code < 0x110000; code++) {
		char text[MB_LEN_MAX + 1] = "";
		mbstate_t none = {0};
		size_t bytes = wcrtomb(text, (wchar_t)code, &none);

		if (bytes == (size_t)-1 || wcwidth((wchar_t)code) < 0 ||
		    !escape__printable(text, bytes))
			continue;
		known++;
		differ +=
			width__first(text, bytes, WIDTH_ESCAPED).columns != wcwidth((wchar_t)code);
	}
	assert_true(known > 100000);
	if (differ > UNICODE_CHANGES)
		fail_msg("%u of %u characters differ", differ, known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_characters),
		cmocka_unit_test(measures_what_is_escaped),
		cmocka_unit_test(measures_texts),
		cmocka_unit_test(fits),
		cmocka_unit_test(agrees_with_the_c_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
