// SPDX-License-Identifier: BSD-2-Clause
// Cells and lines that the tables of `gpuprobe stat` share, see stat_tables.h.
#include "output/report_line.h"
#include "output/report_totals.h"
#include "output/stat_tables.h"

void stat_cell__text(FILE *out, const char *text)
{
	fprintf(out, "%*s", STAT_CELL, text);
}

void stat_cell__count(FILE *out, uint64_t count)
{
	stat_cell__text(out, count ? quantity__count(count).text : "-");
}

void stat_cell__time(FILE *out, uint64_t ns)
{
	stat_cell__text(out, ns ? quantity__time((double)ns).text : "-");
}

void stat_cell__bytes(FILE *out, uint64_t bytes)
{
	stat_cell__text(out, quantity__bytes((double)bytes).text);
}

void stat_cell__rest(FILE *out, size_t rest, const char *what)
{
	if (rest)
		fprintf(out, REPORT_INDENT "... and %zu more %s%s\n", rest, what, report_line__plural(rest));
}

void stat__print_head(FILE *out, const struct stat_report *report)
{
	const struct model *model = report->model;
	uint64_t watched_ns = model->now_ns > report->began_ns ? model->now_ns - report->began_ns : 0;
	size_t processes = 0;

	for (size_t i = 0; i < model->process_count; i++)
		processes += report__shows(&model->processes[i]);
	fputs(REPORT_RULE, out);
	report_line__date(out, model);
	fprintf(out, ", %s watched, %zu CUDA process%s\n", quantity__time((double)watched_ns).text, processes,
		processes == 1 ? "" : "es");
}

uint64_t stat__until_ns(const struct stat_report *report, const struct process *process)
{
	return process->ended ? process->ended_ns : report->model->now_ns;
}

void stat_cell__heads(FILE *out, const char *const *names, size_t count, const char *last)
{
	fputc('\n', out);
	for (size_t i = 0; i < count; i++)
		stat_cell__text(out, names[i]);
	fprintf(out, "  %s\n", last);
}
