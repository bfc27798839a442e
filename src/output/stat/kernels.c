// SPDX-License-Identifier: BSD-2-Clause
// Kernels and graphs, in the text of `gpuprobe stat`; see tables.h.
#include <inttypes.h>

#include "base/escape.h"
#include "output/kernel_text.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/prose.h"
#include "output/stat/tables.h"

/* "256", "1-4096", or "-" if no launch was sampled. */
static void add_range(struct stat_table *table, bool known, uint64_t min, uint64_t max)
{
	char text[48] = "-";

	if (known && min == max)
		snprintf(text, sizeof(text), "%" PRIu64, min);
	else if (known)
		snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64, min, max);
	stat_table__text(table, text);
}

static void add_kernel(struct stat_table *table, const struct kernel *k, const char *mark)
{
	const struct shape_record *shape = &k->shape;
	char room[KERNEL_TEXT_SIZE];

	stat_table__count(table, mark, k->launches);
	add_range(table, shape->samples && shape->blocks_max, shape->blocks_min, shape->blocks_max);
	add_range(table, shape->samples && shape->threads_max, shape->threads_min,
		  shape->threads_max);
	stat_table__time(table, "", shape->gaps ? shape->gap_min : 0);
	stat_table__time(table, "", shape->gaps ? shape->gap_ns / shape->gaps : 0);
	stat_table__time(table, "", shape->gaps ? shape->gap_max : 0);
	escape__text(stat_table__name(table),
		     kernel_text__name(k, table->report->options->full_names, room));
	stat_table__end_row(table);
}

static void print_kernels(FILE *out, const struct stat_report *report, const struct process *p)
{
	static const char *const heads[] = {"launches", "blocks",      "threads",
					    "gap min",	"gap average", "gap max"};
	size_t shown = report_line__cut(report->options, p->kernel_count);
	struct stat_table table;

	if (!p->kernel_count ||
	    !stat_table__begin(&table, report, heads, sizeof(heads) / sizeof(*heads), "kernel"))
		return;
	table.optional = 1u << 3; /* gap min */
	for (size_t i = 0; i < shown; i++)
		add_kernel(&table, &p->kernels[i], report_sampling__mark(p, RATE_LAUNCH));
	stat_table__print(&table, out);
	stat_cell__rest(out, p->kernel_count - shown, "kernel");
}

/* As in the monitor's report: mentions lazy loading only if a load was seen. */
static void print_first_launches(FILE *out, const struct stat_report *report,
				 const struct process *p)
{
	const struct wait_totals loads = process__loads_in_launches(p);

	fprintf(out, REPORT_INDENT "first launches: %s took %s",
		quantity__count(p->first_launches.calls).text,
		stat_cell__time(report, p->first_launches.ns).text);
	if (loads.calls)
		fprintf(out, " (lazy loading: %s load%s inside launches in %s)",
			quantity__count(loads.calls).text, loads.calls == 1 ? "" : "s",
			stat_cell__time(report, loads.ns).text);
	fputc('\n', out);
}

static void print_graphs(FILE *out, const struct stat_report *report, const struct process *p)
{
	const char *mark = report_sampling__mark(p, RATE_LAUNCH);

	if (p->graph_launches) {
		fprintf(out, REPORT_INDENT "graph launches: %s%s", mark,
			quantity__count(p->graph_launches).text);
		if (p->graph_kernels)
			fprintf(out, " of %s%s kernels in all", mark,
				quantity__count(p->graph_kernels).text);
		if (p->graph_launches_of_unknown_size)
			fprintf(out, ", %s%s of unknown size", mark,
				quantity__count(p->graph_launches_of_unknown_size).text);
		fputc('\n', out);
	}
	if (p->captured_launches)
		fprintf(out, REPORT_INDENT "captured, not executed: %s%s launch%s\n", mark,
			quantity__count(p->captured_launches).text,
			p->captured_launches == 1 ? "" : "es");
	if (p->first_launches.calls)
		print_first_launches(out, report, p);
}

void stat_kernels__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	struct prose prose;
	FILE *text;

	print_kernels(out, report, p);
	text = prose__begin(&prose, out, stat__width(report));
	if (!p->kernel_count && (p->graph_launches || p->captured_launches))
		fputc('\n', text);
	if (p->kernel_count && report->model->shape_sample > 1)
		fprintf(text,
			REPORT_INDENT "blocks of a grid, threads of a block and gaps before "
				      "launches: sampled 1/%u\n",
			report->model->shape_sample);
	print_graphs(text, report, p);
	prose__end(&prose, text);
}
