// SPDX-License-Identifier: BSD-2-Clause
// The report by sections, see text.h; its memory section is in memory.c.
#include "output/report/text.h"

#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/report/totals.h"

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
		report_open_calls__print(out, model);
		report_objects__print(out, model);
		report_errors__print(out, model, options);
		report_sites__print(out, model, options);
		report_process__print(out, model);
		report_findings__print(out, model, options->findings, options);
	}
	report_line__silent(out, model);
	if (model->no_returns)
		fputs("\n"
		      "only the start of calls is watched (--no-return-probes): results, durations "
		      "and live memory "
		      "are unknown\n",
		      out);
	report_sampling__print(out, model);
	report_line__losses(out, model);
	fputs(REPORT_RULE, out);
}
