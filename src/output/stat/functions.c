// SPDX-License-Identifier: BSD-2-Clause
// How long calls take, by function, in the text of `gpuprobe stat`; see tables.h.
#include "model/profile.h"
#include "api/api.h"
#include "output/function_text.h"
#include "output/report/line.h"
#include "output/stat/tables.h"

static void print_function(FILE *out, const struct process *p, const struct profile_function *f)
{
	const struct duration_record *time = &f->time;
	const char *mark = f->missed ? "~" : "";

	stat_cell__about_count(out, mark, time->calls + f->missed);
	stat_cell__count(out, profile__errors(p, f->row));
	stat_cell__about_time(out, mark, profile_function__ns(f));
	stat_cell__time(out, time->calls ? time->ns / time->calls : 0);
	stat_cell__time(out, profile__percentile(time->buckets, 0.5, time->max_ns));
	stat_cell__time(out, profile__percentile(time->buckets, 0.99, time->max_ns));
	stat_cell__time(out, time->max_ns);
	fputs("  ", out);
	function_text__print(out, f->row);
	fputc('\n', out);
}

void stat_functions__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	static const char *const names[] = {"calls", "errors", "total", "average",
					    "p50",   "p99",    "max"};
	size_t count = p->profile ? p->profile->function_count : 0;
	size_t shown = report_line__cut(report->options, count);

	if (!count)
		return;
	stat_cell__heads(out, names, sizeof(names) / sizeof(*names), "function");
	for (size_t i = 0; i < shown; i++)
		print_function(out, p, &p->profile->functions[i]);
	stat_cell__rest(out, count - shown, "function");
}
