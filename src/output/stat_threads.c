// SPDX-License-Identifier: BSD-2-Clause
// Where the time of threads goes, and how they launch, in the text of `gpuprobe stat`; see stat_tables.h.
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "model/account.h"
#include "output/report_line.h"
#include "output/report_totals.h"
#include "output/stat_tables.h"
#include "output/words.h"

static void print_thread_name(FILE *out, const struct thread_account *thread)
{
	fprintf(out, "  %d (", thread->tid);
	escape__text(out, thread->comm);
	fputs(thread->ended_ns ? ") ended\n" : ")\n", out);
}

/* --- where time goes --- */

static void print_share(FILE *out, uint64_t ns, uint64_t of_ns)
{
	struct quantity share = quantity__share(of_ns ? (double)ns / (double)of_ns : 0);

	stat_cell__text(out, !ns ? "" : share.text[0] == 'u' ? "< 0.1 %" : share.text);
}

/* Times, and below them their shares of the watched time. */
static void print_time(FILE *out, const struct account_time *time, const struct thread_account *thread)
{
	for (int i = 0; i < TIME_CLASSES; i++)
		stat_cell__time(out, time->time[i].ns);
	stat_cell__time(out, time->outside_ns);
	stat_cell__time(out, time->wall_ns);
	if (thread)
		print_thread_name(out, thread);
	else
		fprintf(out, "  all %" PRIu64 " threads\n", time->threads);
	for (int i = 0; i < TIME_CLASSES; i++)
		print_share(out, time->time[i].ns, time->wall_ns);
	print_share(out, time->outside_ns, time->wall_ns);
	fputc('\n', out);
}

static void print_time_head(FILE *out)
{
	for (int i = 0; i < TIME_CLASSES; i++)
		stat_cell__text(out, words__time_class(i));
	stat_cell__text(out, "outside");
	stat_cell__text(out, "watched");
	fputs("  thread\n", out);
}

static void print_times(FILE *out, const struct stat_report *report, const struct process *p,
			const struct thread_account *const *threads)
{
	const struct account *account = p->account;
	uint64_t until_ns = stat__until_ns(report, p);
	size_t shown = report_line__cut(report->options, account->thread_count);
	struct account_time time;

	print_time_head(out);
	account__sum_time(account, report->began_ns, until_ns, &time);
	if (time.threads > 1)
		print_time(out, &time, NULL);
	for (size_t i = 0; i < shown; i++) {
		account__thread_time(threads[i], report->began_ns, until_ns, &time);
		print_time(out, &time, threads[i]);
	}
	stat_cell__rest(out, account->thread_count - shown + account->unlisted_threads, "thread");
}

/* --- launches --- */

static void print_launches(FILE *out, const struct thread_account *t)
{
	stat_cell__count(out, t->launches);
	stat_cell__count(out, t->chained.calls);
	stat_cell__time(out, t->gap_count ? t->gap_ns / t->gap_count : 0);
	stat_cell__time(out, account__percentile(t->gaps, 0.5, UINT64_MAX));
	stat_cell__time(out, account__percentile(t->gaps, 0.99, UINT64_MAX));
	stat_cell__time(out, account__percentile(t->gaps, 1, UINT64_MAX));
	print_thread_name(out, t);
}

static void print_launches_head(FILE *out)
{
	static const char *const names[] = {"launches", "chained", "gap average", "gap p50", "gap p99", "gap max"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		stat_cell__text(out, names[i]);
	fputs("  thread\n", out);
}

static void print_launching(FILE *out, const struct stat_report *report, const struct process *p,
			    const struct thread_account *const *threads)
{
	size_t launching = 0, shown;

	for (size_t i = 0; i < p->account->thread_count; i++)
		launching += threads[i]->launches > 0;
	if (!launching)
		return;
	shown = report_line__cut(report->options, launching);
	print_launches_head(out);
	for (size_t i = 0, n = 0; n < shown; i++) {
		if (!threads[i]->launches)
			continue;
		print_launches(out, threads[i]);
		n++;
	}
	stat_cell__rest(out, launching - shown, "thread");
}

void stat_threads__print(FILE *out, const struct stat_report *report)
{
	const char *title = "time of the threads that make CUDA calls, and how they launch";

	for (size_t i = 0; i < report->model->process_count; i++) {
		const struct process *p = &report->model->processes[i];
		const struct thread_account **threads;

		if (!report__shows(p) || !p->account || !(p->account->thread_count + p->account->unlisted_threads))
			continue;
		threads = account__threads_by_time(p->account);
		if (!threads)
			continue;
		stat__process_head(out, p, &title);
		print_times(out, report, p, threads);
		print_launching(out, report, p, threads);
		free(threads);
	}
}
