/* SPDX-License-Identifier: BSD-2-Clause */
/* The report's section on waits: how long threads were blocked, and in what. */
#ifndef OUTPUT_REPORT_WAITS_H
#define OUTPUT_REPORT_WAITS_H

#include <stdio.h>

#include "model/model.h"

/* Nothing at all where no process has waited or asked. */
void report_waits__print(FILE *out, const struct model *model);

#endif
