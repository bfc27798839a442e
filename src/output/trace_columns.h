/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a trace: their words, headings and widths, and which a form of output has by itself. */
#ifndef OUTPUT_TRACE_COLUMNS_H
#define OUTPUT_TRACE_COLUMNS_H

#include "output/trace_output.h"

const char *trace_columns__word(enum trace_column column);    /* "process" */
const char *trace_columns__heading(enum trace_column column); /* "PROCESS" */

/* Of the table without a terminal; the times' depend on their form. */
unsigned int trace_columns__width(enum trace_column column, enum trace_timestamps timestamps);

/* The format's own choice, into `columns`; returns how many. */
size_t trace_columns__default(enum trace_format format, enum trace_column columns[COLUMN_COUNT]);

/* The role of arguments that the column shows, or TRACE_NO_ROLE. */
enum trace_role trace_columns__role(enum trace_column column);

#endif
