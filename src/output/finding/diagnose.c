// SPDX-License-Identifier: BSD-2-Clause
// The text of `gpuprobe diagnose`: the findings and their limits, see output/stat/stat.h.
#include "base/escape.h"
#include "output/finding/findings.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/report/totals.h"
#include "output/prose.h"
#include "output/stat/tables.h"
#include "output/finding/verdict.h"

/* Limits: problems that may exist although no finding shows them. */
static void print_limits(FILE *out, const struct stat_report *report)
{
	const struct model *model = report->model;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!p->since_attach || !report__shows(p))
			continue;
		fprintf(out, "\nprocess %d (", p->pid);
		escape__text(out, p->comm);
		fputs(") is watched since attach: its earlier calls are unknown\n", out);
	}
	report_open_calls__print(out, model);
	findings_text__limits(out, report->state, report->findings, stat__width(report));
	report_sampling__print(out, model);
	report_line__evicted(out, model);
	report_line__losses(out, model);
}

static void print(FILE *out, const struct stat_report *report)
{
	struct report_options options = *report->options;

	options.width = stat__width(report);
	stat__print_head(out, report);
	if (report->model->process_count) {
		verdict_text__print(out, report);
		fputc('\n', out);
		findings_text__print(out, report->model, report->findings, &options);
		print_limits(out, report);
		report_line__silent(out, report->model);
	} else {
		report_line__no_process(out, report->model);
		report_line__losses(out, report->model);
	}
	if (report->findings->count)
		fprintf(out, "\ngpuprobe diagnose --explain %s explains what to do\n",
			report->findings->items[0].kind->id);
	fputs(REPORT_RULE, out);
}

/* A file has the frames of stacks in one line each, however long they are. */
void diagnose_text__print(FILE *out, const struct stat_report *report)
{
	struct prose prose;
	FILE *text = prose__begin(&prose, out, report->width);

	print(text, report);
	prose__end(&prose, text);
}
