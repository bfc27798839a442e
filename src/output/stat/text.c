// SPDX-License-Identifier: BSD-2-Clause
// The text of `gpuprobe stat`, see stat.h; its tables are in files of their own.
#include <stdlib.h>

#include "model/profile.h"
#include "output/finding/findings.h"
#include "output/report/parts.h"
#include "output/report/line.h"
#include "output/report/totals.h"
#include "output/prose.h"
#include "output/stat/own_profile.h"
#include "output/stat/tables.h"
#include "output/finding/verdict.h"

/* How it started and what it repeats. */
static void print_course(FILE *out, const struct stat_report *report, const struct process *p)
{
	struct prose prose;
	FILE *text = prose__begin(&prose, out, stat__width(report));

	report_start__print(text, p, report->began_ns, report->options->form);
	report_steps__print(text, report->model, p, report->options->form);
	prose__end(&prose, text);
}

static void print_errors(FILE *out, const struct stat_report *report, const struct process *p)
{
	struct prose prose;
	FILE *text = prose__begin(&prose, out, stat__width(report));

	fputs("\n    errors:\n", text);
	report_errors__list(text, report->model, p, report->options);
	prose__end(&prose, text);
}

static void print_process(FILE *out, const struct stat_report *report, const struct process *p)
{
	fputc('\n', out);
	report_line__process(out, p);
	print_course(out, report, p);
	stat_threads__print(out, report, p);
	stat_launches__print(out, report, p);
	stat_functions__print(out, report, p);
	report_open_calls__list(out, report->model, p);
	stat_ranges__print(out, report, p);
	stat_gpu_times__print(out, report, p);
	stat_kernels__print(out, report, p);
	stat_copies__print(out, report, p);
	stat_memory__print(out, report, p);
	if (p->failure_count)
		print_errors(out, report, p);
	stat_sites__print(out, report, p);
}

static uint64_t inside_ns(const struct process *p)
{
	struct profile_time time = {0};

	if (p->profile)
		profile__sum_time(p->profile, 0, 0, &time);
	return time.inside_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a,
			     *y = *(const struct process *const *)b;
	uint64_t x_ns = inside_ns(x), y_ns = inside_ns(y);

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* Sorts by time inside calls, longest first. NULL without memory. */
static const struct process **sort_processes(const struct model *model, size_t *count)
{
	const struct process **processes = malloc((model->process_count + 1) * sizeof(*processes));

	*count = 0;
	for (size_t i = 0; processes && i < model->process_count; i++)
		if (report__shows(&model->processes[i]))
			processes[(*count)++] = &model->processes[i];
	if (processes)
		qsort(processes, *count, sizeof(*processes), by_time);
	return processes;
}

static void print_processes(FILE *out, const struct stat_report *report)
{
	size_t count, shown;
	const struct process **processes = sort_processes(report->model, &count);

	shown = report_line__cut(report->options, count);
	if (count > 1)
		stat_processes__print(out, report, processes, shown);
	if (count > shown)
		fprintf(out,
			REPORT_INDENT
			"... and %zu more process%s of less time, which --top shows\n",
			count - shown, count - shown == 1 ? "" : "es");
	for (size_t i = 0; i < shown; i++)
		print_process(out, report, processes[i]);
	free(processes);
}

static void print_verdicts(FILE *out, const struct stat_report *report)
{
	struct prose prose;
	FILE *text = prose__begin(&prose, out, stat__width(report));

	verdict_text__print(text, report);
	prose__end(&prose, text);
}

/* A file has the frames of stacks in one line each, however long they are. */
static void print_findings(FILE *out, const struct stat_report *report)
{
	struct prose prose;
	FILE *text = prose__begin(&prose, out, report->width);
	struct report_options options = *report->options;

	options.width = stat__width(report);
	fputc('\n', text);
	findings_text__print(text, report->model, report->findings, &options);
	prose__end(&prose, text);
}

static void print_limits(FILE *out, const struct stat_report *report)
{
	struct prose prose;
	FILE *text = prose__begin(&prose, out, stat__width(report));

	findings_text__limits(text, report->state, report->findings, stat__width(report));
	prose__end(&prose, text);
}

void stat_text__print(FILE *out, const struct stat_report *report)
{
	const struct model *model = report->model;
	struct report_totals totals;

	report_totals__sum(model, &totals);
	stat__print_head(out, report);
	if (totals.processes) {
		print_verdicts(out, report);
		print_findings(out, report);
		print_processes(out, report);
		print_limits(out, report);
	} else {
		report_line__no_process(out, model);
	}
	report_line__silent(out, model);
	stat_own_profile__print_others(out, report);
	stat_gpu_times__print_losses(out, report);
	stat_ranges__print_losses(out, report);
	report_sampling__print(out, model);
	report_line__evicted(out, model);
	report_line__losses(out, model);
	fputs(REPORT_RULE, out);
}
