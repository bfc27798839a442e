// SPDX-License-Identifier: BSD-2-Clause
// Where the time of processes and threads goes, and how threads launch; see tables.h.
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "model/profile.h"
#include "output/report/line.h"
#include "output/stat/tables.h"
#include "output/enum_names.h"

static void print_name(FILE *out, int32_t id, const char *comm, bool ended)
{
	fprintf(out, "  %d (", id);
	escape__text(out, comm);
	fputs(ended ? ") ended\n" : ")\n", out);
}

/* --- where time goes --- */

static void print_heads(FILE *out, const char *last)
{
	const char *names[TIME_CLASSES + 2];

	for (int i = 0; i < TIME_CLASSES; i++)
		names[i] = enum_names__time_class(i);
	names[TIME_CLASSES] = "outside";
	names[TIME_CLASSES + 1] = "watched";
	stat_cell__heads(out, names, TIME_CLASSES + 2, last);
}

static const char *mark_of(int class, const struct process *p)
{
	return time_class__is_estimated(class, p) ? "~" : "";
}

static const char *mark_outside(const struct process *p)
{
	return profile__is_estimated(p) ? "~" : "";
}

static void print_times(FILE *out, const struct process *p, const struct profile_time *time)
{
	for (int i = 0; i < TIME_CLASSES; i++)
		stat_cell__about_time(out, mark_of(i, p), time->time[i].ns);
	stat_cell__about_time(out, mark_outside(p), time->outside_ns);
	stat_cell__time(out, time->wall_ns);
}

/* Prints, below the times, their shares of the watched time, in the columns that are not 0. */
static void print_shares(FILE *out, const struct process *p, const struct profile_time *time)
{
	int blank = 0;

	if (!time->inside_ns && !time->outside_ns)
		return;
	for (int i = 0; i <= TIME_CLASSES; i++) {
		uint64_t ns = i < TIME_CLASSES ? time->time[i].ns : time->outside_ns;
		struct quantity share =
			quantity__share(time->wall_ns ? (double)ns / (double)time->wall_ns : 0);
		char text[sizeof(share.text) + 1];

		blank += STAT_CELL;
		if (!ns)
			continue;
		snprintf(text, sizeof(text), "%s%s",
			 i < TIME_CLASSES ? mark_of(i, p) : mark_outside(p),
			 share.text[0] == 'u' ? "< 0.1 %" : share.text);
		fprintf(out, "%*s", blank, text);
		blank = 0;
	}
	fputc('\n', out);
}

void stat_processes__print(FILE *out, const struct stat_report *report,
			   const struct process *const *processes, size_t count)
{
	struct profile_time time;

	print_heads(out, "process, all its threads that make CUDA calls");
	for (size_t i = 0; i < count; i++) {
		const struct process *p = processes[i];

		if (!p->profile)
			continue;
		profile__sum_time(p->profile, report->began_ns, stat__until_ns(report, p), &time);
		print_times(out, p, &time);
		print_name(out, p->pid, p->comm, p->ended);
		print_shares(out, p, &time);
	}
}

static void print_all(FILE *out, const struct stat_report *report, const struct process *p)
{
	struct profile_time time;

	profile__sum_time(p->profile, report->began_ns, stat__until_ns(report, p), &time);
	if (time.threads < 2)
		return;
	print_times(out, p, &time);
	fprintf(out, "  all %" PRIu64 " threads\n", time.threads);
	print_shares(out, p, &time);
}

void stat_threads__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	const struct thread_profile **threads =
		p->profile ? profile__threads_by_time(p->profile) : NULL;
	struct profile_time time;
	size_t shown;

	if (!threads)
		return;
	print_heads(out, "thread");
	print_all(out, report, p);
	shown = report_line__cut(report->options, p->profile->thread_count);
	for (size_t i = 0; i < shown; i++) {
		profile__thread_time(p->profile, threads[i], report->began_ns,
				     stat__until_ns(report, p), &time);
		print_times(out, p, &time);
		print_name(out, threads[i]->tid, threads[i]->comm, threads[i]->ended_ns);
		print_shares(out, p, &time);
	}
	stat_cell__rest(out, p->profile->thread_count - shown + p->profile->unlisted_threads,
			"thread");
	free(threads);
}

/* --- how they launch --- */

static void print_launches(FILE *out, const struct process *p, const struct thread_profile *t)
{
	stat_cell__about_count(out, mark_of(TIME_LAUNCH, p),
			       t->launches + profile__missed_launches(p->profile, t));
	stat_cell__count(out, t->chained.calls);
	stat_cell__time(out, t->gap_count ? t->gap_ns / t->gap_count : 0);
	stat_cell__time(out, profile__percentile(t->gaps, 0.5, UINT64_MAX));
	stat_cell__time(out, profile__percentile(t->gaps, 0.99, UINT64_MAX));
	stat_cell__time(out, profile__percentile(t->gaps, 1, UINT64_MAX));
	print_name(out, t->tid, t->comm, t->ended_ns);
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
	static const char *const names[] = {"launches", "back-to-back", "gap average",
					    "gap p50",	"gap p99",	"gap max"};
	const struct thread_profile **threads =
		p->profile ? profile__threads_by_time(p->profile) : NULL;
	size_t count, shown;

	if (!threads)
		return;
	count = keep_launching(threads, p->profile->thread_count);
	shown = report_line__cut(report->options, count);
	if (count)
		stat_cell__heads(out, names, sizeof(names) / sizeof(*names), "thread");
	for (size_t i = 0; i < shown; i++)
		print_launches(out, p, threads[i]);
	stat_cell__rest(out, count - shown, "thread");
	free(threads);
}
