/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of the text of `gpuprobe stat`. Each is about one process and follows an empty line;
 * it prints nothing if the table is empty. `gpuprobe diagnose` shares the head.
 */
#ifndef OUTPUT_STAT_TABLES_H
#define OUTPUT_STAT_TABLES_H

#include <stdio.h>

#include "base/quantity.h"
#include "output/stat/stat.h"

void stat_threads__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_launches__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_functions__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_kernels__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_copies__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_memory__print(FILE *out, const struct stat_report *report, const struct process *p);

/* Where the time of several processes goes: `count` of them, in the given order. */
void stat_processes__print(FILE *out, const struct stat_report *report,
			   const struct process *const *processes, size_t count);

/* --- shared parts --- */

#define STAT_CELL 13 /* columns of a cell, whose text is aligned to the right */

void stat_cell__text(FILE *out, const char *text);
void stat_cell__count(FILE *out, uint64_t count);
/* "-" for 0. */
void stat_cell__time(FILE *out, uint64_t ns);
void stat_cell__bytes(FILE *out, uint64_t bytes);

/* The same for a number that may be estimated: `mark` is "~" if it is, otherwise "". */
void stat_cell__about_count(FILE *out, const char *mark, uint64_t count);
void stat_cell__about_time(FILE *out, const char *mark, uint64_t ns);
void stat_cell__about_bytes(FILE *out, const char *mark, uint64_t bytes);

/* "        ... and 3 more WHAT(s)"; nothing if `rest` is 0. */
void stat_cell__rest(FILE *out, size_t rest, const char *what);

/*
 * Prints the rule above a report and the line below it: the time, the duration and the number of
 * processes.
 */
void stat__print_head(FILE *out, const struct stat_report *report);

/* When watching a process ended: at its end, or at the time of the report. */
uint64_t stat__until_ns(const struct stat_report *report, const struct process *process);

/* Prints an empty line and the column names. The last one has no width and follows two blanks. */
void stat_cell__heads(FILE *out, const char *const *names, size_t count, const char *last);

#endif
