/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of the table of `gpuprobe top`. As many as the width has room for are shown, the most
 * important ones first; the command line gets the rest. The column that the table is sorted by is
 * always among them.
 */
#ifndef OUTPUT_TOP_COLUMNS_H
#define OUTPUT_TOP_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/quantity.h"
#include "finding/finding.h"
#include "output/top/list.h"

#define TOP_COLUMNS_MAX 16

struct top_column;

/* Those that are shown, from left to right. */
struct top_columns {
	const struct top_column *shown[TOP_COLUMNS_MAX];
	size_t count;
	int command; /* columns for the command line */
	enum quantity_form form;
};

/* What the cells are made of. */
struct top_table {
	const struct model *model;
	const struct findings *findings; /* for the verdicts; NULL: none */
	bool full_path;			 /* the whole command line, not without the folder */
};

/* Exact amounts take wider columns. */
void top_columns__choose(struct top_columns *columns, int width, enum top_sort sort,
			 enum quantity_form form);

/* Both write a line without a newline; the heads mark the one that is sorted by. */
void top_columns__heads(FILE *out, const struct top_columns *columns, enum top_sort sort);
void top_columns__row(FILE *out, const struct top_columns *columns, const struct top_table *table,
		      const struct top_row *row);

#endif
