/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces that the sections of the text report share. */
#ifndef OUTPUT_REPORT_LINE_H
#define OUTPUT_REPORT_LINE_H

#include "base/quantity.h"
#include "output/report/text.h"

/* The line before and after a report. */
#define REPORT_RULE "========================\n"

/* Indentation of the entries of a process. */
#define REPORT_INDENT "        "

/* "2026-11-22 14:02:11" */
void report_line__date(FILE *out, const struct model *model);

/* Prints, after an empty line, why there is no process to report. */
void report_line__no_process(FILE *out, const struct model *model);

/* Prints a line with the target processes that have made no call. Returns whether there are any. */
bool report_line__no_call(FILE *out, const struct model *model);

/* The same after an empty line, for reports in which other processes have made calls. */
void report_line__silent(FILE *out, const struct model *model);

/* The number of entries of a list of `count` that --top shows. */
size_t report_line__cut(const struct report_options *options, size_t count);

/* Prints the line that heads a process: "process 12 (train) since attach". */
void report_line__process(FILE *out, const struct process *process);

/*
 * Prints that memory allocated before gpuprobe attached is unknown, and what NVML reports. Prints
 * nothing for a process that was watched from its start.
 */
void report_line__before_attach(FILE *out, const struct process *process, enum quantity_form form);

/* Prints a line that explains why some stacks are no longer known; nothing if none was evicted. */
void report_line__evicted(FILE *out, const struct model *model);

/* Prints the losses so far after an empty line; nothing if there are none. */
void report_line__losses(FILE *out, const struct model *model);

/* "1ms", "1.5us": the form in which options take times. */
void report_line__time(FILE *out, uint64_t ns);

/* "0.05344 secs" */
void report_line__seconds(FILE *out, uint64_t ns);

/* "s" if `count` needs a plural, else "". */
const char *report_line__plural(uint64_t count);

#endif
