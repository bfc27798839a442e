/* SPDX-License-Identifier: BSD-2-Clause */
/* Who waits for whom (finding/verdict.h), in `stat` and `diagnose`. */
#ifndef OUTPUT_VERDICT_H
#define OUTPUT_VERDICT_H

#include <stdio.h>

#include "base/json.h"
#include "output/stat/stat.h"

/* A line for each process that has an account and has had work. Returns how many. */
size_t verdict_text__print(FILE *out, const struct stat_report *report);

/* The member `verdict`; nothing for a process without an account. */
void verdict_json__write(struct json *j, const struct stat_report *report, const struct process *process);

#endif
