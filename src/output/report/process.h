/* SPDX-License-Identifier: BSD-2-Clause */
/* The section of the text report that tells whose the processes are and which GPUs they have. */
#ifndef OUTPUT_REPORT_PROCESS_H
#define OUTPUT_REPORT_PROCESS_H

#include <stdio.h>

#include "model/model.h"

/* Nothing where no process is identified. */
void report_process__print(FILE *out, const struct model *model);

#endif
