/* SPDX-License-Identifier: BSD-2-Clause */
/* The section of the text report on streams, events, contexts, modules and libraries. */
#ifndef OUTPUT_REPORT_OBJECTS_H
#define OUTPUT_REPORT_OBJECTS_H

#include "output/report/text.h"

/* Nothing where no process has any. */
void report_objects__print(FILE *out, const struct model *model);

#endif
