// SPDX-License-Identifier: BSD-2-Clause
// Copies and sets with their sizes, in the text of `gpuprobe stat`; see tables.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "model/profile.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/prose.h"
#include "output/stat/tables.h"
#include "output/enum_names.h"

#define BAR "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define BAR_WIDTH 30
#define HISTOGRAM_LEAST 10 /* copies of a kind; the sizes of fewer say nothing */

/* A kind of copies, summed over all devices: a row of the table. */
struct copies {
	uint8_t kind, async, host;
	uint64_t calls, bytes, ns;
	struct copy_size_record sizes; /* of the counted copies */
};

static void add(struct copies *copies, const struct copy_size_record *record)
{
	for (int i = 0; i < COPY_SIZES; i++) {
		copies->sizes.calls[i] += record->calls[i];
		copies->sizes.bytes[i] = saturate__sum(copies->sizes.bytes[i], record->bytes[i]);
		copies->sizes.ns[i] += record->ns[i];
		copies->calls += record->calls[i];
		saturate__add(&copies->bytes, record->bytes[i]);
		copies->ns += record->ns[i];
	}
}

static void sum_up(const struct profile *profile, int kind, int async, int host,
		   struct copies *copies)
{
	*copies = (struct copies){
		.kind = (uint8_t)kind, .async = (uint8_t)async, .host = (uint8_t)host};
	for (size_t i = 0; i < profile->copy_count; i++) {
		const struct copy_size_key *key = &profile->copies[i].key;

		if (key->kind == kind && !key->async == !async && key->host == host)
			add(copies, &profile->copies[i].record);
	}
}

static bool has_host(const struct copies *copies)
{
	return copies->kind != COPY_SET && copies->kind != COPY_D2D && copies->kind != COPY_P2P;
}

/* "H2D async, pinned" */
static void print_what(FILE *out, const struct copies *copies)
{
	fprintf(out, "%s %s", enum_names__copy_kind(copies->kind),
		copies->async ? "async" : "sync");
	if (copies->host != COPY_HOST_UNKNOWN)
		fprintf(out, ", %s", enum_names__copy_host(copies->host));
	else if (has_host(copies))
		fputs(", pinned or not is unknown", out);
}

/*
 * Estimated number of copies for each counted one; pinned, pageable and other copies have the same
 * scale.
 */
static double scale_of(const struct process *p, int kind, int async)
{
	struct copies copies;
	uint64_t counted = 0;

	if (!process__is_estimated(p, RATE_COPY))
		return 1;
	for (int host = COPY_HOST_UNKNOWN; host <= COPY_HOST_PAGEABLE; host++) {
		sum_up(p->profile, kind, async, host, &copies);
		counted += copies.calls;
	}
	return counted ? (double)p->copies[kind][!!async].calls / (double)counted : 1;
}

static uint64_t scaled(uint64_t amount, double scale)
{
	return scale > 1 ? (uint64_t)((double)amount * scale + 0.5) : amount;
}

/*
 * Asynchronous copies return before their bytes are moved: their time in calls does not give a
 * bandwidth.
 */
static void add_row(struct stat_table *table, const struct process *p, const struct copies *copies)
{
	const char *mark = report_sampling__mark(p, RATE_COPY);
	double scale = scale_of(p, copies->kind, copies->async);

	stat_table__count(table, mark, scaled(copies->calls, scale));
	stat_table__bytes(table, mark, scaled(copies->bytes, scale));
	stat_table__bytes(table, "", copies->calls ? copies->bytes / copies->calls : 0);
	stat_table__time(table, mark, scaled(copies->ns, scale));
	stat_table__bandwidth(table, copies->bytes, copies->async ? 0 : copies->ns);
	print_what(stat_table__name(table), copies);
	stat_table__end_row(table);
}

/* Prints asynchronous copies covered by waits, excluding the rows left out. */
static void print_covered(FILE *out, const struct stat_report *report, const struct process *p,
			  const struct copies *left_out, size_t count)
{
	for (int kind = 0; kind < COPY_KINDS; kind++) {
		const struct covered_totals *covered = &p->covered[kind];
		bool shown = true;

		for (size_t i = 0; i < count; i++)
			shown = shown && !(left_out[i].kind == kind && left_out[i].async);
		if (!covered->ns || !shown)
			continue;
		fprintf(out,
			REPORT_INDENT
			"%s async: at least %s from issue to the wait that covered %s of %s%s\n",
			enum_names__copy_kind(kind),
			stat_cell__bandwidth(report, covered->bytes, covered->ns).text,
			quantity__count(covered->calls).text, report_sampling__mark(p, RATE_COPY),
			quantity__count(p->copies[kind][1].calls).text);
	}
}

/* A power of two without rounding: "64 KiB". */
static void bucket_text(int bucket, char text[16])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

	snprintf(text, 16, "%u %s", bucket ? 1u << bucket % 10 : 0, units[bucket / 10]);
}

static void print_bucket(FILE *out, enum quantity_form form, const struct copies *copies,
			 int bucket, uint64_t most)
{
	int length = (int)((double)copies->sizes.calls[bucket] / (double)most * BAR_WIDTH + 0.5);
	char from[16], to[16] = "";

	bucket_text(bucket, from);
	if (bucket + 1 < COPY_SIZES)
		bucket_text(bucket + 1, to);
	fprintf(out, REPORT_INDENT "%6s  %8s - %-8s |%.*s%*s|\n",
		quantity__amount_as(form, copies->sizes.calls[bucket]).text, from, to, length, BAR,
		BAR_WIDTH - length, "");
}

/*
 * Prints the number of copies by size, in powers of two. Prints nothing if they are few, or if all
 * had about one size, which "bytes each" shows.
 */
static void print_histogram(FILE *out, enum quantity_form form, const struct copies *copies)
{
	uint64_t most = 0;
	int buckets = 0;

	for (int i = 0; i < COPY_SIZES; i++) {
		buckets += copies->sizes.calls[i] > 0;
		most = copies->sizes.calls[i] > most ? copies->sizes.calls[i] : most;
	}
	if (buckets < 2 || copies->calls < HISTOGRAM_LEAST)
		return;
	fputs("\n" REPORT_INDENT "sizes of ", out);
	print_what(out, copies);
	fputc('\n', out);
	for (int i = 0; i < COPY_SIZES; i++)
		if (copies->sizes.calls[i])
			print_bucket(out, form, copies, i, most);
}

static int by_time(const void *a, const void *b)
{
	const struct copies *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind - y->kind;
	return x->async != y->async ? x->async - y->async : x->host - y->host;
}

/* Lists the rows, most time first. The caller frees the result; NULL without memory. */
static struct copies *list_rows(const struct process *p, size_t *count)
{
	struct copies *rows = malloc(COPY_KINDS * 2 * (COPY_HOST_PAGEABLE + 1) * sizeof(*rows));

	*count = 0;
	if (!rows)
		return NULL;
	for (int kind = 0; kind < COPY_KINDS; kind++)
		for (int async = 0; async < 2; async++)
			for (int host = COPY_HOST_UNKNOWN; host <= COPY_HOST_PAGEABLE; host++) {
				sum_up(p->profile, kind, async, host, &rows[*count]);
				*count += rows[*count].calls > 0;
			}
	qsort(rows, *count, sizeof(*rows), by_time);
	return rows;
}

void stat_copies__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	static const char *const heads[] = {"calls", "bytes", "bytes each", "in calls",
					    "bandwidth"};
	struct stat_table table;
	struct prose prose;
	struct copies *rows;
	FILE *text;
	size_t count, shown;

	if (!p->profile || !p->profile->copy_count)
		return;
	rows = list_rows(p, &count);
	if (!rows)
		return;
	shown = report_line__cut(report->options, count);
	if (stat_table__begin(&table, report, heads, sizeof(heads) / sizeof(*heads),
			      "copies and sets")) {
		table.optional = 1u << 2; /* bytes each */
		for (size_t i = 0; i < shown; i++)
			add_row(&table, p, &rows[i]);
		stat_table__print(&table, out);
	}
	stat_cell__rest(out, count - shown, "row");
	text = prose__begin(&prose, out, stat__width(report));
	print_covered(text, report, p, rows + shown, count - shown);
	prose__end(&prose, text);
	for (size_t i = 0; i < shown; i++)
		print_histogram(out, report->options->form, &rows[i]);
	free(rows);
}
