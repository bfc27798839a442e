// SPDX-License-Identifier: BSD-2-Clause
// Checks the files of a line table before libdw reads them; see line_table.h.
#include "symbol/line_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define FILES_BYTES_MAX (128ull << 20)
#define STRINGS_BYTES_MAX (16ull << 20) /* scanned; any number of entries may share a string */
#define FILE_SIZE 64			/* libdw's structures for a file, without its name */
#define LEB128_BYTES_MAX 10
#define FORMATS_MAX 16 /* fields of an entry; compilers use two or three */

/* The rest of the table. `failed`: a read went beyond its end. */
struct reader {
	const struct line_table *table;
	const uint8_t *at, *end;
	uint64_t gone_through;
	bool failed;
};

/* Entries of one kind, folders or files. */
struct entries {
	uint64_t count, longest;
};

static const uint8_t *take(struct reader *reader, uint64_t size)
{
	const uint8_t *at = reader->at;

	if (reader->failed || size > (uint64_t)(reader->end - at)) {
		reader->failed = true;
		return NULL;
	}
	reader->at += size;
	return at;
}

static uint64_t take_number(struct reader *reader, uint64_t size)
{
	const uint8_t *at = take(reader, size);
	uint64_t number = 0;

	if (at)
		memcpy(&number, at, size); /* in this machine's byte order, as all programs */
	return number;
}

static uint64_t take_leb128(struct reader *reader)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < LEB128_BYTES_MAX; i++) {
		const uint8_t *at = take(reader, 1);

		if (!at)
			return 0;
		if (i < LEB128_BYTES_MAX - 1)
			number |= (uint64_t)(*at & 0x7f) << (7 * i);
		if (!(*at & 0x80))
			return number;
	}
	reader->failed = true;
	return 0;
}

/* The length of the string at `at`. */
static uint64_t length_of(struct reader *reader, const uint8_t *at, size_t size)
{
	const uint8_t *end = size ? memchr(at, 0, size) : NULL;

	if (!end) {
		reader->failed = true;
		return 0;
	}
	reader->gone_through += (uint64_t)(end - at) + 1;
	return (uint64_t)(end - at);
}

static uint64_t take_string(struct reader *reader)
{
	uint64_t length = length_of(reader, reader->at, (size_t)(reader->end - reader->at));

	take(reader, length + 1);
	return length;
}

static uint64_t take_reference(struct reader *reader, const uint8_t *strings, size_t size)
{
	uint64_t offset = take_number(reader, 4);

	if (reader->failed || offset >= size) {
		reader->failed = true;
		return 0;
	}
	return length_of(reader, strings + offset, size - offset);
}

/* Reads one value of an entry. Returns its length if it is a string, otherwise 0. */
static uint64_t take_form(struct reader *reader, uint64_t form)
{
	const struct line_table *table = reader->table;

	switch (form) {
	case DW_FORM_string: return take_string(reader);
	case DW_FORM_line_strp:
		return take_reference(reader, table->line_strings, table->line_strings_size);
	case DW_FORM_strp: return take_reference(reader, table->strings, table->strings_size);
	case DW_FORM_udata: take_leb128(reader); return 0;
	case DW_FORM_data1: take(reader, 1); return 0;
	case DW_FORM_data2: take(reader, 2); return 0;
	case DW_FORM_data4: take(reader, 4); return 0;
	case DW_FORM_data8: take(reader, 8); return 0;
	case DW_FORM_data16: take(reader, 16); return 0;
	case DW_FORM_block: take(reader, take_leb128(reader)); return 0;
	default: reader->failed = true; return 0;
	}
}

static void add_entry(struct entries *entries, uint64_t length)
{
	entries->count++;
	if (length > entries->longest)
		entries->longest = length;
}

/* DWARF 5: the description of entries, their number, and the entries. */
static void take_described(struct reader *reader, struct entries *entries)
{
	uint64_t formats = take_number(reader, 1), forms[FORMATS_MAX], count;

	if (formats > FORMATS_MAX) {
		reader->failed = true;
		return;
	}
	for (uint64_t i = 0; i < formats; i++) {
		take_leb128(reader);
		forms[i] = take_leb128(reader);
	}
	count = take_leb128(reader);
	if (count && !formats)
		reader->failed = true;
	while (count-- && !reader->failed && reader->gone_through <= STRINGS_BYTES_MAX) {
		uint64_t length = 0;

		for (uint64_t i = 0; i < formats; i++)
			length += take_form(reader, forms[i]);
		add_entry(entries, length);
	}
}

/* Before DWARF 5: strings, and for files three numbers each, ended by an empty string. */
static void take_listed(struct reader *reader, unsigned int numbers, struct entries *entries)
{
	for (;;) {
		uint64_t length = take_string(reader);

		if (reader->failed || !length)
			return;
		for (unsigned int i = 0; i < numbers; i++)
			take_leb128(reader);
		add_entry(entries, length);
	}
}

/*
 * Upper bound of the files that the table's program defines: the number of positions that look like
 * it.
 */
static uint64_t files_in_program(const struct line_table *table)
{
	const uint8_t *begin = table->at + 6; /* after length and version */
	uint64_t count = 0;

	for (const uint8_t *at = begin + 2; at < table->at + table->size; at++) {
		const uint8_t *before = at - 2;

		if (*at != DW_LNE_define_file || at[-1] & 0x80)
			continue;
		while (before > begin && *before & 0x80 && at - before <= LEB128_BYTES_MAX)
			before--;
		/* An instruction of length 0 is none. */
		if (!*before && (at[-1] || at - before > 2))
			count++;
	}
	return count;
}

static void take_header(struct reader *reader, struct entries *folders, struct entries *files)
{
	uint64_t version, opcodes;

	take(reader, 4);
	version = take_number(reader, 2);
	if (version < 2 || version > 5)
		reader->failed = true;
	take(reader, version == 5 ? 2 : 0);
	take(reader, 4 + 1); /* header length, minimum instruction length */
	take(reader, version >= 4);
	take(reader, 3); /* is_stmt, line base and line range */
	opcodes = take_number(reader, 1);
	take(reader, opcodes ? opcodes - 1 : 0);
	if (version == 5) {
		take_described(reader, folders);
		take_described(reader, files);
	} else {
		take_listed(reader, 0, folders);
		take_listed(reader, 3, files);
	}
}

int line_table__files_bytes(const struct line_table *table, uint64_t *bytes)
{
	struct reader reader = {.table = table, .at = table->at, .end = table->at + table->size};
	struct entries folders = {.longest = table->folder_length}, files = {0};

	take_header(&reader, &folders, &files);
	if (reader.gone_through > STRINGS_BYTES_MAX)
		return -EFBIG;
	if (reader.failed)
		return -EBADMSG;
	/* All names in the program together are at most as long as the table. */
	files.count += files_in_program(table);
	if (files.count &&
	    folders.longest + files.longest + FILE_SIZE > FILES_BYTES_MAX / files.count)
		return -EFBIG;
	*bytes = files.count * (folders.longest + files.longest + FILE_SIZE) + table->size;
	return 0;
}
