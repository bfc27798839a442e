// SPDX-License-Identifier: BSD-2-Clause
// The verdicts in the monitor's report, see parts.h. Each has the process's step time after it.
#include "output/report/parts.h"

#include "finding/verdict.h"
#include "output/report/line.h"
#include "output/report/totals.h"
#include "output/finding/verdict.h"

void report_verdicts__print(FILE *out, const struct model *model,
			    const struct report_options *options)
{
	bool first = true;

	for (size_t i = 0; options->verdicts && i < model->process_count; i++) {
		const struct process *process = &model->processes[i];
		struct verdict verdict;

		if (!report__shows(process))
			continue;
		verdict__judge_latest(options->verdicts, model, process, &verdict);
		if (!verdict.window_ns)
			continue;
		if (first)
			fputs("\nwho waits for whom, of the latest minute:\n", out);
		first = false;
		fputs(REPORT_INDENT, out);
		verdict_text__print_line(out, process, &verdict);
	}
}
