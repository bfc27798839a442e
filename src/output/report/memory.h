/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory section of the text report. */
#ifndef OUTPUT_REPORT_MEMORY_H
#define OUTPUT_REPORT_MEMORY_H

#include "output/report/text.h"
#include "output/report/totals.h"

/* Writes the section, from num_successful_mallocs on. */
void report_memory__print(FILE *out, const struct model *model, const struct report_totals *totals,
			  const struct report_options *options);

#endif
