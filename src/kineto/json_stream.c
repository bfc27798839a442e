// SPDX-License-Identifier: BSD-2-Clause
// JSON as a stream of tokens, see json_stream.h.
#include "kineto/json_stream.h"

#include <errno.h>
#include <string.h>

enum state {
	AT_VALUE = 0,	/* a value must follow */
	AT_FIRST_VALUE, /* a value, or the end of the array */
	AT_FIRST_KEY,	/* a key, or the end of the object */
	AT_KEY,
	AT_COLON,
	AFTER_VALUE, /* a comma, or an end */
	IN_STRING,
	IN_ESCAPE,
	IN_UNICODE,
	IN_BARE,
	AT_END,
};

struct reading {
	struct json_stream *stream;
	json_token_fn take;
	void *arg;
};

static void tell(const struct reading *r, enum json_token_kind kind)
{
	struct json_stream *stream = r->stream;
	const struct json_token token = {
		.kind = kind, .depth = stream->depth, .text = stream->text};

	stream->text[stream->length] = '\0';
	r->take(&token, r->arg);
	stream->length = 0;
	stream->text[0] = '\0';
}

static void keep(struct json_stream *stream, char c)
{
	if (stream->length < sizeof(stream->text) - 1 && !stream->cut)
		stream->text[stream->length++] = c;
	else
		stream->cut = true;
}

/* Half a surrogate pair, and a NUL, are no characters. */
static void keep_unicode(struct json_stream *stream)
{
	uint32_t c = stream->unicode;

	if (!c || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		keep(stream, (char)c);
		return;
	}
	if (c < 0x800) {
		keep(stream, (char)(0xc0 | c >> 6));
	} else {
		keep(stream, (char)(0xe0 | c >> 12));
		keep(stream, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	keep(stream, (char)(0x80 | (c & 0x3f)));
}

static void begin_text(struct json_stream *stream, enum state state, bool is_key)
{
	stream->state = state;
	stream->is_key = is_key;
	stream->cut = false;
	stream->length = 0;
}

static bool in_object(const struct json_stream *stream)
{
	return stream->depth && stream->objects & UINT64_C(1) << (stream->depth - 1);
}

static void end_value(struct json_stream *stream)
{
	stream->state = stream->depth ? AFTER_VALUE : AT_END;
}

static int open_container(const struct reading *r, bool object)
{
	struct json_stream *stream = r->stream;
	uint64_t bit;

	if (stream->depth == JSON_STREAM_DEPTH)
		return -EINVAL;
	bit = UINT64_C(1) << stream->depth;
	tell(r, object ? JSON_TOKEN_OBJECT : JSON_TOKEN_ARRAY);
	stream->objects = object ? stream->objects | bit : stream->objects & ~bit;
	stream->depth++;
	stream->state = object ? AT_FIRST_KEY : AT_FIRST_VALUE;
	return 0;
}

static int close_container(const struct reading *r, bool object)
{
	struct json_stream *stream = r->stream;

	if (!stream->depth || in_object(stream) != object)
		return -EINVAL;
	stream->depth--;
	tell(r, object ? JSON_TOKEN_OBJECT_END : JSON_TOKEN_ARRAY_END);
	end_value(stream);
	return 0;
}

/* A character of a number or a word. */
static bool is_bare(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '+' || c == '.';
}

/* The document is an object or an array, so a bare value always has an end. */
static int begin_value(const struct reading *r, char c)
{
	struct json_stream *stream = r->stream;

	if (c == '{' || c == '[')
		return open_container(r, c == '{');
	if (!stream->depth)
		return -EINVAL;
	if (c == '"') {
		begin_text(stream, IN_STRING, false);
		return 0;
	}
	if (!is_bare(c))
		return -EINVAL;
	begin_text(stream, IN_BARE, false);
	keep(stream, c);
	return 0;
}

static int begin_key(struct json_stream *stream, char c)
{
	if (c != '"')
		return -EINVAL;
	begin_text(stream, IN_STRING, true);
	return 0;
}

static int go_on(const struct reading *r, char c)
{
	if (c == '}' || c == ']')
		return close_container(r, c == '}');
	if (c != ',')
		return -EINVAL;
	r->stream->state = in_object(r->stream) ? AT_KEY : AT_VALUE;
	return 0;
}

/* Between tokens. */
static int take_structure(const struct reading *r, char c)
{
	struct json_stream *stream = r->stream;

	if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
		return 0;
	switch ((enum state)stream->state) {
	case AT_VALUE: return begin_value(r, c);
	case AT_FIRST_VALUE: return c == ']' ? close_container(r, false) : begin_value(r, c);
	case AT_FIRST_KEY: return c == '}' ? close_container(r, true) : begin_key(stream, c);
	case AT_KEY: return begin_key(stream, c);
	case AT_COLON: stream->state = AT_VALUE; return c == ':' ? 0 : -EINVAL;
	case AFTER_VALUE: return go_on(r, c);
	default: return -EINVAL;
	}
}

static void take_in_string(const struct reading *r, char c)
{
	struct json_stream *stream = r->stream;

	if (c == '\\') {
		stream->state = IN_ESCAPE;
	} else if (c != '"') {
		/* The text ends with a NUL. */
		keep(stream, c ? c : '?');
	} else if (stream->is_key) {
		tell(r, JSON_TOKEN_KEY);
		stream->state = AT_COLON;
	} else {
		tell(r, JSON_TOKEN_STRING);
		end_value(stream);
	}
}

static int take_escape(struct json_stream *stream, char c)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *found = c ? strchr(letters, c) : NULL;

	if (c == 'u') {
		stream->digits = 4;
		stream->unicode = 0;
		stream->state = IN_UNICODE;
		return 0;
	}
	if (!found)
		return -EINVAL;
	keep(stream, meanings[found - letters]);
	stream->state = IN_STRING;
	return 0;
}

static int take_unicode(struct json_stream *stream, char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

	if (!found)
		return -EINVAL;
	stream->unicode = stream->unicode << 4 | (uint32_t)(found - digits);
	if (--stream->digits)
		return 0;
	keep_unicode(stream);
	stream->state = IN_STRING;
	return 0;
}

static int take_byte(const struct reading *r, char c)
{
	struct json_stream *stream = r->stream;

	switch ((enum state)stream->state) {
	case IN_STRING: take_in_string(r, c); return 0;
	case IN_ESCAPE: return take_escape(stream, c);
	case IN_UNICODE: return take_unicode(stream, c);
	case IN_BARE:
		if (is_bare(c)) {
			keep(stream, c);
			return 0;
		}
		tell(r, JSON_TOKEN_BARE);
		end_value(stream);
		return take_structure(r, c);
	default: return take_structure(r, c);
	}
}

int json_stream__push(struct json_stream *stream, const char *bytes, size_t size,
		      json_token_fn take, void *arg)
{
	const struct reading r = {.stream = stream, .take = take, .arg = arg};

	for (size_t i = 0; i < size; i++) {
		int ret = take_byte(&r, bytes[i]);

		if (ret)
			return ret;
		stream->offset++;
	}
	return 0;
}

bool json_stream__is_whole(const struct json_stream *stream)
{
	return stream->state == AT_END;
}
