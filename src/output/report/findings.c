// SPDX-License-Identifier: BSD-2-Clause
// The findings at the end of the monitor's report, see findings.h.
#include "output/report/findings.h"

#include "output/findings.h"
#include "output/report/totals.h"

static bool is_of(const struct finding *finding, const struct process *process)
{
	return !finding->pid || (finding->pid == process->pid && finding->start_ns == process->start_ns);
}

static bool is_told(const struct finding *finding, const void *arg)
{
	const struct model *model = arg;

	for (size_t i = 0; i < model->process_count; i++)
		if (is_of(finding, &model->processes[i]) && report__shows(&model->processes[i]))
			return true;
	return false;
}

void report_findings__select(struct finding_list *list, const struct model *model)
{
	finding_list__retain(list, is_told, model);
}

void report_findings__print(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	if (list && !list->count)
		findings_text__print_sampled(out, list);
	if (!list || !list->count)
		return;
	fputc('\n', out);
	findings_text__print(out, list, options->top);
}
