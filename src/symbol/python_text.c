// SPDX-License-Identifier: BSD-2-Clause
// Strings of a Python process; see python_text.h.
#include "symbol/python_text.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffd
#define HEAD_SIZE 40 /* up to and including the state */

static uint32_t character_at(const uint8_t *characters, size_t index, unsigned int width)
{
	uint32_t wide;
	uint16_t half;

	if (width == 1)
		return characters[index];
	if (width == 2) {
		memcpy(&half, characters + index * width, sizeof(half));
		return half;
	}
	memcpy(&wide, characters + index * width, sizeof(wide));
	return wide;
}

static char *put_character(char *at, uint32_t c)
{
	if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = REPLACEMENT;
	if (c < 0x80) {
		*at++ = (char)c;
		return at;
	}
	if (c < 0x800) {
		*at++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*at++ = (char)(0xe0 | c >> 12);
		} else {
			*at++ = (char)(0xf0 | c >> 18);
			*at++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*at++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*at++ = (char)(0x80 | (c & 0x3f));
	return at;
}

/*
 * Encodes `count` characters of `width` bytes (1, 2 or 4) as UTF-8. Returns the length without the
 * NUL; `text` must have room for 4 bytes per character and the NUL.
 */
static size_t encode(const void *characters, size_t count, unsigned int width, char *text)
{
	char *at = text;

	for (size_t i = 0; i < count; i++)
		at = put_character(at, character_at(characters, i, width));
	*at = '\0';
	return (size_t)(at - text);
}

char *python_text__read(struct memory_reader *memory, pid_t pid,
			const struct python_offsets *offsets, uint64_t address)
{
	uint8_t head[HEAD_SIZE], characters[PYTHON_TEXT_MAX * 4];
	unsigned int width, compact, ascii;
	uint64_t type, length;
	uint32_t state;
	char *text;

	if (memory_reader__read(memory, pid, address, head, sizeof(head)))
		return NULL;
	memcpy(&type, head + PYTHON_OB_TYPE, sizeof(type));
	if (type != offsets->text_type)
		return NULL;
	memcpy(&length, head + PYTHON_TEXT_LENGTH, sizeof(length));
	memcpy(&state, head + PYTHON_TEXT_STATE, sizeof(state));
	width = state >> 2 & 7;
	compact = state >> 5 & 1;
	ascii = state >> 6 & 1;
	if (!compact || (width != 1 && width != 2 && width != 4) || (ascii && width != 1) ||
	    length > INT32_MAX)
		return NULL;
	if (length > PYTHON_TEXT_MAX)
		length = PYTHON_TEXT_MAX;
	if (memory_reader__read(memory, pid,
				address + (ascii ? offsets->text_ascii : offsets->text_other),
				characters, length * width))
		return NULL;
	text = malloc(length * 4 + 1);
	if (text)
		encode(characters, length, width, text);
	return text;
}
