// SPDX-License-Identifier: BSD-2-Clause
// The reader of JSON: what it takes, what it refuses, and where it says the mistake is.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_reader.h"

static char *text; /* of the latest document, which refers to it */

/* Parses exactly these bytes; AddressSanitizer would see a read behind them. */
static int parse(const char *json, struct json_document **document, struct error *err)
{
	size_t length = strlen(json);
	char *at;

	free(text);
	text = malloc(length + 1);
	assert_non_null(text);
	memcpy(text, json, length + 1);
	at = text;
	return json_document__parse(&at, text + length, document, err);
}

static void test_values(void **state)
{
	struct json_document *document;
	const struct json_value *value;
	double number = 0;

	(void)state;
	assert_int_equal(parse(" {\"a\": [1, -2.5e1, {\"b\": \"x\"}], \"t\":true,\"f\":false,"
			       "\"n\":null,\"deep\":{\"er\":{\"est\":7}},\"e\":[],\"o\":{}} ",
			       &document, NULL),
			 0);
	value = json_document__value(document);
	assert_int_equal(value->type, JSON_OBJECT);
	assert_true(json_value__number(value, "deep.er.est", &number));
	assert_true(number == 7);
	value = json_value__member(value, "a");
	assert_int_equal(value->type, JSON_ARRAY);
	assert_true(value->first->number == 1 && value->first->next->number == -25);
	assert_string_equal(json_value__string(value->first->next->next, "b"), "x");
	assert_null(value->first->next->next->next);
	value = json_document__value(document);
	assert_true(json_value__is_true(value, "t"));
	assert_false(json_value__is_true(value, "f"));
	assert_false(json_value__is_true(value, "n"));
	assert_int_equal(json_value__member(value, "n")->type, JSON_NULL);
	assert_null(json_value__member(value, "e")->first);
	assert_null(json_value__member(value, "o")->first);
	json_document__free(document);
}

static void test_what_is_missing(void **state)
{
	struct json_document *document;
	const struct json_value *value;
	double number = 5;

	(void)state;
	assert_int_equal(parse("{\"a\":{\"b\":\"x\"}}", &document, NULL), 0);
	value = json_document__value(document);
	assert_null(json_value__at(value, "a.c"));
	assert_null(json_value__at(value, "a.b.c"));
	assert_null(json_value__at(value, "aa"));
	assert_null(json_value__at(NULL, "a"));
	assert_false(json_value__number(value, "a.b", &number));
	assert_null(json_value__string(value, "a"));
	assert_true(number == 5);
	json_document__free(document);
}

static void expect_text(const char *json, const char *expected)
{
	struct json_document *document;

	assert_int_equal(parse(json, &document, NULL), 0);
	assert_string_equal(json_document__value(document)->text, expected);
	json_document__free(document);
}

static void test_strings(void **state)
{
	(void)state;
	expect_text("\"\"", "");
	expect_text("\"a\\n\\t\\\"\\\\\\/\\b\\f\\r\"", "a\n\t\"\\/\b\f\r");
	expect_text("\"\\u0041\\u00e4\\u20ac\"", "A\xc3\xa4\xe2\x82\xac");
	expect_text("\"\\ud83d\\ude00.\"", "\xf0\x9f\x98\x80.");
	/* No NUL within a text, and no half of a pair. */
	expect_text("\"a\\u0000b\"", "a\xef\xbf\xbd"
				     "b");
	expect_text("\"\\ud83d\"", "\xef\xbf\xbd");
	expect_text("\"\\ud83dA\"", "\xef\xbf\xbd"
				    "A");
	expect_text("\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
					  "A");
	expect_text("\"\\ude00\"", "\xef\xbf\xbd");
}

static void expect_refused(const char *json, const char *told)
{
	struct json_document *document;
	struct error err = {""};

	assert_int_equal(parse(json, &document, &err), -EINVAL);
	assert_string_equal(err.text, told);
}

static void test_mistakes(void **state)
{
	(void)state;
	expect_refused("", "no JSON at byte 0: the text ends within a value");
	expect_refused("{\"a\":", "no JSON at byte 5: the text ends within a value");
	expect_refused("{\"a\" 1}", "no JSON at byte 5: ':' must come here");
	expect_refused("{a:1}", "no JSON at byte 1: a string must come here");
	expect_refused("[1 2]", "no JSON at byte 3: ',' or a closing bracket must come here");
	expect_refused("[1,]", "no JSON at byte 3: a value must come here");
	expect_refused("[1", "no JSON at byte 2: ',' or a closing bracket must come here");
	expect_refused("nul", "no JSON at byte 0: a value must come here");
	expect_refused("+1", "no JSON at byte 0: a value must come here");
	expect_refused("1-", "no JSON at byte 0: a value must come here");
	expect_refused("[1e999]", "no JSON at byte 1: the number is too large");
	expect_refused("-1e21", "no JSON at byte 0: the number is too large");
	expect_refused("\"a", "no JSON at byte 2: a string without its end");
	expect_refused("\"a\nb\"", "no JSON at byte 2: a control character in a string");
	expect_refused("\"\\x\"", "no JSON at byte 2: an unknown escape in a string");
	expect_refused("\"\\u12g4\"", "no JSON at byte 6: an unknown escape in a string");
	expect_refused("\"\\", "no JSON at byte 2: an unknown escape in a string");
}

static void test_nesting_is_bounded(void **state)
{
	char json[2 * JSON_DEPTH_MAX + 4];
	struct json_document *document;
	struct error err = {""};

	(void)state;
	memset(json, '[', JSON_DEPTH_MAX);
	memset(json + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	json[(size_t)2 * JSON_DEPTH_MAX] = '\0';
	assert_int_equal(parse(json, &document, &err), 0);
	json_document__free(document);
	memset(json, '[', JSON_DEPTH_MAX + 1);
	assert_int_equal(parse(json, &document, &err), -EINVAL);
	assert_non_null(strstr(err.text, "too deeply nested"));
}

/* As stat prints a report every few seconds. */
static void test_documents_follow_one_another(void **state)
{
	char two[] = "{\"n\":1}\n{\"n\":2}\n", *at = two, *end = two + strlen(two);
	struct json_document *document;
	double number;

	(void)state;
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(json_document__parse(&at, end, &document, NULL), 0);
		assert_true(json_value__number(json_document__value(document), "n", &number));
		assert_true(number == i);
		json_document__free(document);
	}
	assert_ptr_equal(at, end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_what_is_missing),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_nesting_is_bounded),
		cmocka_unit_test(test_documents_follow_one_another),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(text);
	return failed;
}
