/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of the text of `gpuprobe stat`, each of one process, after an empty line; nothing
 * where there is nothing to say. `gpuprobe diagnose` has the head in common with it.
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

/* Where the time of several processes goes, in the order given, `count` of them. */
void stat_processes__print(FILE *out, const struct stat_report *report, const struct process *const *processes,
			   size_t count);

/* --- what they share --- */

#define STAT_CELL 13 /* columns of a cell, which has its text at the right */

void stat_cell__text(FILE *out, const char *text);
void stat_cell__count(FILE *out, uint64_t count);
/* "-" where there is none. */
void stat_cell__time(FILE *out, uint64_t ns);
void stat_cell__bytes(FILE *out, uint64_t bytes);

/* The same of what is estimated where `mark` is "~", and is not where it is "". */
void stat_cell__about_count(FILE *out, const char *mark, uint64_t count);
void stat_cell__about_time(FILE *out, const char *mark, uint64_t ns);
void stat_cell__about_bytes(FILE *out, const char *mark, uint64_t bytes);

/* "        ... and 3 more WHAT(s)"; nothing where there are none. */
void stat_cell__rest(FILE *out, size_t rest, const char *what);

/* The rule above a report and the line below it: when, how long, how many processes. */
void stat__print_head(FILE *out, const struct stat_report *report);

/* Until when a process was watched: its end, or the moment of the report. */
uint64_t stat__until_ns(const struct stat_report *report, const struct process *process);

/* An empty line, and the names of columns; the last, which has no width, after two blanks. */
void stat_cell__heads(FILE *out, const char *const *names, size_t count, const char *last);

#endif
