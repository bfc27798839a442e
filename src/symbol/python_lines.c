// SPDX-License-Identifier: BSD-2-Clause
// Line numbers of Python code; see python_lines.h.
#include "symbol/python_lines.h"

/*
 * Lines are kept in 64 bits while hostile steps are added: a table of 2^32 bytes cannot overflow
 * them.
 */
static int line_of(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (int)line : 0;
}

/* Pairs (bytes of code: unsigned, lines: signed): the line changes after those bytes. */
static int find_in_lnotab(const uint8_t *table, size_t size, int first_line, uint32_t offset)
{
	uint64_t address = 0;
	int64_t line = first_line;

	for (size_t i = 0; i + 1 < size; i += 2) {
		address += table[i];
		if (address > offset)
			break;
		line += (int8_t)table[i + 1];
	}
	return line_of(line);
}

#define RANGE_WITHOUT_LINE (-128)

/* Pairs (bytes of code: unsigned, lines: signed): those bytes have the line after the step. */
static int find_in_ranges(const uint8_t *table, size_t size, int first_line, uint32_t offset)
{
	uint64_t end = 0;
	int64_t line = first_line;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int step = (int8_t)table[i + 1];

		end += table[i];
		if (step != RANGE_WITHOUT_LINE)
			line += step;
		if (offset < end)
			return step == RANGE_WITHOUT_LINE ? 0 : line_of(line);
	}
	return 0;
}

#define UNIT 2 /* bytes of an instruction */

enum location {
	LOCATION_ONE_LINE = 10, /* this and the next two: the line advances by 0, 1 or 2 */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG,
	LOCATION_NONE,
};

struct cursor {
	const uint8_t *at, *end;
};

/* Groups of six bits, lowest first; bits above 64 are lost. */
static uint64_t take_varint(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		if (cursor->at == cursor->end)
			return value;
		byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	return value;
}

/* The sign is the lowest bit. No real line is near 2^31. */
static int64_t take_line_step(struct cursor *cursor)
{
	uint64_t value = take_varint(cursor);
	int64_t step = (int64_t)(value >> 1 & INT32_MAX);

	return value & 1 ? -step : step;
}

/* The line step of the entry that begins with `code`. */
static int64_t take_entry(struct cursor *cursor, unsigned int code)
{
	int64_t step = 0;

	if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS)
		step = code - LOCATION_ONE_LINE;
	else if (code == LOCATION_NO_COLUMNS || code == LOCATION_LONG)
		step = take_line_step(cursor);
	/*
	 * Skips the columns: every entry begins with a byte of 128 or more, and no other byte is
	 * that large.
	 */
	while (cursor->at < cursor->end && !(*cursor->at & 128))
		cursor->at++;
	return step;
}

static int find_in_locations(const uint8_t *table, size_t size, int first_line, uint32_t offset)
{
	struct cursor cursor = {.at = table, .end = table + size};
	int64_t line = first_line;
	uint64_t end = 0;

	while (cursor.at < cursor.end) {
		uint8_t first = *cursor.at++;
		unsigned int code = first >> 3 & 15;

		if (!(first & 128))
			return 0;
		end += ((first & 7) + 1u) * UNIT;
		line += take_entry(&cursor, code);
		if (offset < end)
			return code == LOCATION_NONE ? 0 : line_of(line);
	}
	return 0;
}

int python_lines__find(enum python_lines form, const uint8_t *table, size_t size, int first_line,
		       uint32_t offset)
{
	switch (form) {
	case PYTHON_LINES_LNOTAB: return find_in_lnotab(table, size, first_line, offset);
	case PYTHON_LINES_RANGES: return find_in_ranges(table, size, first_line, offset);
	case PYTHON_LINES_LOCATIONS: return find_in_locations(table, size, first_line, offset);
	default: return 0;
	}
}
