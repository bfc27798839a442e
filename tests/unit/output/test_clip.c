// SPDX-License-Identifier: BSD-2-Clause
// Text cut in the middle: both ends stay, no character is split, the columns are those printed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "output/clip.h"

static void expect(const char *text, int columns, const char *expected, int taken)
{
	char *clipped;
	size_t size;
	FILE *out = open_memstream(&clipped, &size);

	assert_non_null(out);
	clip__print(out, text, columns);
	fclose(out);
	assert_string_equal(clipped, expected);
	assert_int_equal(clip__columns_of(text, columns), taken);
	free(clipped);
}

static void short_text_stays(void **state)
{
	(void)state;
	expect(NULL, 5, "", 0);
	expect("", 5, "", 0);
	expect("abcde", 5, "abcde", 5);
	expect("größe", 5, "größe", 5);
	expect("a\\b", 4, "a\\\\b", 4);
	expect("abcdef", CLIP_WHOLE, "abcdef", 6);
}

static void both_ends_stay(void **state)
{
	(void)state;
	expect("abcdef", 5, "ab…ef", 5);
	expect("abcdefg", 6, "abc…fg", 6);
	expect("abcdef", 2, "a…", 2);
	expect("abcdef", 1, "…", 1);
	expect("größerer", 5, "gr…er", 5);
	expect("vectorized_elementwise_kernel<4, float>", 24, "vectorized_e…l<4, float>", 24);
}

static void characters_are_not_split(void **state)
{
	(void)state;
	/* escapes */
	expect("ab\033cdefgh", 8, "ab…fgh", 6);
	expect("\033\033", 5, "…", 1);
	expect("\303abc\303", 10, "\\xc3a…\\xc3", 10);
}

static void wide_characters_take_two_columns(void **state)
{
	(void)state;
	assert_int_equal(clip__columns("日本"), 4);
	assert_int_equal(clip__columns("a\xf0\x9f\x94\xa5"), 3);
	expect("日本語日本語", 12, "日本語日本語", 12);
	expect("日本語日本語", 9, "日本…本語", 9);
	expect("日本語日本語", 8, "日本…語", 7);
}

static void combining_marks_stay_with_their_letter(void **state)
{
	(void)state;
	/* e and an acute accent, 1 column each time */
	assert_int_equal(clip__columns("e\xcc\x81"), 1);
	expect("ae\xcc\x81"
	       "bcde\xcc\x81"
	       "f",
	       5,
	       "ae\xcc\x81"
	       "…e\xcc\x81"
	       "f",
	       5);
	expect("abce\xcc\x81"
	       "d",
	       4, "ab…d", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_text_stays),
		cmocka_unit_test(both_ends_stay),
		cmocka_unit_test(characters_are_not_split),
		cmocka_unit_test(wide_characters_take_two_columns),
		cmocka_unit_test(combining_marks_stay_with_their_letter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
