// SPDX-License-Identifier: BSD-2-Clause
// Where the time of processes and threads goes, and how threads launch; see tables.h.
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "model/profile.h"
#include "output/report/line.h"
#include "output/stat/tables.h"
#include "output/enum_names.h"

/* `ended`: while others like it run. */
static void end_named_row(struct stat_table *table, int32_t id, const char *comm, bool ended)
{
	FILE *out = stat_table__name(table);

	fprintf(out, "%d (", id);
	escape__text(out, comm);
	fputs(ended ? ") ended" : ")", out);
	stat_table__end_row(table);
}

/* --- where time goes --- */

struct time_table {
	const char *heads[TIME_CLASSES + 2];
	struct stat_table table;
};

static bool begin(struct time_table *times, const struct stat_report *report, const char *last)
{
	for (int i = 0; i < TIME_CLASSES; i++)
		times->heads[i] = enum_names__time_class(i);
	times->heads[TIME_CLASSES] = "outside";
	times->heads[TIME_CLASSES + 1] = "watched";
	if (!stat_table__begin(&times->table, report, times->heads, TIME_CLASSES + 2, last))
		return false;
	times->table.optional = 1u << (TIME_CLASSES + 1); /* watched: the sum of the others */
	return true;
}

static const char *mark_of(int class, const struct process *p)
{
	return time_class__is_estimated(class, p) ? "~" : "";
}

static const char *mark_outside(const struct process *p)
{
	return profile__is_estimated(p) ? "~" : "";
}

static void add_times(struct stat_table *table, const struct process *p,
		      const struct profile_time *time)
{
	for (int i = 0; i < TIME_CLASSES; i++)
		stat_table__time(table, mark_of(i, p), time->time[i].ns);
	stat_table__time(table, mark_outside(p), time->outside_ns);
	stat_table__time(table, "", time->wall_ns);
}

static void add_share(struct stat_table *table, const char *mark, uint64_t ns, uint64_t of_ns)
{
	struct quantity share = quantity__share(of_ns ? (double)ns / (double)of_ns : 0);
	char text[sizeof(share.text) + 1] = "";

	if (ns)
		snprintf(text, sizeof(text), "%s%s", mark,
			 share.text[0] == 'u' ? "< 0.1 %" : share.text);
	stat_table__text(table, text);
}

/* Adds, below the times, their shares of the watched time, in the columns that are not 0. */
static void add_shares(struct stat_table *table, const struct process *p,
		       const struct profile_time *time)
{
	if (!time->inside_ns && !time->outside_ns)
		return;
	for (int i = 0; i < TIME_CLASSES; i++)
		add_share(table, mark_of(i, p), time->time[i].ns, time->wall_ns);
	add_share(table, mark_outside(p), time->outside_ns, time->wall_ns);
	stat_table__text(table, "");
	stat_table__end_row(table);
}

static bool all_ended(const struct process *const *processes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!processes[i]->ended)
			return false;
	return true;
}

void stat_processes__print(FILE *out, const struct stat_report *report,
			   const struct process *const *processes, size_t count)
{
	struct time_table times;
	struct profile_time time;

	if (!begin(&times, report, "process"))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct process *p = processes[i];

		if (!p->profile)
			continue;
		profile__sum_time(p->profile, report->began_ns, stat__until_ns(report, p), &time);
		add_times(&times.table, p, &time);
		end_named_row(&times.table, p->pid, p->comm,
			      p->ended && !all_ended(processes, count));
		add_shares(&times.table, p, &time);
	}
	stat_table__print(&times.table, out);
}

/* Adds the sum of several threads. */
static void add_all(struct stat_table *table, const struct process *p)
{
	const struct stat_report *report = table->report;
	struct profile_time time;

	profile__sum_time(p->profile, report->began_ns, stat__until_ns(report, p), &time);
	if (time.threads < 2)
		return;
	add_times(table, p, &time);
	fprintf(stat_table__name(table), "all %" PRIu64 " threads", time.threads);
	stat_table__end_row(table);
	add_shares(table, p, &time);
}

static void add_thread(struct stat_table *table, const struct process *p,
		       const struct thread_profile *thread)
{
	const struct stat_report *report = table->report;
	struct profile_time time;

	profile__thread_time(p->profile, thread, report->began_ns, stat__until_ns(report, p),
			     &time);
	add_times(table, p, &time);
	end_named_row(table, thread->tid, thread->comm, thread->ended_ns && !p->ended);
	add_shares(table, p, &time);
}

void stat_threads__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	const struct thread_profile **threads =
		p->profile ? profile__threads_by_time(p->profile) : NULL;
	struct time_table times;
	size_t shown;

	if (!threads)
		return;
	shown = report_line__cut(report->options, p->profile->thread_count);
	if (begin(&times, report, "thread")) {
		add_all(&times.table, p);
		for (size_t i = 0; i < shown; i++)
			add_thread(&times.table, p, threads[i]);
		stat_table__print(&times.table, out);
	}
	stat_cell__rest(out, p->profile->thread_count - shown + p->profile->unlisted_threads,
			"thread");
	free(threads);
}

/* --- how they launch --- */

static void add_launches(struct stat_table *table, const struct process *p,
			 const struct thread_profile *t)
{
	stat_table__count(table, mark_of(TIME_LAUNCH, p),
			  t->launches + profile__missed_launches(p->profile, t));
	stat_table__count(table, "", t->chained.calls);
	stat_table__time(table, "", t->gap_count ? t->gap_ns / t->gap_count : 0);
	stat_table__time(table, "", profile__percentile(t->gaps, 0.5, UINT64_MAX));
	stat_table__time(table, "", profile__percentile(t->gaps, 0.99, UINT64_MAX));
	stat_table__time(table, "", profile__percentile(t->gaps, 1, UINT64_MAX));
	end_named_row(table, t->tid, t->comm, t->ended_ns && !p->ended);
}

/* Keeps the threads that have launched, in their order. */
static size_t keep_launching(const struct thread_profile **threads, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (threads[i]->launches)
			threads[kept++] = threads[i];
	return kept;
}

void stat_launches__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	static const char *const heads[] = {"launches", "back-to-back", "gap average",
					    "gap p50",	"gap p99",	"gap max"};
	const struct thread_profile **threads =
		p->profile ? profile__threads_by_time(p->profile) : NULL;
	struct stat_table table;
	size_t count, shown;

	if (!threads)
		return;
	count = keep_launching(threads, p->profile->thread_count);
	shown = report_line__cut(report->options, count);
	if (count &&
	    stat_table__begin(&table, report, heads, sizeof(heads) / sizeof(*heads), "thread")) {
		table.optional = 1u << 2; /* gap average */
		for (size_t i = 0; i < shown; i++)
			add_launches(&table, p, threads[i]);
		stat_table__print(&table, out);
	}
	stat_cell__rest(out, count - shown, "thread");
	free(threads);
}
