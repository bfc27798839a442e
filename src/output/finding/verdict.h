/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process repeats (model/steps.h) and who waits for whom (finding/verdict.h), at the head of `stat` and `diagnose`; the
 * monitor has parts of it.
 */
#ifndef OUTPUT_FINDING_VERDICT_H
#define OUTPUT_FINDING_VERDICT_H

#include <stdio.h>

#include "base/json.h"
#include "finding/verdict.h"
#include "output/stat/stat.h"

/*
 * For each process of which either is known, after an empty line, its steps, the verdict, and where the time of its threads goes:
 *
 *     process 4711 (python3 train.py), GPU 0: 412 steps of 72.6 ms (p99 95.1 ms), 377 launches each
 *     the GPU waits for the program: idle at least 71.0 % of the steady time (proved), busy about 15.0 % (NVML)
 */
void verdict_text__print(FILE *out, const struct stat_report *report);

/* The line: "process 123 (python3): the GPU waits for the program (host-bound): idle at least ...". */
void verdict_text__print_line(FILE *out, const struct process *process, const struct verdict *verdict);

/* The member `verdict`. */
void verdict_json__write_one(struct json *j, const struct verdict *verdict);

/* The same of the process's steady time; nothing for a process without a profile. */
void verdict_json__write(struct json *j, const struct stat_report *report, const struct process *process);

#endif
