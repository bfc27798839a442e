// SPDX-License-Identifier: BSD-2-Clause
// The text of `gpuprobe stat`, see stat.h; its tables are in files of their own, stat_NAME.c.
#include "output/findings.h"
#include "output/report_errors.h"
#include "output/report_line.h"
#include "output/report_sites.h"
#include "output/report_totals.h"
#include "output/stat_tables.h"

static void print_findings(FILE *out, const struct stat_report *report)
{
	const struct finding_list *findings = report->findings;

	if (!findings->count) {
		fputs("\nno findings\n", out);
		return;
	}
	fputs("\nfindings: ", out);
	findings_text__print_counts(out, findings);
	fputc('\n', out);
	findings_text__print(out, findings, report->options->top);
}

void stat_text__print(FILE *out, const struct stat_report *report)
{
	const struct model *model = report->model;
	struct report_totals totals;

	report_totals__sum(model, &totals);
	stat__print_head(out, report);
	if (!totals.processes) {
		report_line__no_process(out, model);
	} else {
		stat_threads__print(out, report);
		stat_functions__print(out, report);
		stat_kernels__print(out, report);
		stat_copies__print(out, report);
		stat_memory__print(out, report);
		report_errors__print(out, model, report->options);
		report_sites__print(out, model, report->options);
		print_findings(out, report);
	}
	report_line__losses(out, model);
	fputs(REPORT_RULE, out);
}
