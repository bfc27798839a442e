/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of the text of `gpuprobe stat`: columns of amounts, aligned to the right and as wide as
 * they need to be, and at last a column of names. A column without any amount is left out. On a
 * terminal names are cut in the middle so that lines fit; if that leaves them little, optional
 * columns are left out.
 *
 * Call order: begin; for each row all its cells, its name and end_row; print.
 */
#ifndef OUTPUT_STAT_TABLE_H
#define OUTPUT_STAT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "output/stat/stat.h"

#define STAT_COLUMNS 9

struct stat_table {
	const struct stat_report *report;
	const char *const *heads; /* of the columns of amounts */
	size_t count;
	const char *last; /* head of the names */
	FILE *rows;	  /* in memory: cells that end with a tab, a name, a newline */
	char *text;
	size_t length;
	size_t column; /* of the next cell */
	/* bit for a column that a narrow terminal does not show: others nearly tell it */
	unsigned int optional;
	int widths[STAT_COLUMNS];
	bool used[STAT_COLUMNS];
};

/*
 * Begins a table with `count` columns of amounts, at most STAT_COLUMNS, none of them optional. All
 * arguments must outlive it. Returns false without memory: then no other function may be called.
 */
bool stat_table__begin(struct stat_table *table, const struct stat_report *report,
		       const char *const *heads, size_t count, const char *last);

/* "" and "-" are no amount. */
void stat_table__text(struct stat_table *table, const char *text);

/* "-" for 0. `mark` is "~" for an amount that is estimated, otherwise "". */
void stat_table__count(struct stat_table *table, const char *mark, uint64_t count);
void stat_table__time(struct stat_table *table, const char *mark, uint64_t ns);
void stat_table__bytes(struct stat_table *table, const char *mark, uint64_t bytes);
void stat_table__bandwidth(struct stat_table *table, uint64_t bytes,
			   uint64_t ns); /* "-" for 0 ns */

/* Where the row's name is written, escaped, in one line. */
FILE *stat_table__name(struct stat_table *table);
void stat_table__end_row(struct stat_table *table);

/* Prints an empty line, the heads and the rows, and frees the table. */
void stat_table__print(struct stat_table *table, FILE *out);

#endif
