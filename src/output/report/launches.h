/* SPDX-License-Identifier: BSD-2-Clause */
/* The launches of the report for people. */
#ifndef OUTPUT_REPORT_LAUNCHES_H
#define OUTPUT_REPORT_LAUNCHES_H

#include "output/report/text.h"
#include "output/report/totals.h"

void report_launches__print(FILE *out, const struct model *model, const struct report_totals *totals,
			    const struct report_options *options);

#endif
