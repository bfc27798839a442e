/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that have not returned, in the text of reports. */
#ifndef OUTPUT_REPORT_OPEN_CALLS_H
#define OUTPUT_REPORT_OPEN_CALLS_H

#include "output/report/text.h"

/* The section of the report; nothing where no call has lasted for long. */
void report_open_calls__print(FILE *out, const struct model *model);

/* A process's, a line for each function, without what heads the process. Returns whether there is any. */
bool report_open_calls__list(FILE *out, const struct model *model, const struct process *p);

#endif
