/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces that the sections of the text report have in common. */
#ifndef OUTPUT_REPORT_LINE_H
#define OUTPUT_REPORT_LINE_H

#include "output/report/text.h"

/* Before and after a report. */
#define REPORT_RULE "========================\n"

/* What an entry of a process is indented by. */
#define REPORT_INDENT "        "

/* "2026-11-22 14:02:11" */
void report_line__date(FILE *out, const struct model *model);

/* Why there is no process to tell of, after an empty line. */
void report_line__no_process(FILE *out, const struct model *model);

/* The processes that were asked for and have not called, a line. Whether there are any. */
bool report_line__no_call(FILE *out, const struct model *model);

/* The same after an empty line, where others have called. */
void report_line__silent(FILE *out, const struct model *model);

/* How many entries of a list of `count` are shown under --top. */
size_t report_line__cut(const struct report_options *options, size_t count);

/* The line that heads a process: "process 12 (train) since attach". */
void report_line__process(FILE *out, const struct process *process);

/* That what the process allocated before gpuprobe was there is not known, and what NVML says; nothing of one that was seen from its start. */
void report_line__before_attach(FILE *out, const struct process *process);

/* Why some stacks are not known any more, a line; nothing where none has left. */
void report_line__evicted(FILE *out, const struct model *model);

/* What has been lost so far, after an empty line; nothing where nothing has. */
void report_line__losses(FILE *out, const struct model *model);

/* "1ms", "1.5us": as options take times. */
void report_line__time(FILE *out, uint64_t ns);

/* "0.05344 secs" */
void report_line__seconds(FILE *out, uint64_t ns);

/* "s" where `count` things are named in the plural, else "". */
const char *report_line__plural(uint64_t count);

#endif
