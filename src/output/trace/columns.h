/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of a trace: their words, headings and widths, and the default columns of each format.
 */
#ifndef OUTPUT_TRACE_COLUMNS_H
#define OUTPUT_TRACE_COLUMNS_H

#include "output/trace/output.h"

/* minimum width of the details on a terminal; below it they are not a default column */
#define TRACE_MIN_DETAILS 10
/* Columns of texts do not grow if that leaves the details less than this. */
#define TRACE_ENOUGH_DETAILS 30
/*
 * If the terminal leaves them less than this, columns that the reader misses least are not default
 * columns. It has room for a copy or for a kernel with its grid and block.
 */
#define TRACE_GOOD_DETAILS 48

const char *trace_columns__word(enum trace_column column);    /* "process" */
const char *trace_columns__heading(enum trace_column column); /* "PROCESS" */

/* The width at the beginning of a table. The widths of times depend on their form. */
unsigned int trace_columns__width(enum trace_column column, enum trace_timestamps timestamps);

/* The width up to which the column grows in a table if values need it. */
unsigned int trace_columns__limit(enum trace_column column);

/* Whether a value that is too long for the column is cut on a terminal: it is no number. */
bool trace_columns__is_text(enum trace_column column);

/*
 * Chooses the format's default columns; in the table fewer if the terminal is narrow. Sets
 * options->result_below.
 */
void trace_columns__choose(struct trace_output_options *options);

/* The role of the arguments that the column shows, or TRACE_NO_ROLE. */
enum trace_role trace_columns__role(enum trace_column column);

#endif
