// SPDX-License-Identifier: BSD-2-Clause
// Lines that the tables of `gpuprobe stat` share, see tables.h.
#include "base/clock.h"
#include "model/profile.h"
#include "output/report/line.h"
#include "output/report/totals.h"
#include "output/stat/tables.h"

#define NARROWEST 80

struct quantity stat_cell__bytes(const struct stat_report *report, uint64_t bytes)
{
	return quantity__bytes_as(report->options->form, bytes);
}

struct quantity stat_cell__time(const struct stat_report *report, uint64_t ns)
{
	return quantity__time_as(report->options->form, ns);
}

struct quantity stat_cell__bandwidth(const struct stat_report *report, uint64_t bytes, uint64_t ns)
{
	return quantity__bandwidth_as(report->options->form,
				      ns ? (double)bytes * (double)NS_PER_S / (double)ns : 0);
}

void stat_cell__rest(FILE *out, size_t rest, const char *what)
{
	if (rest)
		fprintf(out, REPORT_INDENT "... and %zu more %s%s\n", rest, what,
			report_line__plural(rest));
}

void stat__print_head(FILE *out, const struct stat_report *report)
{
	const struct model *model = report->model;
	uint64_t watched_ns =
		model->now_ns > report->began_ns ? model->now_ns - report->began_ns : 0;
	size_t processes = 0;

	for (size_t i = 0; i < model->process_count; i++)
		processes += report__shows(&model->processes[i]);
	fputs(REPORT_RULE, out);
	report_line__date(out, model);
	fprintf(out, ", %s watched, %zu CUDA process%s\n", stat_cell__time(report, watched_ns).text,
		processes, processes == 1 ? "" : "es");
}

uint64_t stat__until_ns(const struct stat_report *report, const struct process *process)
{
	return profile__counted_until_ns(process, report->model->now_ns);
}

unsigned int stat__width(const struct stat_report *report)
{
	if (!report->width)
		return STAT_WIDTH;
	return report->width > NARROWEST ? report->width : NARROWEST;
}
