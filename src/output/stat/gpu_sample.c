// SPDX-License-Identifier: BSD-2-Clause
// GPU times from bursts (--gpu-times=SHARE) in the text of `gpuprobe stat`; see tables.h.
#include <stdlib.h>

#include "model/gpu_estimate.h"
#include "output/gpu_copy_text.h"
#include "output/prose.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/stat/tables.h"

static const char *const heads[] = {"GPU time", "error",   "share",    "count",
				    "sampled",	"average", "bandwidth"};

#define COLUMN_AVERAGE 5 /* the one that a narrow terminal does not show */

/* A row beside those of kernels. */
struct row {
	const struct gpu_time_sum *sum;
	struct gpu_estimate estimate;
};

struct rows {
	struct gpu_kernel_estimates kernels;
	struct row copies[GPU_COPY_KINDS];
	struct row sets, graphs;
	uint64_t all_ns;
	const char *mark; /* of counts of calls */
};

static int make_rows(struct rows *rows, const struct gpu_process_times *times,
		     const struct process *p)
{
	int ret = gpu_kernel_estimates__make(times, p, &rows->kernels);

	if (ret)
		return ret;
	rows->mark = process__is_estimated(p, RATE_LAUNCH) || process__is_estimated(p, RATE_COPY) ?
			     "~" :
			     "";
	for (unsigned int i = 0; i < GPU_COPY_KINDS; i++)
		rows->copies[i] =
			(struct row){&times->copies[i], gpu_estimate__copies(times, p, i)};
	rows->sets = (struct row){&times->sets, gpu_estimate__sets(times, p)};
	rows->graphs = (struct row){&times->graph_kernels, gpu_estimate__graphs(times, p)};
	rows->all_ns = rows->sets.estimate.ns + rows->graphs.estimate.ns;
	for (size_t i = 0; i < rows->kernels.count; i++)
		rows->all_ns += rows->kernels.list[i].estimate.ns;
	for (size_t i = 0; i < GPU_COPY_KINDS; i++)
		rows->all_ns += rows->copies[i].estimate.ns;
	return 0;
}

static void add_cells(struct stat_table *table, const struct rows *rows,
		      const struct gpu_time_sum *sum, const struct gpu_estimate *estimate)
{
	bool exact = estimate->known && estimate->calls == sum->count && !sum->untimed;

	stat_table__time(table, exact ? "" : "~", estimate->ns);
	stat_table__text(table, exact		    ? "-" :
				estimate->error < 0 ? "unknown" :
						      quantity__share(estimate->error).text);
	stat_table__text(table,
			 estimate->known && rows->all_ns ?
				 quantity__share((double)estimate->ns / (double)rows->all_ns).text :
				 "-");
	if (estimate->known)
		stat_table__count(table, rows->mark, estimate->calls);
	else
		stat_table__text(table, "unknown");
	stat_table__count(table, "", sum->count);
	stat_table__time(table, "", gpu_time_sum__mean(sum));
	stat_table__bandwidth(table, sum->bytes, sum->bytes ? sum->ns : 0);
}

static void add_row(struct stat_table *table, const struct rows *rows, const struct row *row,
		    const char *first, const char *second)
{
	if (!row->sum->count)
		return;
	add_cells(table, rows, row->sum, &row->estimate);
	fprintf(stat_table__name(table), "%s%s", first, second);
	stat_table__end_row(table);
}

static void print_table(FILE *out, const struct stat_report *report, const struct rows *rows)
{
	size_t shown = report_line__cut(report->options, rows->kernels.count);
	struct stat_table table;
	uint64_t spent_ns = 0;

	if (!stat_table__begin(&table, report, heads, sizeof(heads) / sizeof(*heads), "on the GPU"))
		return;
	table.optional = 1u << COLUMN_AVERAGE;
	for (size_t i = 0; i < shown; i++) {
		const struct gpu_kernel_estimate *each = &rows->kernels.list[i];

		add_cells(&table, rows, &each->kernel->sum, &each->estimate);
		stat_cell__kernel(&table, each->kernel->name, &spent_ns);
		stat_table__end_row(&table);
	}
	for (unsigned int i = 0; i < GPU_COPY_KINDS; i++)
		add_row(&table, rows, &rows->copies[i], "copy ", gpu_copy_text__kind(i));
	add_row(&table, rows, &rows->sets, "set", "");
	add_row(&table, rows, &rows->graphs, "kernels in graphs", "");
	stat_table__print(&table, out);
	stat_cell__rest(out, rows->kernels.count - shown, "kernel");
}

static void print_sample(FILE *out, const struct stat_report *report, const struct process *p,
			 const struct gpu_process_times *times, const struct rows *rows)
{
	fprintf(out,
		REPORT_INDENT "sampled: %s of the time, in %s burst%s; GPU time is the average of "
			      "what was sampled times the count of calls; error is half of the "
			      "95 %% interval\n",
		quantity__share(report->gpu_times->share).text, quantity__count(times->bursts).text,
		report_line__plural(times->bursts));
	if (rows->kernels.unseen_launches)
		fprintf(out, REPORT_INDENT "launches of kernels that no burst has: %s of %s\n",
			quantity__count(rows->kernels.unseen_launches).text,
			quantity__count(p->launches).text);
}

void stat_gpu_sample__print(FILE *out, const struct stat_report *report, const struct process *p,
			    const struct gpu_process_times *times)
{
	struct rows rows;
	struct prose prose;
	FILE *text;

	if (make_rows(&rows, times, p))
		return;
	print_table(out, report, &rows);
	text = prose__begin(&prose, out, stat__width(report));
	print_sample(text, report, p, times, &rows);
	prose__end(&prose, text);
	gpu_kernel_estimates__clear(&rows.kernels);
}
