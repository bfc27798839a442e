// SPDX-License-Identifier: BSD-2-Clause
// The streaming JSON writer: commas, escapes, numbers, and text that is not UTF-8.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/json.h"

struct output {
	char *text;
	size_t length;
	FILE *stream;
	struct json json;
};

static struct json *start(struct output *o)
{
	o->stream = open_memstream(&o->text, &o->length);
	assert_non_null(o->stream);
	json__init(&o->json, o->stream);
	return &o->json;
}

static void expect(struct output *o, const char *text)
{
	assert_int_equal(fclose(o->stream), 0);
	assert_string_equal(o->text, text);
	free(o->text);
}

static void puts_commas_between(void **state)
{
	struct output o;
	struct json *j = start(&o);

	(void)state;
	json__object_begin(j);
	json__key_u64(j, "a", 1);
	json__key(j, "empty");
	json__array_begin(j);
	json__array_end(j);
	json__key(j, "list");
	json__array_begin(j);
	json__i64(j, -1);
	json__array_begin(j);
	json__array_end(j);
	json__object_begin(j);
	json__key_bool(j, "x", true);
	json__key_bool(j, "y", false);
	json__object_end(j);
	json__null(j);
	json__array_end(j);
	json__key(j, "none");
	json__object_begin(j);
	json__object_end(j);
	json__key_string(j, "last", "z");
	json__object_end(j);
	expect(&o, "{\"a\":1,\"empty\":[],\"list\":[-1,[],{\"x\":true,\"y\":false},null],"
		   "\"none\":{},\"last\":\"z\"}");
}

static void nests_to_the_limit(void **state)
{
	char text[4 * JSON_MAX_DEPTH + 1];
	struct output o;
	struct json *j = start(&o);
	size_t n = 0;
	int i;

	(void)state;
	/* Each level has an element before the next level, so that each comma bit is used. */
	for (i = 0; i < JSON_MAX_DEPTH; i++) {
		json__array_begin(j);
		json__u64(j, 7);
		memcpy(text + n, i ? ",[7" : "[7", i ? 3 : 2);
		n += i ? 3 : 2;
	}
	for (i = 0; i < JSON_MAX_DEPTH; i++) {
		json__array_end(j);
		text[n++] = ']';
	}
	text[n] = '\0';
	expect(&o, text);
}

static void written(const char *value, const char *text)
{
	struct output o;
	struct json *j = start(&o);

	json__string(j, value);
	expect(&o, text);
}

static void escapes_strings(void **state)
{
	(void)state;
	written("", "\"\"");
	written(NULL, "null");
	written("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	written("\n\r\t\b\x01\x1f\x7f", "\"\\n\\r\\t\\u0008\\u0001\\u001f\\u007f\"");
	written("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		"\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

#define BAD "\xef\xbf\xbd"

static void replaces_what_is_no_utf8(void **state)
{
	(void)state;
	written("a\xff"
		"b",
		"\"a" BAD "b\"");
	written("\x80", "\"" BAD "\"");
	written("\xc3", "\"" BAD "\""); /* cut short by the end */
	written("\xe2\x82", "\"" BAD BAD "\"");
	written("\xe2\x82g", "\"" BAD BAD "g\"");	/* cut short by another */
	written("\xc0\x80", "\"" BAD BAD "\"");		/* overlong */
	written("\xe0\x9f\xbf", "\"" BAD BAD BAD "\""); /* overlong */
	written("\xf0\x8f\xbf\xbf", "\"" BAD BAD BAD BAD "\"");
	written("\xed\xa0\x80", "\"" BAD BAD BAD "\""); /* a surrogate */
	written("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"");
	written("\xf8\x88\x80\x80\x80", "\"" BAD BAD BAD BAD BAD "\"");
	written("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
		"\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\""); /* the last valid ones */
}

static void writes_numbers(void **state)
{
	struct output o;
	struct json *j = start(&o);

	(void)state;
	json__array_begin(j);
	json__u64(j, UINT64_MAX);
	json__i64(j, INT64_MIN);
	json__double(j, 0.1);
	json__double(j, 1e300);
	json__double(j, 3045740550.9);
	json__double(j, 0.1 + 0.2);
	json__double(j, -0.0);
	json__double(j, 5e-324);
	json__double(j, NAN);
	json__double(j, INFINITY);
	json__double(j, -INFINITY);
	json__array_end(j);
	expect(&o, "[18446744073709551615,-9223372036854775808,0.1,1e+300,3045740550.9,"
		   "0.30000000000000004,-0,4.94065645841247e-324,null,null,null]");
}

static void keys_are_escaped_and_null_follows_a_key(void **state)
{
	struct output o;
	struct json *j = start(&o);

	(void)state;
	json__object_begin(j);
	json__key_string(j, "a\"\n", NULL);
	json__key_double(j, "b", NAN);
	json__key_i64(j, "c", 0);
	json__object_end(j);
	expect(&o, "{\"a\\\"\\n\":null,\"b\":null,\"c\":0}");
}

static void unknown_values_are_null(void **state)
{
	struct output o;
	struct json *j = start(&o);

	(void)state;
	json__object_begin(j);
	json__key_known_u64(j, "a", UINT64_MAX, true);
	json__key_known_u64(j, "b", 1, false);
	json__key_known_i64(j, "c", -2, true);
	json__key_known_i64(j, "d", -2, false);
	json__key_known_double(j, "e", 0.5, true);
	json__key_known_double(j, "f", 0.5, false);
	json__key_known_text(j, "g", "text");
	json__key_known_text(j, "h", "");
	json__key_hex(j, "i", 0x7989d8000000);
	json__object_end(j);
	expect(&o, "{\"a\":18446744073709551615,\"b\":null,\"c\":-2,\"d\":null,"
		   "\"e\":0.5,\"f\":null,\"g\":\"text\",\"h\":null,\"i\":\"0x7989d8000000\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_commas_between),
		cmocka_unit_test(nests_to_the_limit),
		cmocka_unit_test(escapes_strings),
		cmocka_unit_test(replaces_what_is_no_utf8),
		cmocka_unit_test(writes_numbers),
		cmocka_unit_test(keys_are_escaped_and_null_follows_a_key),
		cmocka_unit_test(unknown_values_are_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
