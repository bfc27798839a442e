// SPDX-License-Identifier: BSD-2-Clause
// How many files libdw would make of a line table: for each version, for tables that demand much,
// and cut off anywhere.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>

#include "symbol/line_table.h"

#define ROOM (1u << 20)
#define LONG 500000
#define FILE_SIZE 64 /* added by line_table.c for each file */

struct table {
	uint8_t *bytes;
	size_t size;
};

static void put(struct table *table, const void *data, size_t size)
{
	assert_true(table->size + size <= ROOM);
	memcpy(table->bytes + table->size, data, size);
	table->size += size;
}

#define PUT(table, ...) \
	do { \
		const uint8_t put_[] = {__VA_ARGS__}; \
		put(table, put_, sizeof(put_)); \
	} while (0)

static struct table begin(uint8_t version)
{
	struct table table = {.bytes = malloc(ROOM)};

	assert_non_null(table.bytes);
	PUT(&table, 0, 0, 0, 0, version, 0);
	if (version == 5)
		PUT(&table, 8, 0);
	/* The header's length, which is ignored; minimum instruction length. */
	PUT(&table, 0, 0, 0, 0, 1);
	if (version >= 4)
		PUT(&table, 1);
	PUT(&table, 1, 0xfb, 14, 4, 0, 1, 1);
	return table;
}

static void put_long(struct table *table)
{
	char *name = malloc(LONG);

	assert_non_null(name);
	memset(name, 'd', LONG);
	put(table, name, LONG);
	PUT(table, 0);
	free(name);
}

/* Frees the table. AddressSanitizer catches reads beyond its end. */
static int count_in(struct table *table, const char *strings, size_t strings_size, uint64_t *bytes)
{
	struct line_table lines = {
		.size = table->size,
		.line_strings = (const uint8_t *)strings,
		.line_strings_size = strings_size,
		.folder_length = 10,
	};
	int ret;

	lines.at = table->bytes = realloc(table->bytes, table->size);
	assert_non_null(lines.at);
	ret = line_table__files_bytes(&lines, bytes);
	free(table->bytes);
	return ret;
}

static void of_each_version(void **state)
{
	static const char strings[] = "/home/somebody\0main.c";
	uint64_t bytes;

	(void)state;
	for (uint8_t version = 2; version <= 5; version++) {
		struct table table = begin(version);
		size_t size, longest = 10 + 6;

		if (version < 5) {
			put(&table,
			    "sub\0\0"
			    "main.c\0\1\0\0"
			    "head.h\0\0\0\0",
			    26);
			PUT(&table, 0);
		} else {
			longest = 14 + 6;
			PUT(&table, 1, DW_LNCT_path, DW_FORM_line_strp, 1, 0, 0, 0, 0);
			PUT(&table, 3, DW_LNCT_path, DW_FORM_line_strp, DW_LNCT_directory_index,
			    DW_FORM_udata, DW_LNCT_MD5, DW_FORM_data16, 2);
			PUT(&table, 15, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
			    15, 16);
			PUT(&table, 15, 0, 0, 0, 0x80, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
			    14, 15, 16);
		}
		PUT(&table, DW_LNS_copy, 0, 1, DW_LNE_end_sequence);
		size = table.size;
		assert_int_equal(count_in(&table, strings, sizeof(strings), &bytes), 0);
		assert_int_equal(bytes, 2 * (longest + FILE_SIZE) + size);
	}
}

/* A folder of the maximum length, in many files; only the program names some of them. */
static void long_folders(void **state)
{
	static const struct {
		int files, in_program, expected;
	} cases[] = {{10, 0, 0}, {1000, 0, -EFBIG}, {0, 10, 0}, {0, 1000, -EFBIG}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct table table = begin(4);
		uint64_t bytes = 0;

		put_long(&table);
		PUT(&table, 0);
		for (int n = 0; n < cases[i].files; n++)
			PUT(&table, 'a', 0, 1, 0, 0);
		PUT(&table, 0);
		for (int n = 0; n < cases[i].in_program; n++)
			PUT(&table, 0, 0x86, 0x80, 0, DW_LNE_define_file, 'a', 0, 1, 0, 0);
		assert_int_equal(count_in(&table, NULL, 0, &bytes), cases[i].expected);
		if (!cases[i].expected)
			assert_true(bytes > 10 * LONG);
	}
}

/* Many entries name one long string, which would be scanned as often. */
static void one_string_often(void **state)
{
	struct table table = begin(5);
	char *strings = calloc(1, LONG + 1);
	uint64_t bytes;

	(void)state;
	assert_non_null(strings);
	memset(strings, 'd', LONG);
	PUT(&table, 1, DW_LNCT_path, DW_FORM_line_strp, 0xe8, 0x07);
	for (int n = 0; n < 1000; n++)
		PUT(&table, 0, 0, 0, 0);
	PUT(&table, 0, 0);
	assert_int_equal(count_in(&table, strings, LONG + 1, &bytes), -EFBIG);
	free(strings);
}

static void written_as_by_no_compiler(void **state)
{
	/* clang-format off */
	static const struct {
		uint8_t version, size, bytes[8];
	} cases[] = {
		{5, 5, {0, 9, 0, 0, 0}}, /* nine entries of nothing */
		{5, 5, {17, 1, 8, 0, 0}},				  /* too many formats */
		{5, 6, {1, DW_LNCT_path, DW_FORM_strx, 1, 0, 0}}, /* a form for split units */
		/* Beyond the strings. */
		{5, 8, {1, DW_LNCT_path, DW_FORM_line_strp, 1, 9, 0, 0, 0}},
		/* In strings that do not exist. */
		{5, 8, {1, DW_LNCT_path, DW_FORM_strp, 1, 0, 0, 0, 0}},
		{5, 6, {1, DW_LNCT_path, DW_FORM_block, 1, 0xff, 0x7f}}, /* longer than the table */
		{6, 2, {0, 0}}, {1, 2, {0, 0}}, {4, 2, {'a', 'b'}},
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct table table = begin(cases[i].version);
		uint64_t bytes;

		put(&table, cases[i].bytes, cases[i].size);
		assert_int_equal(count_in(&table, "strings", 8, &bytes), -EBADMSG);
	}
}

static void cut_off_anywhere(void **state)
{
	(void)state;
	for (uint8_t version = 2; version <= 5; version++) {
		size_t whole = 0;

		for (size_t size = 6; !whole || size < whole; size++) {
			struct table table = begin(version);
			uint64_t bytes;

			if (version < 5)
				put(&table,
				    "sub\0\0"
				    "main.c\0\1\0\0",
				    16);
			else
				PUT(&table, 1, DW_LNCT_path, DW_FORM_string, 1, '/', 0, 1,
				    DW_LNCT_path, DW_FORM_string, 1, 'a', 0);
			whole = table.size;
			table.size = size;
			assert_int_equal(count_in(&table, NULL, 0, &bytes), -EBADMSG);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_version),  cmocka_unit_test(long_folders),
		cmocka_unit_test(one_string_often), cmocka_unit_test(written_as_by_no_compiler),
		cmocka_unit_test(cut_off_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
