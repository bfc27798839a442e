/* SPDX-License-Identifier: BSD-2-Clause */
/* The findings at the end of the monitor's report: of the processes that it speaks of. */
#ifndef OUTPUT_REPORT_FINDINGS_H
#define OUTPUT_REPORT_FINDINGS_H

#include <stdio.h>

#include "finding/finding.h"
#include "output/report/text.h"

/*
 * Leaves in the list what the report is to tell: the findings of a process
 * whose end has been reported were told with it, and those of several
 * processes when the last of these ended.
 */
void report_findings__select(struct finding_list *list, const struct model *model);

/* The section of the text report; nothing where there are none. */
void report_findings__print(FILE *out, const struct model *model, const struct finding_list *list,
			    const struct report_options *options);

#endif
