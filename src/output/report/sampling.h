/* SPDX-License-Identifier: BSD-2-Clause */
/* Which calls are not all counted (`--max-overhead`), in the text of reports and of `gpuprobe stat`. */
#ifndef OUTPUT_REPORT_SAMPLING_H
#define OUTPUT_REPORT_SAMPLING_H

#include <stdio.h>

#include "model/model.h"

/* What stands before a number of the process that calls of the family are a part of: "~" where it is estimated, or "". */
const char *report_sampling__mark(const struct process *process, enum rate_family family);

/*
 * After an empty line: which families are or were sampled, what the probes cost, what the mark means and what has
 * none. Nothing where there is no budget.
 */
void report_sampling__print(FILE *out, const struct model *model);

#endif
