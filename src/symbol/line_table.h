/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks how much libdw would make of a line table, before it reads it. libdw keeps a string of
 * folder and name for each file (read_srclines in libdw 0.188), so a table of 500 KB with one long
 * folder takes hundreds of megabytes.
 */
#ifndef SYMBOL_LINE_TABLE_H
#define SYMBOL_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct line_table {
	const uint8_t *at; /* including its length field; 32-bit DWARF, versions 2 to 5 */
	size_t size;
	/* .debug_line_str and .debug_str; size 0 if missing */
	const uint8_t *line_strings, *strings;
	size_t line_strings_size, strings_size;
	size_t folder_length; /* length of the unit's own folder, which need not be in the table */
};

/*
 * Returns 0, and sets *bytes to an upper bound of the memory of its files. -EFBIG if that is more
 * than 128 MiB or its strings are more than 16 MiB; -EBADMSG if the table is cut off, or is not as
 * compilers write it.
 */
int line_table__files_bytes(const struct line_table *table, uint64_t *bytes);

#endif
