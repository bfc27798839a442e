/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of `stat` and `diagnose`: the steps of a process (model/steps.h) and who waits for whom
 * (finding/verdict.h). The monitor prints parts of it.
 */
#ifndef OUTPUT_FINDING_VERDICT_H
#define OUTPUT_FINDING_VERDICT_H

#include <stdio.h>

#include "base/json.h"
#include "finding/verdict.h"
#include "output/stat/stat.h"

/*
 * Prints the steps, the verdict and where the threads' time went, for each process of which steps
 * or verdict are known. An empty line comes before each process:
 *
 *     process 4711 (python3 train.py), GPU 0: 412 steps of 72.6 ms (p99 95.1 ms), ...
 *     the GPU waits for the program: idle at least 71.0 % of the steady time (proved), ...
 */
void verdict_text__print(FILE *out, const struct stat_report *report);

/*
 * Prints "the GPU waits for the program (host-bound): idle at least ...", escaped and without a
 * newline.
 */
void verdict_text__print_sentence(FILE *out, const struct verdict *verdict);

/* Writes the member `verdict`. */
void verdict_json__write_one(struct json *j, const struct verdict *verdict);

/*
 * The same, judged over the process's steady time. Writes nothing for a process without a profile.
 */
void verdict_json__write(struct json *j, const struct stat_report *report,
			 const struct process *process);

#endif
