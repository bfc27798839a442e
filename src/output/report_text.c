// SPDX-License-Identifier: BSD-2-Clause
// The report for people, see report_text.h; its memory section is in report_memory.c.
#include "output/report_text.h"

#include "output/report_copies.h"
#include "output/report_errors.h"
#include "output/report_findings.h"
#include "output/report_launches.h"
#include "output/report_line.h"
#include "output/report_memory.h"
#include "output/report_objects.h"
#include "output/report_process.h"
#include "output/report_sampling.h"
#include "output/report_sites.h"
#include "output/report_totals.h"
#include "output/report_waits.h"

void report_text__print(FILE *out, const struct model *model, const struct report_options *options)
{
	struct report_totals totals;

	report_totals__sum(model, &totals);
	fputs(REPORT_RULE, out);
	report_line__date(out, model);
	fputc('\n', out);
	if (!totals.processes) {
		report_line__no_process(out, model);
	} else {
		if (model->sections & SECTION_MEMORY) {
			fputc('\n', out);
			report_memory__print(out, model, &totals, options);
		}
		if (model->sections & SECTION_LAUNCH)
			report_launches__print(out, model, &totals, options);
		if (model->sections & SECTION_COPY) {
			report_copies__print(out, model);
			report_waits__print(out, model);
		}
		report_objects__print(out, model);
		report_errors__print(out, model, options);
		report_sites__print(out, model, options);
		report_process__print(out, model);
		report_findings__print(out, options->findings, options);
	}
	report_sampling__print(out, model);
	report_line__losses(out, model);
	fputs(REPORT_RULE, out);
}
