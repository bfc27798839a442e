// SPDX-License-Identifier: BSD-2-Clause
// Writes Python's pickle format, see pickle.h. The opcodes are those of Python's pickletools.
#include "base/pickle.h"

#include <string.h>

#include "base/json.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static void opcode(struct pickle *pickle, int code)
{
	putc(code, pickle->out);
}

static void little_endian(struct pickle *pickle, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		putc((int)(value >> 8 * i & 0xff), pickle->out);
}

void pickle__begin(struct pickle *pickle, FILE *out)
{
	*pickle = (struct pickle){.out = out, .memo_count = PICKLE_KEYS};
	opcode(pickle, 0x80); /* PROTO */
	opcode(pickle, 2);
}

void pickle__end(struct pickle *pickle)
{
	opcode(pickle, '.');
}

void pickle__dict_begin(struct pickle *pickle)
{
	fputs("}(", pickle->out); /* EMPTY_DICT MARK */
}

void pickle__dict_end(struct pickle *pickle)
{
	opcode(pickle, 'u'); /* SETITEMS */
}

void pickle__list_begin(struct pickle *pickle)
{
	fputs("](", pickle->out); /* EMPTY_LIST MARK */
}

void pickle__list_end(struct pickle *pickle)
{
	opcode(pickle, 'e'); /* APPENDS */
}

uint32_t pickle__keep(struct pickle *pickle)
{
	opcode(pickle, 'r'); /* LONG_BINPUT */
	little_endian(pickle, pickle->memo_count, 4);
	return pickle->memo_count++;
}

void pickle__again(struct pickle *pickle, uint32_t number)
{
	opcode(pickle, 'j'); /* LONG_BINGET */
	little_endian(pickle, number, 4);
}

/* The memo's first numbers are kept for keys. */
void pickle__key(struct pickle *pickle, const char *key)
{
	for (uint32_t i = 0; i < pickle->key_count; i++) {
		if (pickle->keys[i] == key) {
			pickle__again(pickle, i);
			return;
		}
	}
	pickle__string(pickle, key);
	if (pickle->key_count == PICKLE_KEYS)
		return;
	opcode(pickle, 'r');
	little_endian(pickle, pickle->key_count, 4);
	pickle->keys[pickle->key_count++] = key;
}

/* A reader refuses the whole file for one byte that is not UTF-8. */
void pickle__string(struct pickle *pickle, const char *value)
{
	uint64_t length = 0;
	size_t step;

	if (!value) {
		opcode(pickle, 'N'); /* NONE */
		return;
	}
	for (const char *s = value; *s; s += step ? step : 1) {
		step = json__utf8_length(s);
		length += step ? step : strlen(REPLACEMENT);
	}
	opcode(pickle, 'X'); /* BINUNICODE */
	little_endian(pickle, length, 4);
	for (const char *s = value; *s; s += step ? step : 1) {
		step = json__utf8_length(s);
		if (step)
			fwrite(s, 1, step, pickle->out);
		else
			fputs(REPLACEMENT, pickle->out);
	}
}

void pickle__u64(struct pickle *pickle, uint64_t value)
{
	if (value <= INT32_MAX) {
		opcode(pickle, 'J'); /* BININT */
		little_endian(pickle, value, 4);
		return;
	}
	opcode(pickle, 0x8a); /* LONG1: two's complement, so a ninth byte for the sign */
	opcode(pickle, 9);
	little_endian(pickle, value, 8);
	opcode(pickle, 0);
}

void pickle__bool(struct pickle *pickle, bool value)
{
	opcode(pickle, value ? 0x88 : 0x89); /* NEWTRUE, NEWFALSE */
}

void pickle__pair(struct pickle *pickle, uint64_t first, uint64_t second)
{
	pickle__u64(pickle, first);
	pickle__u64(pickle, second);
	opcode(pickle, 0x86); /* TUPLE2 */
}

void pickle__key_string(struct pickle *pickle, const char *key, const char *value)
{
	pickle__key(pickle, key);
	pickle__string(pickle, value);
}

void pickle__key_u64(struct pickle *pickle, const char *key, uint64_t value)
{
	pickle__key(pickle, key);
	pickle__u64(pickle, value);
}

void pickle__key_bool(struct pickle *pickle, const char *key, bool value)
{
	pickle__key(pickle, key);
	pickle__bool(pickle, value);
}
