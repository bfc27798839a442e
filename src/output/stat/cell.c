// SPDX-License-Identifier: BSD-2-Clause
// Cells and lines that the tables of `gpuprobe stat` share, see tables.h.
#include "output/report/line.h"
#include "output/report/totals.h"
#include "output/stat/tables.h"

void stat_cell__text(FILE *out, const char *text)
{
	fprintf(out, "%*s", STAT_CELL, text);
}

static void marked(FILE *out, const char *mark, struct quantity amount)
{
	char text[sizeof(amount.text) + 8];

	snprintf(text, sizeof(text), "%s%s", mark, amount.text);
	stat_cell__text(out, text);
}

void stat_cell__about_count(FILE *out, const char *mark, uint64_t count)
{
	if (count)
		marked(out, mark, quantity__count(count));
	else
		stat_cell__text(out, "-");
}

void stat_cell__about_time(FILE *out, const char *mark, uint64_t ns)
{
	if (ns)
		marked(out, mark, quantity__time((double)ns));
	else
		stat_cell__text(out, "-");
}

void stat_cell__about_bytes(FILE *out, const char *mark, uint64_t bytes)
{
	marked(out, mark, quantity__bytes((double)bytes));
}

void stat_cell__count(FILE *out, uint64_t count)
{
	stat_cell__about_count(out, "", count);
}

void stat_cell__time(FILE *out, uint64_t ns)
{
	stat_cell__about_time(out, "", ns);
}

void stat_cell__bytes(FILE *out, uint64_t bytes)
{
	stat_cell__about_bytes(out, "", bytes);
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
	fprintf(out, ", %s watched, %zu CUDA process%s\n", quantity__time((double)watched_ns).text,
		processes, processes == 1 ? "" : "es");
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
