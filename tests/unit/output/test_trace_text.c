// SPDX-License-Identifier: BSD-2-Clause
// Numbers and texts of trace lines: the numbers against printf, the escapes decoded again.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/width.h"
#include "output/trace/text.h"
#include "random_numbers.h"

#define ROUNDS 20000
#define TEXT_SIZE 64

/* With a random number of bits. */
static uint64_t random_number(void)
{
	return next_random() >> (next_random() % 64);
}

static void expect_number(char *(*write)(char *at, uint64_t value), const char *format,
			  uint64_t value)
{
	char text[2 * TRACE_TEXT_NUMBER], expected[2 * TRACE_TEXT_NUMBER];
	char *end = write(text, value);

	assert_true(end - text <= TRACE_TEXT_NUMBER);
	*end = '\0';
	snprintf(expected, sizeof(expected), format, value);
	assert_string_equal(text, expected);
}

static char *write_signed(char *at, uint64_t value)
{
	return trace_text__signed(at, (int64_t)value);
}

static void numbers(void **unused)
{
	uint64_t power = 1;

	(void)unused;
	for (int i = 0; i < 20; i++, power *= 10) {
		expect_number(trace_text__unsigned, "%" PRIu64, power - 1);
		expect_number(trace_text__unsigned, "%" PRIu64, power);
		expect_number(trace_text__unsigned, "%" PRIu64, power + 1);
	}
	for (int i = 0; i < 64; i++)
		expect_number(trace_text__hex, "0x%" PRIx64, 1ull << i);
	expect_number(trace_text__hex, "0x%" PRIx64, 0);
	expect_number(trace_text__unsigned, "%" PRIu64, UINT64_MAX);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t value = random_number();

		expect_number(trace_text__unsigned, "%" PRIu64, value);
		expect_number(trace_text__hex, "0x%" PRIx64, value);
		expect_number(write_signed, "%" PRId64, value);
		expect_number(write_signed, "%" PRId64, -value);
	}
}

static void expect_digits(unsigned int digits)
{
	char text[32], expected[32];
	uint64_t value = next_random() % 1000000000;

	*trace_text__digits(text, value, digits) = '\0';
	snprintf(expected, sizeof(expected), "%020" PRIu64, value);
	assert_string_equal(text, expected + 20 - digits);
}

static void digits_with_leading_zeros(void **unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		expect_digits(1 + (unsigned int)i % 9);
}

/* Bytes for every branch: plain ones, escaped ones, and valid and broken UTF-8. */
static size_t random_text(char *text)
{
	static const char *const parts[] = {"a",
					    "abcdefgh",
					    "\"",
					    "\\",
					    "\n",
					    "\t",
					    "\r",
					    "\033",
					    "\x7f",
					    ";",
					    "\xc3\xa9",
					    "\xe4\xb8\xad",
					    "\xf0\x9f\x98\x80",
					    "\xe2\x80\xae",
					    "\xc2\x9b",
					    "\xe4\xb8",
					    "\xff",
					    "\x80",
					    "\xed\xa0\x80",
					    "\xc0\x80",
					    "#",
					    " "};
	size_t length = 0;

	while (length < TEXT_SIZE - 8) {
		uint64_t draw = next_random();
		const char *part = parts[draw % (sizeof(parts) / sizeof(parts[0]))];

		if (draw >> 60 == 0)
			break;
		if (draw >> 60 == 1) {
			text[length++] = (char)(draw >> 32);
			continue;
		}
		memcpy(text + length, part, strlen(part));
		length += strlen(part);
	}
	return length;
}

/* The reverse of trace_text__escaped, once. Returns the length. */
static size_t unescape(const char *text, size_t length, char *out)
{
	char *begin = out;

	for (size_t i = 0; i < length; i++) {
		unsigned int byte;

		if (text[i] != '\\') {
			assert_true((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
			*out++ = text[i];
			continue;
		}
		assert_true(++i < length);
		if (text[i] == 'x') {
			assert_int_equal(sscanf(text + i + 1, "%2x", &byte), 1);
			*out++ = (char)byte;
			i += 2;
			continue;
		}
		*out++ = text[i] == 'n' ?
				 '\n' :
				 (text[i] == 't' ? '\t' : (text[i] == 'r' ? '\r' : text[i]));
	}
	return (size_t)(out - begin);
}

static void escaped_texts_read_back(void **unused)
{
	char text[TEXT_SIZE], escaped[TEXT_SIZE * TRACE_TEXT_EXPANSION + 1], once[sizeof(escaped)],
		back[sizeof(escaped)];

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		size_t length = random_text(text), n;
		bool doubled = i & 1;
		char special = (i & 2) ? '"' : ((i & 4) ? ';' : 0);
		char *end = trace_text__escaped(escaped, text, length, special, doubled);

		*end = '\0';
		assert_true((size_t)(end - escaped) <= length * TRACE_TEXT_EXPANSION);
		memcpy(once, escaped, sizeof(once));
		n = (size_t)(end - escaped);
		if (doubled)
			n = unescape(escaped, n, once);
		once[n] = '\0';
		assert_null(special == ';' ? strchr(once, ';') : NULL);
		assert_int_equal(unescape(once, n, back), length);
		assert_memory_equal(back, text, length);
	}
}

/* Nothing that a terminal may act on is left; the width is the number of columns of the rest. */
static void only_what_is_printable_is_left(void **unused)
{
	static const char *const bad[] = {"\033", "\xc2\x9b", "\xe2\x80\xae", "\x7f", "\n", "\xff"};
	char text[TEXT_SIZE], escaped[TEXT_SIZE * TRACE_TEXT_EXPANSION + 1];

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		size_t length = random_text(text);

		*trace_text__escaped(escaped, text, length, 0, false) = '\0';
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
			assert_null(strstr(escaped, bad[k]));
	}
}

/* Converts \uNNNN into the characters themselves, beyond ASCII. */
static void raw_characters(char *text)
{
	char *out = text;
	unsigned int code;

	while (*text) {
		if (text[0] == '\\' && text[1] == 'u' && sscanf(text + 2, "%4x", &code) == 1 &&
		    code >= 0x80) {
			if (code >= 0x800)
				*out++ = (char)(0xe0 | code >> 12);
			*out++ = (char)(code >= 0x800 ? 0x80 | (code >> 6 & 0x3f) :
							0xc0 | code >> 6);
			*out++ = (char)(0x80 | (code & 0x3f));
			text += 6;
			continue;
		}
		if (text[0] == '\\')
			*out++ = *text++;
		*out++ = *text++;
	}
	*out = '\0';
}

/* The same as the reports' writer, except characters that a terminal may act on. */
static void json_texts_are_those_of_the_reports(void **unused)
{
	char text[TEXT_SIZE + 1], mine[TEXT_SIZE * TRACE_TEXT_EXPANSION + 3], *other;

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		size_t size;
		struct json json;
		FILE *out;
		char *end;

		text[random_text(text)] = '\0';
		*mine = '"';
		end = trace_text__json(mine + 1, text, strlen(text));
		memcpy(end, "\"", 2);
		assert_true((size_t)(end - mine - 1) <= strlen(text) * TRACE_TEXT_EXPANSION);
		out = open_memstream(&other, &size);
		assert_non_null(out);
		json__init(&json, out);
		json__string(&json, text);
		fclose(out);
		assert_null(strstr(mine, "\xe2\x80\xae"));
		raw_characters(mine);
		assert_string_equal(mine, other);
		free(other);
	}
}

static void expect_json(const char *text, size_t length, const char *expected)
{
	char out[128];

	*trace_text__json(out, text, length) = '\0';
	assert_string_equal(out, expected);
}

static void json_escapes(void **unused)
{
	(void)unused;
	expect_json("a\0b", 3, "a\\u0000b");
	expect_json("\"\\\n\t\r\033\x7f", 7, "\\\"\\\\\\n\\t\\r\\u001b\\u007f");
	expect_json("\xc2\x9b\xe2\x80\xae\xd8\x9c", 7, "\\u009b\\u202e\\u061c");
	expect_json("\xf0\x9f\x98\x80\xff\xe4\xb8", 7,
		    "\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void widths(void **unused)
{
	static const char text[] = "ab\xc3\xa9\xe4\xb8\xad\xe4\xb8\xad"
				   "e\xcc\x81"
				   "0123456789";

	(void)unused;
	assert_int_equal(width__columns("abc", 3), 3);
	assert_int_equal(width__columns(text, strlen(text)), 18);
}

static void expect_cut(const char *text, size_t columns, const char *expected)
{
	char room[64];

	strcpy(room, text);
	*trace_text__cut(room, room + strlen(room), columns) = '\0';
	assert_string_equal(room, expected);
	assert_true(width__columns(room, strlen(room)) <= columns);
}

/* In the middle, so that both ends can be told apart. */
static void cuts(void **unused)
{
	(void)unused;
	expect_cut("0123456789", 10, "0123456789");
	expect_cut("0123456789", 9, "0123…6789");
	expect_cut("0123456789", 8, "0123…789");
	expect_cut("0123456789", 3, "0…9");
	expect_cut("0123456789", 2, "0…");
	expect_cut("0123456789", 1, "…");
	expect_cut("0123456789", 0, "");
	/* Half of a two-column character is left out; a combining mark stays with its letter. */
	expect_cut("中中中中中", 9, "中中…中中");
	expect_cut("中中中中中", 7, "中…中");
	expect_cut("a"
		   "e\xcc\x81"
		   "0123456789",
		   5,
		   "a"
		   "e\xcc\x81"
		   "…89");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(digits_with_leading_zeros),
		cmocka_unit_test(escaped_texts_read_back),
		cmocka_unit_test(only_what_is_printable_is_left),
		cmocka_unit_test(json_texts_are_those_of_the_reports),
		cmocka_unit_test(json_escapes),
		cmocka_unit_test(widths),
		cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
