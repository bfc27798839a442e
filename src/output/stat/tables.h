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
#include "output/stat/table.h"

void stat_threads__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_launches__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_functions__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_kernels__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_gpu_times__print(FILE *out, const struct stat_report *report, const struct process *p);
/* The table of those that come from a sample, and a line about it. */
void stat_gpu_sample__print(FILE *out, const struct stat_report *report, const struct process *p,
			    const struct gpu_process_times *times);
void stat_ranges__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_copies__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_memory__print(FILE *out, const struct stat_report *report, const struct process *p);
void stat_sites__print(FILE *out, const struct stat_report *report, const struct process *p);

/* Where the time of several processes goes: `count` of them, in the given order. */
void stat_processes__print(FILE *out, const struct stat_report *report,
			   const struct process *const *processes, size_t count);

/* What was lost of the GPU times of all processes; nothing if nothing was. */
void stat_gpu_times__print_losses(FILE *out, const struct stat_report *report);

/* The same of NVTX ranges. */
void stat_ranges__print_losses(FILE *out, const struct stat_report *report);

/* --- shared parts --- */

/* An amount, exact with --exact. */
struct quantity stat_cell__bytes(const struct stat_report *report, uint64_t bytes);
struct quantity stat_cell__time(const struct stat_report *report, uint64_t ns);
struct quantity stat_cell__bandwidth(const struct stat_report *report, uint64_t bytes, uint64_t ns);

/*
 * Writes a kernel into a table's row, see kernel_label__text: its label, or its name with
 * --full-names. A `mangled` of NULL: unknown.
 */
void stat_cell__kernel(struct stat_table *table, const char *mangled, uint64_t *spent_ns);

/* "        ... and 3 more WHAT(s)"; nothing if `rest` is 0. */
void stat_cell__rest(FILE *out, size_t rest, const char *what);

/*
 * Prints the rule above a report and the line below it: the time, the duration and the number of
 * processes.
 */
void stat__print_head(FILE *out, const struct stat_report *report);

/* When watching a process ended: at its end, or at the time of the report. */
uint64_t stat__until_ns(const struct stat_report *report, const struct process *process);

#endif
