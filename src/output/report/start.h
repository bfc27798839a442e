/* SPDX-License-Identifier: BSD-2-Clause */
/* The start of a process (model/start.h) as text. */
#ifndef OUTPUT_REPORT_START_H
#define OUTPUT_REPORT_START_H

#include <stdio.h>

#include "model/model.h"

/* The section of a process: how long its start took, and where the time went. Nothing where it has launched nothing. */
void report_start__print(FILE *out, const struct process *process, uint64_t began_ns);

#endif
