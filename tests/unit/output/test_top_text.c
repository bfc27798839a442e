// SPDX-License-Identifier: BSD-2-Clause
// Text in the columns of a terminal (output/top/text.h).
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text_stream.h"
#include "output/top/text.h"

static void use_locale(const char *name)
{
	assert_non_null(setlocale(LC_CTYPE, name));
}

static void assert_cell(const char *text, int columns, bool left, const char *expected)
{
	char *got = NULL;
	size_t length;
	FILE *out = text_stream__open(&got, &length);

	top_text__cell(out, text, columns, left);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(got, expected);
	free(got);
}

static void assert_line(const char *text, int from, int columns, const char *expected)
{
	char *got = NULL;
	size_t length;
	FILE *out = text_stream__open(&got, &length);

	top_text__line(out, text, from, columns);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(got, expected);
	free(got);
}

static void fills_a_cell(void **state)
{
	(void)state;
	use_locale("C.UTF-8");
	assert_cell("abc", 5, true, "abc  ");
	assert_cell("abc", 5, false, "  abc");
	assert_cell("abc", 3, false, "abc");
	assert_cell("", 2, true, "  ");
}

static void cuts_in_the_middle(void **state)
{
	(void)state;
	use_locale("C.UTF-8");
	assert_cell("python3 train.py", 9, true, "pyth\u2026n.py");
	assert_cell("abcdef", 3, true, "a\u2026f");
	assert_cell("abcdef", 2, true, "ab");
	assert_cell("abcdef", 0, true, "");
}

static void counts_wide_and_empty_characters(void **state)
{
	(void)state;
	use_locale("C.UTF-8");
	assert_int_equal(top_text__columns("\u8a13\u7df4", TOP_RAW), 4);
	assert_cell("\u8a13\u7df4", 6, false, "  \u8a13\u7df4");
	/* No half of a wide character: a blank takes its place. */
	assert_cell("\u8a13\u7df4\u8a13", 4, true, "\u8a13\u2026 ");
	assert_cell("e\u0301", 2, true, "e\u0301 ");
	/* Marks beyond two are left out. */
	assert_cell("e\u0301\u0301\u0301\u0301x", 3, true, "e\u0301\u0301x ");
}

static void escapes_what_is_not_printable(void **state)
{
	(void)state;
	use_locale("C.UTF-8");
	assert_cell("a\x1b[2J", 9, true, "a\\x1b[2J ");
	assert_cell("a\nb\\", 7, true, "a\\nb\\\\ ");
	assert_cell("\xff", 5, true, "\\xff ");
	assert_cell("\u202e", 12, true, "\\xe2\\x80\\xae");
}

static void asks_what_it_cannot_show(void **state)
{
	(void)state;
	use_locale("C");
	assert_cell("\u8a13x", 4, true, "?x  ");
	assert_cell("python3 train.py", 9, true, "pyt....py");
	use_locale("C.UTF-8");
}

static void shows_a_part_of_a_line(void **state)
{
	(void)state;
	use_locale("C.UTF-8");
	assert_line("0123456789", 0, 10, "0123456789");
	assert_line("0123456789", 0, 5, "0123\u2026");
	assert_line("0123456789", 5, 5, "56789");
	assert_line("0123456789", 20, 5, "");
	assert_line("a\\x1b", 0, 9, "a\\x1b");
	assert_line("abc", 0, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_a_cell),
		cmocka_unit_test(cuts_in_the_middle),
		cmocka_unit_test(counts_wide_and_empty_characters),
		cmocka_unit_test(escapes_what_is_not_printable),
		cmocka_unit_test(asks_what_it_cannot_show),
		cmocka_unit_test(shows_a_part_of_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
