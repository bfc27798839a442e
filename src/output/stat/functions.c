// SPDX-License-Identifier: BSD-2-Clause
// How long calls take, by function, in the text of `gpuprobe stat`; see tables.h.
#include "model/profile.h"
#include "api/api.h"
#include "output/function_text.h"
#include "output/report/line.h"
#include "output/stat/tables.h"

static void add_row(struct stat_table *table, const struct process *p,
		    const struct profile_function *f)
{
	const struct duration_record *time = &f->time;
	const char *mark = f->missed ? "~" : "";

	stat_table__count(table, mark, time->calls + f->missed);
	stat_table__count(table, "", profile__errors(p, f->row));
	stat_table__time(table, mark, profile_function__ns(f));
	stat_table__time(table, "", time->calls ? time->ns / time->calls : 0);
	stat_table__time(table, "", profile__percentile(time->buckets, 0.5, time->max_ns));
	stat_table__time(table, "", profile__percentile(time->buckets, 0.99, time->max_ns));
	stat_table__time(table, "", time->max_ns);
	function_text__print(stat_table__name(table), f->row);
	stat_table__end_row(table);
}

void stat_functions__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	static const char *const heads[] = {"calls", "errors", "total", "average",
					    "p50",   "p99",    "max"};
	size_t count = p->profile ? p->profile->function_count : 0;
	size_t shown = report_line__cut(report->options, count);
	struct stat_table table;

	if (!count ||
	    !stat_table__begin(&table, report, heads, sizeof(heads) / sizeof(*heads), "function"))
		return;
	table.optional = 1u << 3; /* average */
	for (size_t i = 0; i < shown; i++)
		add_row(&table, p, &p->profile->functions[i]);
	stat_table__print(&table, out);
	stat_cell__rest(out, count - shown, "function");
}
