/* SPDX-License-Identifier: BSD-2-Clause */
/* Who waits for whom (finding/verdict.h), a line a process, in the monitor's report. */
#ifndef OUTPUT_REPORT_VERDICTS_H
#define OUTPUT_REPORT_VERDICTS_H

#include <stdio.h>

#include "output/report/text.h"

/* The section: the latest VERDICT_SPAN_NS of each process that has been followed for some time; nothing where there is none. */
void report_verdicts__print(FILE *out, const struct model *model, const struct report_options *options);

#endif
