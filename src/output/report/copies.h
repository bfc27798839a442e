/* SPDX-License-Identifier: BSD-2-Clause */
/* The section of the text report on copies and sets. */
#ifndef OUTPUT_REPORT_COPIES_H
#define OUTPUT_REPORT_COPIES_H

#include "output/report/text.h"

void report_copies__print(FILE *out, const struct model *model);

#endif
