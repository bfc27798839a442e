/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libdw makes of a table of lines, found out before it does. It keeps a
 * string of folder and name for each file (read_srclines in libdw 0.188), so
 * that a table of 500 KB with one long folder asks for hundreds of megabytes.
 */
#ifndef SYMBOL_LINE_TABLE_H
#define SYMBOL_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct line_table {
	const uint8_t *at; /* from its length on; 32-bit DWARF, versions 2 to 5 */
	size_t size;
	/* .debug_line_str and .debug_str; of size 0 where there are none */
	const uint8_t *line_strings, *strings;
	size_t line_strings_size, strings_size;
	size_t folder_length; /* of the unit's own folder, which the table need not name */
};

/*
 * 0, and in *bytes not less than what its files take; -EFBIG where that is more
 * than 128 MiB or its strings are more than 16 MiB; -EBADMSG where it ends
 * before it should, or is written as no compiler does.
 */
int line_table__files_bytes(const struct line_table *table, uint64_t *bytes);

#endif
