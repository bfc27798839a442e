/* SPDX-License-Identifier: BSD-2-Clause */
/* The section of the text report on failed calls. */
#ifndef OUTPUT_REPORT_ERRORS_H
#define OUTPUT_REPORT_ERRORS_H

#include "output/report/text.h"

/* Nothing where no call has failed; but where launches' results are not looked at, that. */
void report_errors__print(FILE *out, const struct model *model, const struct report_options *options);

/* A process's failures, a line each, without what heads the process. */
void report_errors__list(FILE *out, const struct model *model, const struct process *p,
			 const struct report_options *options);

#endif
