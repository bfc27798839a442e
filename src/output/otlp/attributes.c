// SPDX-License-Identifier: BSD-2-Clause
// Attributes of OTLP, see attributes.h.
#include "output/otlp/attributes.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"

enum key_value_field {
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
};

enum any_value_field {
	ANY_VALUE_STRING = 1,
	ANY_VALUE_INT = 3,
};

/* Appends the character at `s`, or one byte of it as \xNN; returns how many bytes it took. */
static size_t append_character(struct protobuf_buffer *out, const char *s)
{
	size_t length = json__utf8_length(s);
	char hex[8];

	if (length && escape__printable(s, length)) {
		protobuf_buffer__append(out, s, length);
		return length;
	}
	snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)*s);
	protobuf_buffer__append(out, hex, strlen(hex));
	return 1;
}

static void append_text(struct protobuf_buffer *out, const char *text)
{
	size_t began = out->length;

	while (*text && out->length - began < OTLP_TEXT_MAX && !out->failed)
		text += append_character(out, text);
}

void otlp_value__text(struct protobuf_buffer *out, uint32_t field, const char *value)
{
	size_t any = protobuf_buffer__begin(out, field);
	size_t text = protobuf_buffer__begin(out, ANY_VALUE_STRING);

	append_text(out, value);
	protobuf_buffer__end(out, text);
	protobuf_buffer__end(out, any);
}

void otlp_attribute__text(struct protobuf_buffer *out, uint32_t field, const char *key,
			  const char *value)
{
	size_t pair;

	if (!value || !*value)
		return;
	pair = protobuf_buffer__begin(out, field);
	protobuf_buffer__text(out, KEY_VALUE_KEY, key);
	otlp_value__text(out, KEY_VALUE_VALUE, value);
	protobuf_buffer__end(out, pair);
}

void otlp_attribute__int(struct protobuf_buffer *out, uint32_t field, const char *key,
			 int64_t value)
{
	size_t pair = protobuf_buffer__begin(out, field), any;

	protobuf_buffer__text(out, KEY_VALUE_KEY, key);
	any = protobuf_buffer__begin(out, KEY_VALUE_VALUE);
	protobuf_buffer__uint(out, ANY_VALUE_INT, (uint64_t)value);
	protobuf_buffer__end(out, any);
	protobuf_buffer__end(out, pair);
}
