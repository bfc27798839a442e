// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges in the text of `gpuprobe stat`; see tables.h.
#include <stdlib.h>

#include "base/escape.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/prose.h"
#include "output/stat/tables.h"

/* The last one only with GPU times. */
static const char *const heads[] = {"time",  "count",	 "average", "launches", "copies",
				    "waits", "in waits", "in CUDA", "GPU time"};

#define HEADS (sizeof(heads) / sizeof(*heads))
#define COLUMN_AVERAGE 2 /* the one that a narrow terminal does not show */

static uint64_t inside_ns(const struct nvtx_record *record)
{
	uint64_t ns = 0;

	for (int i = 0; i < TIME_CLASSES; i++)
		ns += record->time[i].ns;
	return ns;
}

static void add_row(struct stat_table *table, const struct nvtx_range *range, bool with_gpu)
{
	const struct nvtx_record *record = &range->record;

	stat_table__time(table, "", record->ns);
	stat_table__count(table, "", record->count);
	stat_table__time(table, "", record->count ? record->ns / record->count : 0);
	stat_table__count(table, "", record->launches);
	stat_table__count(table, "", record->time[TIME_COPY].calls);
	stat_table__count(table, "", record->time[TIME_WAIT].calls);
	stat_table__time(table, "", record->time[TIME_WAIT].ns);
	stat_table__time(table, "", inside_ns(record));
	if (with_gpu && record->uncalled)
		stat_table__text(table, "unknown");
	else if (with_gpu)
		stat_table__time(table, "", gpu_parts__all(&range->gpu).ns);
	if (range->name && range->key.name)
		escape__text(stat_table__name(table), *range->name ? range->name : "(no text)");
	else
		fputs(range->key.name ? "(its name is unknown)" :
					"(ranges beyond the limit of names)",
		      stat_table__name(table));
	stat_table__end_row(table);
}

/* Prints as many rows as are to be shown; returns how many ranges the process has. */
static size_t print_table(FILE *out, const struct stat_report *report, const struct process *p,
			  bool with_gpu, uint64_t *unmeasured)
{
	const struct nvtx_ranges *ranges = report->ranges;
	size_t count = 0, shown = 0, most;
	struct stat_table table;

	for (size_t i = 0; i < ranges->count; i++)
		count += nvtx_range__is_of(&ranges->list[i], p->pid, p->start_ns);
	most = report_line__cut(report->options, count);
	if (!count || !stat_table__begin(&table, report, heads, HEADS - !with_gpu, "NVTX range"))
		return count;
	table.optional = 1u << COLUMN_AVERAGE;
	for (size_t i = 0; i < ranges->count; i++) {
		const struct nvtx_range *range = &ranges->list[i];

		if (!nvtx_range__is_of(range, p->pid, p->start_ns))
			continue;
		*unmeasured += range->record.unmeasured;
		if (shown++ < most)
			add_row(&table, range, with_gpu);
	}
	stat_table__print(&table, out);
	stat_cell__rest(out, count - most, "range");
	return count;
}

static void print_part(FILE *text, const char *before, const struct gpu_parts *gpu,
		       const char *where)
{
	const struct gpu_part_sum all = gpu_parts__all(gpu);

	if (all.count)
		fprintf(text, "%s%s of GPU time %s (%s piece%s of work)", before,
			quantity__time(all.ns).text, where, quantity__count(all.count).text,
			report_line__plural(all.count));
}

/* GPU work that is in no row. */
static void print_apart(FILE *text, const struct nvtx_apart *apart)
{
	bool has_outside = gpu_parts__all(&apart->outside).count;

	print_part(text, REPORT_INDENT, &apart->outside, "is outside ranges");
	print_part(text, has_outside ? "; " : REPORT_INDENT, &apart->unknown,
		   "is in ranges that are not known");
	if (has_outside || gpu_parts__all(&apart->unknown).count)
		fputc('\n', text);
	if (apart->uncalled)
		fprintf(text,
			REPORT_INDENT
			"GPU time by range lacks %s piece%s of work whose call is not "
			"known\n",
			quantity__count(apart->uncalled).text,
			report_line__plural(apart->uncalled));
}

void stat_ranges__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	struct nvtx_apart apart;
	uint64_t unmeasured = 0;
	struct prose prose;
	bool with_gpu;
	FILE *text;
	size_t count;

	if (!report->ranges)
		return;
	with_gpu = nvtx_ranges__apart(report->ranges, p->pid, p->start_ns, &apart);
	count = print_table(out, report, p, with_gpu, &unmeasured);
	text = prose__begin(&prose, out, stat__width(report));
	if (!count)
		fputs("\n" REPORT_INDENT "no NVTX ranges: nothing has come from this process\n",
		      text);
	if (count && process__is_estimated(p, RATE_LAUNCH))
		fputs(REPORT_INDENT "ranges have no calls that were made while probes were off\n",
		      text);
	if (unmeasured)
		fprintf(text,
			REPORT_INDENT "calls in %s range%s are not known: another thread ended "
				      "the range, or the thread had no counters\n",
			quantity__count(unmeasured).text, report_line__plural(unmeasured));
	if (count && with_gpu)
		print_apart(text, &apart);
	prose__end(&prose, text);
}

void stat_ranges__print_losses(FILE *out, const struct stat_report *report)
{
	const struct nvtx_ranges *ranges = report->ranges;
	uint64_t lost_ranges, lost_names;

	if (!ranges)
		return;
	lost_ranges = ranges->unread_ranges + ranges->lost_ranges;
	lost_names = ranges->unread_names + ranges->lost_names;
	if (lost_ranges)
		fprintf(out, "gpuprobe had no room for %s NVTX range%s, which no row counts\n",
			quantity__count(lost_ranges).text, report_line__plural(lost_ranges));
	if (lost_names)
		fprintf(out, "gpuprobe had no room for %s name%s of NVTX ranges\n",
			quantity__count(lost_names).text, report_line__plural(lost_names));
}
