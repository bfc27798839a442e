/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a trace: their words, headings and widths, and which a form of output has by itself. */
#ifndef OUTPUT_TRACE_COLUMNS_H
#define OUTPUT_TRACE_COLUMNS_H

#include "output/trace/output.h"

#define TRACE_MIN_DETAILS 10 /* columns of a terminal, or else there are none by default */

const char *trace_columns__word(enum trace_column column);    /* "process" */
const char *trace_columns__heading(enum trace_column column); /* "PROCESS" */

/* Of the table without a terminal; the times' depend on their form. */
unsigned int trace_columns__width(enum trace_column column, enum trace_timestamps timestamps);

/* What the columns take with a space between each two, without the details. */
unsigned int trace_columns__others(const struct trace_output_options *options);

/* The format's own choice; in the table fewer where the terminal is narrow. */
void trace_columns__choose(struct trace_output_options *options);

/* The role of arguments that the column shows, or TRACE_NO_ROLE. */
enum trace_role trace_columns__role(enum trace_column column);

#endif
