// SPDX-License-Identifier: BSD-2-Clause
// GPU times in the text of `gpuprobe stat`; see tables.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "output/gpu_copy_text.h"
#include "output/gpu_failure_text.h"
#include "output/prose.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/stat/own_profile.h"
#include "output/stat/tables.h"
#include "symbol/kernel_label.h"

/* --- a table of all work --- */

#define COLUMN_MIN 3 /* the one that a narrow terminal does not show */

static const char *const heads[] = {"GPU time", "share", "count",    "min",
				    "average",	"max",	 "bandwidth"};

static uint64_t sum_all(const struct gpu_process_times *times)
{
	uint64_t ns = times->all_kernels.ns + times->sets.ns + times->graphs.ns;

	for (size_t i = 0; i < GPU_COPY_KINDS; i++)
		ns += times->copies[i].ns;
	return ns;
}

static void add_cells(struct stat_table *table, const struct gpu_time_sum *sum, uint64_t all_ns)
{
	stat_table__time(table, "", sum->ns);
	stat_table__text(table,
			 all_ns ? quantity__share((double)sum->ns / (double)all_ns).text : "-");
	stat_table__count(table, "", sum->count);
	stat_table__time(table, "", sum->min_ns);
	stat_table__time(table, "", gpu_time_sum__mean(sum));
	stat_table__time(table, "", sum->max_ns);
	stat_table__bandwidth(table, sum->bytes, sum->bytes ? sum->ns : 0);
}

void stat_cell__kernel(struct stat_table *table, const char *mangled, uint64_t *spent_ns)
{
	char *text = mangled ? kernel_label__text(spent_ns, mangled,
						  table->report->options->full_names) :
			       NULL;

	escape__text(stat_table__name(table), text ? text : "(its name is unknown)");
	free(text);
}

static size_t add_kernels(struct stat_table *table, const struct gpu_process_times *times,
			  uint64_t all_ns)
{
	size_t count;
	const struct gpu_kernel_time **sorted = gpu_times__sort(times, &count);
	size_t shown = report_line__cut(table->report->options, count);
	uint64_t spent_ns = 0;

	for (size_t i = 0; i < shown; i++) {
		add_cells(table, &sorted[i]->sum, all_ns);
		stat_cell__kernel(table, sorted[i]->name, &spent_ns);
		stat_table__end_row(table);
	}
	free(sorted);
	return count - shown;
}

static void add_row(struct stat_table *table, const struct gpu_time_sum *sum, uint64_t all_ns,
		    const char *first, const char *second)
{
	if (!sum->count)
		return;
	add_cells(table, sum, all_ns);
	fprintf(stat_table__name(table), "%s%s", first, second);
	stat_table__end_row(table);
}

static void print_table(FILE *out, const struct stat_report *report,
			const struct gpu_process_times *times)
{
	uint64_t all_ns = sum_all(times);
	struct stat_table table;
	size_t rest;

	if (!stat_table__begin(&table, report, heads, sizeof(heads) / sizeof(*heads), "on the GPU"))
		return;
	table.optional = 1u << COLUMN_MIN;
	rest = add_kernels(&table, times, all_ns);
	add_row(&table, &times->other_kernels, all_ns, "(kernels beyond the limit of names)", "");
	for (unsigned int i = 0; i < GPU_COPY_KINDS; i++)
		add_row(&table, &times->copies[i], all_ns, "copy ", gpu_copy_text__kind(i));
	add_row(&table, &times->sets, all_ns, "set", "");
	add_row(&table, &times->graphs, all_ns, "graph launches, as wholes", "");
	stat_table__print(&table, out);
	stat_cell__rest(out, rest, "kernel");
}

/* --- the lines below it --- */

static void print_busy(FILE *out, const struct stat_report *report,
		       const struct gpu_process_times *times)
{
	for (unsigned int i = 0; i < GPU_TIMES_DEVICES; i++) {
		const struct busy_time *busy = &times->busy[i];
		uint64_t span_ns = busy->last_ns - busy->first_ns, ns = busy_time__ns(busy);

		if (!busy->spans || !span_ns)
			continue;
		fprintf(out, REPORT_INDENT "GPU %u busy: %s, ", i,
			stat_cell__time(report, ns).text);
		fprintf(out, "%s of the %s from its first work to its last",
			quantity__share((double)ns / (double)span_ns).text,
			stat_cell__time(report, span_ns).text);
		if (busy->late)
			fprintf(out, "; %s pieces of work came too late to count",
				quantity__count(busy->late).text);
		fputc('\n', out);
	}
}

/* The GPU's idle times between two pieces of work, by what they waited for. */
static void print_gaps(FILE *out, const struct stat_report *report,
		       const struct gpu_process_times *times)
{
	for (unsigned int i = 0; i < GPU_TIMES_DEVICES; i++) {
		const struct gpu_gaps *gaps = &times->callers.gaps[i];

		if (!gaps->before_call_ns && !gaps->after_call_ns)
			continue;
		fprintf(out, REPORT_INDENT "GPU %u idle in between: %s until the next call, ", i,
			stat_cell__time(report, gaps->before_call_ns).text);
		fprintf(out, "%s from a call to the start of its work\n",
			stat_cell__time(report, gaps->after_call_ns).text);
	}
}

static void print_callers(FILE *out, const struct stat_report *report,
			  const struct gpu_process_times *times)
{
	const struct gpu_delay *delay = &times->callers.delay;
	uint64_t uncalled, count = gpu_process_times__work(times, &uncalled);

	if (delay->count)
		fprintf(out, REPORT_INDENT "from call to start: %s on average, ",
			stat_cell__time(report, gpu_delay__mean(delay)).text);
	if (delay->count)
		fprintf(out, "%s at most\n", stat_cell__time(report, delay->max_ns).text);
	print_gaps(out, report, times);
	if (uncalled)
		fprintf(out, REPORT_INDENT "call not known: of %s of %s piece%s of work\n",
			quantity__count(uncalled).text, quantity__count(count).text,
			report_line__plural(count));
}

static uint64_t untimed(const struct gpu_process_times *times)
{
	uint64_t count = times->all_kernels.untimed + times->sets.untimed + times->graphs.untimed;

	for (size_t i = 0; i < GPU_COPY_KINDS; i++)
		count += times->copies[i].untimed;
	return count;
}

static void print_lacking(FILE *out, const struct gpu_process_times *times)
{
	uint64_t without = untimed(times);

	if (without)
		fprintf(out, REPORT_INDENT "without a time: %s, as CUPTI did not know it\n",
			quantity__count(without).text);
	if (times->dropped)
		fprintf(out,
			REPORT_INDENT "lost by CUPTI: %s record%s, which no GPU time includes\n",
			quantity__count(times->dropped).text, report_line__plural(times->dropped));
	if (times->unknown_devices)
		fprintf(out, REPORT_INDENT "busy times leave out %s piece%s of work\n",
			quantity__count(times->unknown_devices).text,
			report_line__plural(times->unknown_devices));
}

/* At most so many: one that failed in both layers counts twice. */
static uint64_t failed_launches(const struct process *p)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->failure_count; i++)
		if (!p->failures[i].is_rest && strstr(p->failures[i].function, "Launch"))
			count += p->failures[i].count;
	return count;
}

/* Work that was still in CUPTI's buffers when the program ended is known by its launches alone. */
static void print_missing(FILE *out, const struct stat_report *report, const struct process *p,
			  const struct gpu_process_times *times)
{
	uint64_t in_graphs = times->graph_kernels.count,
		 known = times->all_kernels.count - in_graphs + times->dropped + failed_launches(p);

	if (!p->ended || process__is_estimated(p, RATE_LAUNCH))
		return;
	if (p->launches > known)
		fprintf(out, REPORT_INDENT "launches without a GPU time: %s of %s\n",
			quantity__count(p->launches - known).text,
			quantity__count(p->launches).text);
	if (report->gpu_graph_nodes && p->graph_kernels > in_graphs + times->dropped)
		fprintf(out, REPORT_INDENT "kernels in graphs without a GPU time: %s of %s\n",
			quantity__count(p->graph_kernels - in_graphs).text,
			quantity__count(p->graph_kernels).text);
}

/* The line is the first of a block if there is no table above it. */
static void print_failure(FILE *out, const struct stat_report *report,
			  const struct gpu_process_times *times)
{
	fputs(times ? REPORT_INDENT : "\n" REPORT_INDENT, out);
	if (report->gpu_times->own_profilers)
		stat_own_profile__print_missing(out, times);
	else
		gpu_failure_text__print(out, times);
	fputc('\n', out);
}

static void print_times(FILE *out, const struct stat_report *report, const struct process *p,
			const struct gpu_process_times *times)
{
	struct prose prose;
	FILE *text;

	if (report->gpu_times->share > 0)
		stat_gpu_sample__print(out, report, p, times);
	else
		print_table(out, report, times);
	text = prose__begin(&prose, out, stat__width(report));
	if (!(report->gpu_times->share > 0))
		print_busy(text, report, times);
	if (report->gpu_times->own_profilers) {
		stat_own_profile__print(text, report, times);
	} else if (!(report->gpu_times->share > 0)) {
		print_callers(text, report, times);
		print_missing(text, report, p, times);
	}
	print_lacking(text, times);
	prose__end(&prose, text);
}

void stat_gpu_times__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	const struct gpu_process_times *times;
	struct prose prose;
	FILE *text;

	if (!report->gpu_times)
		return;
	times = gpu_times__find(report->gpu_times, p->pid, p->start_ns);
	/* Only some processes have been asked. */
	if (report->gpu_times->own_profilers && !times)
		return;
	if (times && (report->gpu_times->own_profilers ? times->own.complete : !times->failed)) {
		print_times(out, report, p, times);
		return;
	}
	text = prose__begin(&prose, out, stat__width(report));
	print_failure(text, report, times);
	prose__end(&prose, text);
}

void stat_gpu_times__print_losses(FILE *out, const struct stat_report *report)
{
	const struct gpu_times *times = report->gpu_times;

	if (times && times->unread_work + times->lost_work)
		fprintf(out, "GPU times lack %s piece%s of work, for which gpuprobe had no room\n",
			quantity__count(times->unread_work + times->lost_work).text,
			report_line__plural(times->unread_work + times->lost_work));
	if (times && times->unread_names + times->lost_names)
		fprintf(out, "GPU times lack %s name%s, for which gpuprobe had no room\n",
			quantity__count(times->unread_names + times->lost_names).text,
			report_line__plural(times->unread_names + times->lost_names));
}
