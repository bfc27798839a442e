// SPDX-License-Identifier: BSD-2-Clause
// Text of watched processes made printable.
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/escape.h"

static void escapes(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"train", "train"},
		{"", ""},
		{"a\nb\tc\rd", "a\\nb\\tc\\rd"},
		{"a\\nb", "a\\\\nb"},
		{"\033[2J\007", "\\x1b[2J\\x07"},
		{"\x7f", "\\x7f"},
		{"na\303\257ve", "na\303\257ve"},
		{"\342\202\254 \360\237\224\245", "\342\202\254 \360\237\224\245"},
		{"\302\233"
		 "2J",
		 "\\xc2\\x9b2J"},	  /* C1: CSI in UTF-8 */
		{"\302\240", "\302\240"}, /* no-break space */
		{"\233"
		 "2J",
		 "\\x9b2J"},				      /* CSI, bare */
		{"\342\200\250", "\\xe2\\x80\\xa8"},	      /* line separator */
		{"\342\200\256x", "\\xe2\\x80\\xaex"},	      /* right-to-left override */
		{"\342\201\246", "\\xe2\\x81\\xa6"},	      /* isolate */
		{"\300\212", "\\xc0\\x8a"},		      /* overlong newline */
		{"\355\240\200", "\\xed\\xa0\\x80"},	      /* surrogate */
		{"\364\220\200\200", "\\xf4\\x90\\x80\\x80"}, /* beyond U+10FFFF */
		{"\342\202", "\\xe2\\x82"},		      /* cut short */
		{"\342\202x", "\\xe2\\x82x"},
		{"\377\376", "\\xff\\xfe"},
		{"\200", "\\x80"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t size;
		char *text;
		FILE *out = open_memstream(&text, &size);

		escape__text(out, cases[i].from);
		fclose(out);
		assert_string_equal(text, cases[i].to);
		free(text);
	}
}

/* Whatever comes in, the output has no control character and no broken UTF-8. */
static void nothing_harmful_passes(void **state)
{
	unsigned int seed = 3;

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (int round = 0; round < 20000; round++) {
		char in[24] = "", *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		for (size_t i = 0; i < sizeof(in) - 1; i++)
			in[i] = (char)(1 + rand_r(&seed) % 255);
		escape__text(out, in);
		fclose(out);
		for (size_t i = 0; i < size; i++) {
			unsigned char c = (unsigned char)text[i];

			assert_true(c >= 0x20 && c != 0x7f);
			if (c == 0xc2)
				assert_true((unsigned char)text[i + 1] >= 0xa0);
		}
		assert_true(mbstowcs(NULL, text, 0) != (size_t)-1);
		free(text);
	}
}

static void nothing_is_nothing(void **state)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	escape__text(out, NULL);
	fclose(out);
	assert_int_equal(size, 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes),
		cmocka_unit_test(nothing_harmful_passes),
		cmocka_unit_test(nothing_is_nothing),
	};

	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
