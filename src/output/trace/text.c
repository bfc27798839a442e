// SPDX-License-Identifier: BSD-2-Clause
// Texts of watched processes, escaped for a terminal, a table's cell or JSON, see text.h.
#include "output/trace/text.h"

#include "base/escape.h"
#include "base/json.h"

#define EACH_BYTE(byte) (0x0101010101010101ull * (byte))

/* Sets the upper bit of each zero byte, and possibly of bytes above one. */
static uint64_t zero_bytes(uint64_t word)
{
	return (word - EACH_BYTE(0x01)) & ~word;
}

/*
 * Whether all eight bytes are printable ASCII without quotes, backslashes and semicolons: these are
 * never escaped.
 */
static bool is_plain(uint64_t word)
{
	uint64_t bad = word | (word - EACH_BYTE(0x20)) | zero_bytes(word ^ EACH_BYTE('"')) |
		       zero_bytes(word ^ EACH_BYTE('\\')) | zero_bytes(word ^ EACH_BYTE(0x7f)) |
		       zero_bytes(word ^ EACH_BYTE(';'));

	return !(bad & EACH_BYTE(0x80));
}

/* Copies eight bytes at a time while they are plain; returns how many. */
static size_t copy_plain(char *at, const char *text, size_t length)
{
	size_t done = 0;
	uint64_t word;

	for (; length - done >= sizeof(word); done += sizeof(word)) {
		memcpy(&word, text + done, sizeof(word));
		if (!is_plain(word))
			break;
		memcpy(at + done, &word, sizeof(word));
	}
	return done;
}

static char *put_hex(char *at, unsigned char byte)
{
	*at++ = 'x';
	return trace_text__bytes(at, &byte, 1);
}

static char *escape_byte(char *at, unsigned char c, bool doubled)
{
	*at++ = '\\';
	if (doubled)
		*at++ = '\\';
	switch (c) {
	case '\n': *at++ = 'n'; return at;
	case '\t': *at++ = 't'; return at;
	case '\r': *at++ = 'r'; return at;
	case '\\':
		*at++ = '\\';
		if (doubled)
			*at++ = '\\';
		return at;
	case '"': *at++ = '"'; return at;
	}
	return put_hex(at, c);
}

char *trace_text__escaped(char *at, const char *text, size_t length, char special, bool doubled)
{
	size_t i = copy_plain(at, text, length);

	at += i;
	while (i < length) {
		size_t n;

		if (text[i] != '\\' && (!special || text[i] != special)) {
			n = escape__printable(text + i, length - i);
			if (n) {
				at = trace_text__copy(at, text + i, n);
				i += n;
				continue;
			}
		}
		at = escape_byte(at, (unsigned char)text[i], doubled);
		i++;
		n = copy_plain(at, text + i, length - i);
		at += n;
		i += n;
	}
	return at;
}

/*
 * The length of the well-formed UTF-8 sequence at the start of `length` bytes, 0 if there is none.
 */
static size_t utf8_length(const char *text, size_t length)
{
	char start[5] = {0};

	memcpy(start, text, length < 4 ? length : 4);
	return json__utf8_length(start);
}

/* A non-printable character of the basic plane. */
static char *escape_code(char *at, const char *text, size_t n)
{
	unsigned char code[2], first = (unsigned char)text[0];
	unsigned int value = first;

	if (n == 2)
		value = (first & 0x1fu) << 6 | ((unsigned char)text[1] & 0x3fu);
	else if (n == 3)
		value = (first & 0xfu) << 12 | ((unsigned char)text[1] & 0x3fu) << 6 |
			((unsigned char)text[2] & 0x3fu);
	code[0] = (unsigned char)(value >> 8);
	code[1] = (unsigned char)value;
	return trace_text__bytes(TRACE_TEXT_CONSTANT(at, "\\u"), code, sizeof(code));
}

static char *json_special(char *at, const char *text, size_t n)
{
	switch (text[0]) {
	case '"': return TRACE_TEXT_CONSTANT(at, "\\\"");
	case '\\': return TRACE_TEXT_CONSTANT(at, "\\\\");
	case '\n': return TRACE_TEXT_CONSTANT(at, "\\n");
	case '\t': return TRACE_TEXT_CONSTANT(at, "\\t");
	case '\r': return TRACE_TEXT_CONSTANT(at, "\\r");
	}
	return escape_code(at, text, n);
}

char *trace_text__json(char *at, const char *text, size_t length)
{
	size_t i = copy_plain(at, text, length);

	at += i;
	while (i < length) {
		size_t n = escape__printable(text + i, length - i);

		if (n && text[i] != '"' && text[i] != '\\') {
			at = trace_text__copy(at, text + i, n);
			i += n;
			continue;
		}
		/* json__utf8_length rejects a NUL, which is an ordinary character here. */
		n = text[i] ? utf8_length(text + i, length - i) : 1;
		at = n ? json_special(at, text + i, n) : TRACE_TEXT_CONSTANT(at, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
	return at;
}
