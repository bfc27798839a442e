/* SPDX-License-Identifier: BSD-2-Clause */
/* Who waits for whom (finding/verdict.h), in `stat` and `diagnose`; the monitor has parts of it. */
#ifndef OUTPUT_VERDICT_H
#define OUTPUT_VERDICT_H

#include <stdio.h>

#include "base/json.h"
#include "finding/verdict.h"
#include "output/stat/stat.h"

/* A line for each process that has an account and has had work. Returns how many. */
size_t verdict_text__print(FILE *out, const struct stat_report *report);

/* The line: "process 123 (python3): host-bound: the GPU waits for the program: of 60.0 s ...". */
void verdict_text__print_line(FILE *out, const struct process *process, const struct verdict *verdict);

/* The member `verdict`. */
void verdict_json__write_one(struct json *j, const struct verdict *verdict);

/* The same of the process's steady time; nothing for a process without an account. */
void verdict_json__write(struct json *j, const struct stat_report *report, const struct process *process);

#endif
