// SPDX-License-Identifier: BSD-2-Clause
// The findings at the end of the monitor's report, see parts.h.
#include "output/report/parts.h"

#include "model/process_index.h"
#include "output/finding/findings.h"
#include "output/report/totals.h"

static bool is_reported(const struct finding *finding, const void *arg)
{
	const struct process_index *shown = arg;

	/* Errors of GPUs matter whether or not their process is still there. */
	if (finding->kind->needs & NEEDS_XIDS)
		return true;
	if (!finding->pid)
		return process_index__count(shown);
	return process_index__find(shown, finding->pid, finding->start_ns);
}

void report_findings__select(struct finding_list *list, const struct model *model)
{
	struct process_index *shown = process_index__new(model, report__shows);

	/* Without memory, better report twice than not at all. */
	if (shown)
		finding_list__retain(list, is_reported, shown);
	process_index__free(shown);
}

void report_findings__print(FILE *out, const struct model *model, const struct finding_list *list,
			    const struct report_options *options)
{
	if (list && !list->count)
		findings_text__print_sampled(out, list, options->width);
	if (!list || !list->count)
		return;
	fputc('\n', out);
	findings_text__print(out, model, list, options);
}
