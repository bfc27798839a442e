// SPDX-License-Identifier: BSD-2-Clause
// JSON is read in pieces of any size; what is no JSON is refused at the byte where that shows.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kineto/json_stream.h"

struct tokens {
	char text[8192];
	size_t length;
};

static void note(const struct json_token *token, void *arg)
{
	static const char kinds[] = "{}[]ksb";
	struct tokens *tokens = arg;
	size_t room = sizeof(tokens->text) - tokens->length;

	tokens->length += (size_t)snprintf(tokens->text + tokens->length, room, "%c%u%s ",
					   kinds[token->kind], token->depth, token->text);
	assert_true(tokens->length < sizeof(tokens->text));
}

/* Reads the text in pieces of `piece` bytes. Returns the result of the last one. */
static int read_in(const char *text, size_t piece, struct json_stream *stream,
		   struct tokens *tokens)
{
	size_t length = strlen(text);
	int ret = 0;

	*stream = (struct json_stream){0};
	*tokens = (struct tokens){0};
	for (size_t at = 0; at < length && !ret; at += piece)
		ret = json_stream__push(stream, text + at,
					length - at < piece ? length - at : piece, note, tokens);
	return ret;
}

static void expect(const char *text, const char *expected)
{
	struct json_stream stream;
	struct tokens tokens;

	for (size_t piece = 1; piece <= strlen(text); piece++) {
		assert_int_equal(read_in(text, piece, &stream, &tokens), 0);
		assert_string_equal(tokens.text, expected);
		assert_true(json_stream__is_whole(&stream));
		assert_int_equal(stream.offset, strlen(text));
	}
}

static void test_values(void **state)
{
	(void)state;
	expect("{}", "{0 }0 ");
	expect(" [ ] \n", "[0 ]0 ");
	expect("{\"a\": 1, \"b\":[true,null , -1.5e3],\"c\":{\"d\":\"e\"}}",
	       "{0 k1a b11 k1b [1 b2true b2null b2-1.5e3 ]1 k1c {1 k2d s2e }1 }0 ");
	expect("[[1],[{}]]", "[0 [1 b21 ]1 [1 {2 }2 ]1 ]0 ");
}

static void test_strings(void **state)
{
	(void)state;
	expect("[\"a\\\"b\\\\c\\/\\n\"]", "[0 s1a\"b\\c/\n ]0 ");
	expect("[\"\\u0041\\u00e9\\u20AC\"]", "[0 s1A\xc3\xa9\xe2\x82\xac ]0 ");
	/* Half a pair, and a NUL. */
	expect("[\"\\ud83d\\u0000\"]", "[0 s1\xef\xbf\xbd\xef\xbf\xbd ]0 ");
	/* Profilers write these. */
	expect("[\"a\tb\nc\", inf, -nan]", "[0 s1a\tb\nc b1inf b1-nan ]0 ");
}

static void test_damage(void **state)
{
	static const struct {
		const char *text;
		uint64_t offset; /* of the byte that is wrong */
	} cases[] = {
		{"1", 0},
		{"\"a\"", 0},
		{"]", 0},
		{"{]", 1},
		{"[}", 1},
		{"[1}", 2},
		{"[1,]", 3},
		{"{\"a\"}", 4},
		{"{\"a\":}", 5},
		{"{\"a\":1,}", 7},
		{"{a:1}", 1},
		{"[1 2]", 3},
		{"[\"\\x\"]", 3},
		{"[\"\\u00g0\"]", 6},
		{"{} {}", 3},
		{"[1],", 3},
		{"[\"a\" \"b\"]", 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct json_stream stream;
		struct tokens tokens;

		assert_int_equal(read_in(cases[i].text, 3, &stream, &tokens), -EINVAL);
		assert_int_equal(stream.offset, cases[i].offset);
	}
}

static void test_incomplete(void **state)
{
	static const char text[] = "{\"a\":[1,\"b\"]}";
	struct json_stream stream;
	struct tokens tokens;
	char part[sizeof(text)];

	(void)state;
	for (size_t length = 0; length < sizeof(text) - 1; length++) {
		memcpy(part, text, length);
		part[length] = '\0';
		assert_int_equal(read_in(part, 1, &stream, &tokens), 0);
		assert_false(json_stream__is_whole(&stream));
	}
}

/* Nesting and texts are bounded. */
static void test_bounds(void **state)
{
	char *text = calloc(1, 4 * JSON_STREAM_TEXT);
	struct json_stream stream;
	struct tokens tokens;

	(void)state;
	memset(text, '[', JSON_STREAM_DEPTH);
	assert_int_equal(read_in(text, 7, &stream, &tokens), 0);
	text[JSON_STREAM_DEPTH] = '[';
	assert_int_equal(read_in(text, 7, &stream, &tokens), -EINVAL);
	assert_int_equal(stream.offset, JSON_STREAM_DEPTH);

	memset(text, 'x', 3 * JSON_STREAM_TEXT);
	memcpy(text, "[\"", 2);
	memcpy(text + 3 * JSON_STREAM_TEXT - 2, "\"]", 3);
	assert_int_equal(read_in(text, 1000, &stream, &tokens), 0);
	/* "[0  s1" ... " ]0 " */
	assert_int_equal(tokens.length, 3 + 2 + JSON_STREAM_TEXT - 1 + 1 + 3);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_strings),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
