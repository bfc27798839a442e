/* SPDX-License-Identifier: BSD-2-Clause */
/* The text report's section on call sites, where stacks are taken. */
#ifndef OUTPUT_REPORT_SITES_H
#define OUTPUT_REPORT_SITES_H

#include "output/report/text.h"

/* Of each process and kind of call the sites that --top shows. */
void report_sites__print(FILE *out, const struct model *model, const struct report_options *options);

/* A process's call sites, without what heads the process. */
void report_sites__list(FILE *out, const struct model *model, const struct process *p,
			const struct report_options *options);

#endif
