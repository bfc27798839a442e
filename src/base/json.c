// SPDX-License-Identifier: BSD-2-Clause
// The streaming JSON writer; see json.h.
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void json__init(struct json *json, FILE *out)
{
	memset(json, 0, sizeof(*json));
	json->out = out;
}

/*
 * Called before each value and key: writes a comma unless it is the first element or the value of a
 * key.
 */
static void separate(struct json *json)
{
	uint64_t bit = UINT64_C(1) << json->depth;

	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->depth && (json->filled & bit))
		putc_unlocked(',', json->out);
	json->filled |= bit;
}

static void begin(struct json *json, char bracket)
{
	separate(json);
	putc_unlocked(bracket, json->out);
	assert(json->depth < JSON_MAX_DEPTH);
	json->depth++;
	json->filled &= ~(UINT64_C(1) << json->depth);
}

static void end(struct json *json, char bracket)
{
	assert(json->depth && !json->after_key);
	json->depth--;
	putc_unlocked(bracket, json->out);
}

void json__object_begin(struct json *json)
{
	begin(json, '{');
}

void json__object_end(struct json *json)
{
	end(json, '}');
}

void json__array_begin(struct json *json)
{
	begin(json, '[');
}

void json__array_end(struct json *json)
{
	end(json, ']');
}

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

size_t json__utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned char low = 0x80, high = 0xbf;
	size_t n, i;

	if (u[0] == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	n = u[0] < 0xe0 ? 2 : (u[0] < 0xf0 ? 3 : 4);
	/*
	 * The second byte's range excludes overlong forms, surrogates and code points above
	 * U+10FFFF.
	 */
	if (u[0] == 0xe0)
		low = 0xa0;
	else if (u[0] == 0xed)
		high = 0x9f;
	else if (u[0] == 0xf0)
		low = 0x90;
	else if (u[0] == 0xf4)
		high = 0x8f;
	if (u[1] < low || u[1] > high)
		return 0;
	for (i = 2; i < n; i++) {
		if (!is_continuation(u[i]))
			return 0;
	}
	return n;
}

static void escape_ascii(FILE *out, char c)
{
	switch (c) {
	case '"':
	case '\\':
		putc_unlocked('\\', out);
		putc_unlocked(c, out);
		return;
	case '\n': fputs("\\n", out); return;
	case '\r': fputs("\\r", out); return;
	case '\t': fputs("\\t", out); return;
	}
	if ((unsigned char)c < 0x20 || c == 0x7f)
		fprintf(out, "\\u%04x", c);
	else
		putc_unlocked(c, out);
}

static void quote(FILE *out, const char *s)
{
	size_t n;

	putc_unlocked('"', out);
	while (*s) {
		n = json__utf8_length(s);
		if (n == 0) {
			fputs("\xef\xbf\xbd", out);
			s++;
			continue;
		}
		if (n == 1)
			escape_ascii(out, *s);
		else
			fwrite(s, 1, n, out);
		s += n;
	}
	putc_unlocked('"', out);
}

void json__key(struct json *json, const char *key)
{
	separate(json);
	quote(json->out, key);
	putc_unlocked(':', json->out);
	json->after_key = true;
}

void json__string(struct json *json, const char *value)
{
	if (!value) {
		json__null(json);
		return;
	}
	separate(json);
	quote(json->out, value);
}

void json__u64(struct json *json, uint64_t value)
{
	separate(json);
	fprintf(json->out, "%" PRIu64, value);
}

void json__i64(struct json *json, int64_t value)
{
	separate(json);
	fprintf(json->out, "%" PRId64, value);
}

void json__format_double(char text[JSON_NUMBER_SIZE], double value)
{
	int digits;

	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, JSON_NUMBER_SIZE, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
}

void json__double(struct json *json, double value)
{
	char text[JSON_NUMBER_SIZE];

	if (!isfinite(value)) {
		json__null(json);
		return;
	}
	separate(json);
	json__format_double(text, value);
	fputs(text, json->out);
}

void json__bool(struct json *json, bool value)
{
	separate(json);
	fputs(value ? "true" : "false", json->out);
}

void json__null(struct json *json)
{
	separate(json);
	fputs("null", json->out);
}

void json__ready(struct json *json, const char *text)
{
	separate(json);
	fputs(text, json->out);
}

void json__key_string(struct json *json, const char *key, const char *value)
{
	json__key(json, key);
	json__string(json, value);
}

void json__key_u64(struct json *json, const char *key, uint64_t value)
{
	json__key(json, key);
	json__u64(json, value);
}

void json__key_i64(struct json *json, const char *key, int64_t value)
{
	json__key(json, key);
	json__i64(json, value);
}

void json__key_double(struct json *json, const char *key, double value)
{
	json__key(json, key);
	json__double(json, value);
}

void json__key_bool(struct json *json, const char *key, bool value)
{
	json__key(json, key);
	json__bool(json, value);
}

void json__key_hex(struct json *json, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json__key_string(json, key, text);
}

void json__key_known_u64(struct json *json, const char *key, uint64_t value, bool known)
{
	json__key(json, key);
	if (known)
		json__u64(json, value);
	else
		json__null(json);
}

void json__key_known_i64(struct json *json, const char *key, int64_t value, bool known)
{
	json__key(json, key);
	if (known)
		json__i64(json, value);
	else
		json__null(json);
}

void json__key_known_double(struct json *json, const char *key, double value, bool known)
{
	json__key(json, key);
	if (known)
		json__double(json, value);
	else
		json__null(json);
}

void json__key_known_text(struct json *json, const char *key, const char *text)
{
	json__key_string(json, key, text[0] ? text : NULL);
}
