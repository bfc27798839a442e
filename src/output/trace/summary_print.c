// SPDX-License-Identifier: BSD-2-Clause
// The summary of a trace in its three forms, see summary.h.
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/quantity.h"
#include "output/clip.h"
#include "output/trace/schema.h"
#include "output/trace/summary_private.h"
#include "output/trace/text.h"
#include "trace/function.h"

/* Most time first, then most calls, then by name. */
static int compare(struct summary_row *a, struct summary_row *b)
{
	if (a->sums.ns != b->sums.ns)
		return a->sums.ns < b->sums.ns ? 1 : -1;
	if (a->sums.calls != b->sums.calls)
		return a->sums.calls < b->sums.calls ? 1 : -1;
	return strcmp(trace_function__symbol(a->function), trace_function__symbol(b->function));
}

static void add_up(const struct trace_summary *summary, struct summary_sums *total)
{
	const struct summary_row *row;

	memset(total, 0, sizeof(*total));
	for (row = summary->rows; row; row = row->hh.next) {
		total->calls += row->sums.calls;
		total->errors += row->sums.errors;
		total->unfinished += row->sums.unfinished;
		total->unfollowed += row->sums.unfollowed;
		total->ns += row->sums.ns;
		total->unfinished_ns += row->sums.unfinished_ns;
		if (row->sums.max_ns > total->max_ns)
			total->max_ns = row->sums.max_ns;
	}
}

/* Calls whose return was seen. */
static uint64_t finished_calls(const struct summary_sums *sums)
{
	return sums->calls - sums->unfinished - sums->unfollowed;
}

static uint64_t average(const struct summary_sums *sums)
{
	uint64_t finished = finished_calls(sums);

	return finished ? sums->ns / finished : 0;
}

/* Minimum and maximum are exact, so they bound the percentiles. */
static uint64_t percentile(const struct summary_row *row, unsigned int percent)
{
	uint64_t value = trace_histogram__percentile(&row->histogram, percent);

	if (value < row->sums.min_ns)
		return row->sums.min_ns;
	return value < row->sums.max_ns ? value : row->sums.max_ns;
}

/* --- the table --- */

enum time_column {
	COLUMN_AVERAGE = 0,
	COLUMN_P50,
	COLUMN_P99,
	COLUMN_MAX,
	TIME_COLUMNS
};

/* of one of them, with the blank before it */
#define TIME_WIDTH 10
#define EXACT_TIME_WIDTH 17
#define BEFORE_TIMES 38 /* columns of the row before these */
#define LEAST_NAME 20

/* What a terminal has room for. */
struct room {
	bool shown[TIME_COLUMNS];
	enum quantity_form form;
	int time; /* columns of a time, with the blank before it */
	int name; /* columns of a function's name */
};

static int longest_name(const struct trace_summary *summary)
{
	int longest = LEAST_NAME;

	for (const struct summary_row *row = summary->rows; row; row = row->hh.next) {
		int columns = clip__columns(trace_function__symbol(row->function));

		if (columns > longest)
			longest = columns;
	}
	return longest;
}

/* Columns of times go before names are cut. */
static struct room find_room(const struct trace_summary *summary, unsigned int width,
			     enum quantity_form form)
{
	static const enum time_column least_first[] = {COLUMN_P50, COLUMN_P99, COLUMN_AVERAGE,
						       COLUMN_MAX};
	struct room room = {
		.shown = {true, true, true, true},
		.form = form,
		.time = form == QUANTITY_EXACT ? EXACT_TIME_WIDTH : TIME_WIDTH,
		.name = CLIP_WHOLE,
	};
	int longest = longest_name(summary);
	int before = BEFORE_TIMES + TIME_COLUMNS * room.time + 1;

	if (!width)
		return room;
	for (int i = 0; i < TIME_COLUMNS && before + longest > (int)width; i++) {
		room.shown[least_first[i]] = false;
		before -= room.time;
	}
	room.name = (int)width - before > LEAST_NAME ? (int)width - before : LEAST_NAME;
	return room;
}

static void print_duration(FILE *out, const struct room *room, enum time_column column, bool known,
			   uint64_t ns)
{
	if (room->shown[column])
		fprintf(out, "%*s", room->time,
			known ? quantity__time_as(room->form, ns).text : "-");
}

static void print_time(FILE *out, const struct summary_sums *sums, uint64_t total_ns)
{
	fprintf(out, "%6.2f %4" PRIu64 ".%06" PRIu64,
		total_ns ? 100.0 * (double)sums->ns / (double)total_ns : 0.0,
		(uint64_t)(sums->ns / NS_PER_S), (uint64_t)(sums->ns % NS_PER_S / 1000));
	fprintf(out, " %10" PRIu64 " %8" PRIu64, sums->calls, sums->errors);
}

static void print_row(FILE *out, const struct room *room, const struct summary_row *row,
		      uint64_t total_ns)
{
	bool finished = finished_calls(&row->sums);

	print_time(out, &row->sums, total_ns);
	print_duration(out, room, COLUMN_AVERAGE, finished, average(&row->sums));
	print_duration(out, room, COLUMN_P50, finished, percentile(row, 50));
	print_duration(out, room, COLUMN_P99, finished, percentile(row, 99));
	print_duration(out, room, COLUMN_MAX, finished, row->sums.max_ns);
	fputc(' ', out);
	clip__print(out, trace_function__symbol(row->function), room->name);
	fputc('\n', out);
}

static void print_head(FILE *out, const struct room *room)
{
	static const char *const names[TIME_COLUMNS] = {"average", "p50", "p99", "max"};

	fprintf(out, "%6s %11s %10s %8s", "% time", "seconds", "calls", "errors");
	for (int column = 0; column < TIME_COLUMNS; column++)
		if (room->shown[column])
			fprintf(out, "%*s", room->time, names[column]);
	fputs(" function\n", out);
}

static void print_rule(FILE *out, const struct room *room)
{
	fputs("------ ----------- ---------- --------", out);
	for (int column = 0; column < TIME_COLUMNS; column++)
		if (room->shown[column])
			fprintf(out, " %.*s", room->time - 1, "----------------");
	fputs(" --------------------\n", out);
}

static void print_notes(const struct trace_summary *summary, const struct summary_sums *total,
			const struct trace_missing *missing, enum quantity_form form, FILE *out)
{
	if (total->unfinished)
		fprintf(out,
			"%" PRIu64
			" of the calls did not return: %s so far, not in the times above\n",
			total->unfinished, quantity__time_as(form, total->unfinished_ns).text);
	if (total->unfollowed)
		fprintf(out,
			"the return of %" PRIu64 " of the calls was not followed: results and "
			"times are those of the others\n",
			total->unfollowed);
	if (summary->nested)
		fputs("the time of a call within another is in both\n", out);
	if (missing->calls)
		fprintf(out, "%" PRIu64 " call%s lost, not in the table\n", missing->calls,
			missing->calls == 1 ? " was" : "s were");
	if (missing->before)
		fprintf(out, "%" PRIu64 " call%s had begun before attach, not in the table\n",
			missing->before, missing->before == 1 ? "" : "s");
	if (missing->libraries)
		fprintf(out,
			"%" PRIu64 " file%s that may be CUDA libraries got no probes: their calls "
			"are not in the table\n",
			missing->libraries, missing->libraries == 1 ? "" : "s");
}

static void print_table(const struct trace_summary *summary, const struct summary_sums *total,
			const struct trace_missing *missing, unsigned int width,
			enum quantity_form form, FILE *out)
{
	const struct room room = find_room(summary, width, form);
	const struct summary_row *row;
	bool finished = finished_calls(total);

	print_head(out, &room);
	print_rule(out, &room);
	for (row = summary->rows; row; row = row->hh.next)
		print_row(out, &room, row, total->ns);
	print_rule(out, &room);
	print_time(out, total, total->ns);
	print_duration(out, &room, COLUMN_AVERAGE, finished, average(total));
	print_duration(out, &room, COLUMN_P50, false, 0);
	print_duration(out, &room, COLUMN_P99, false, 0);
	print_duration(out, &room, COLUMN_MAX, finished, total->max_ns);
	fputs(" total\n", out);
	print_notes(summary, total, missing, form, out);
}

/* --- tab-separated values: nanoseconds, without totals, which readers can sum up --- */

static void print_tsv_row(FILE *out, const struct summary_row *row)
{
	escape__text(out, trace_function__symbol(row->function));
	fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, row->sums.calls,
		row->sums.errors, row->sums.unfinished + row->sums.unfollowed, row->sums.ns);
	if (finished_calls(&row->sums))
		fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
			average(&row->sums), percentile(row, 50), percentile(row, 99),
			row->sums.max_ns);
	else
		fputs("\t-\t-\t-\t-\n", out);
}

static void print_tsv(const struct trace_summary *summary, const struct trace_missing *missing,
		      FILE *out)
{
	const struct summary_row *row;

	fputs("event\tcalls\terrors\tunfinished\ttime\taverage\tp50\tp99\tmax\n", out);
	for (row = summary->rows; row; row = row->hh.next)
		print_tsv_row(out, row);
	if (missing->calls)
		fprintf(out, "# lost %" PRIu64 "\n", missing->calls);
	if (missing->before)
		fprintf(out, "# before_attach %" PRIu64 "\n", missing->before);
	if (missing->libraries)
		fprintf(out, "# library_skipped %" PRIu64 "\n", missing->libraries);
}

/* --- JSON: one object, times in nanoseconds --- */

static void write_sums(struct json *j, const struct summary_sums *sums)
{
	json__key_u64(j, "calls", sums->calls);
	json__key_u64(j, "errors", sums->errors);
	json__key_u64(j, "unfinished", sums->unfinished);
	if (sums->unfollowed)
		json__key_u64(j, "not_followed", sums->unfollowed);
	json__key_u64(j, "unfinished_time", sums->unfinished_ns);
	json__key_u64(j, "time", sums->ns);
}

static void write_row(struct json *j, const struct summary_row *row)
{
	json__object_begin(j);
	json__key_string(j, "event", trace_function__symbol(row->function));
	write_sums(j, &row->sums);
	if (finished_calls(&row->sums)) {
		json__key_u64(j, "average", average(&row->sums));
		json__key_u64(j, "p50", percentile(row, 50));
		json__key_u64(j, "p99", percentile(row, 99));
		json__key_u64(j, "max", row->sums.max_ns);
	}
	json__object_end(j);
}

static void print_json(const struct trace_summary *summary, const struct summary_sums *total,
		       const struct trace_missing *missing, FILE *out)
{
	const struct summary_row *row;
	struct json json, *j = &json;

	json__init(j, out);
	json__object_begin(j);
	json__key_u64(j, "schema", TRACE_JSON_SCHEMA);
	json__key(j, "summary");
	json__object_begin(j);
	write_sums(j, total);
	json__key_u64(j, "lost", missing->calls);
	if (missing->before)
		json__key_u64(j, "before_attach", missing->before);
	json__key_u64(j, "library_skipped", missing->libraries);
	json__key_bool(j, "nested", summary->nested);
	json__key(j, "functions");
	json__array_begin(j);
	for (row = summary->rows; row; row = row->hh.next)
		write_row(j, row);
	json__array_end(j);
	json__object_end(j);
	json__object_end(j);
	fputc('\n', out);
}

void trace_summary__print(struct trace_summary *summary, const struct trace_missing *missing,
			  enum trace_format format, unsigned int width, enum quantity_form form,
			  FILE *out)
{
	struct summary_sums total;

	HASH_SORT(summary->rows, compare);
	add_up(summary, &total);
	switch (format) {
	case TRACE_TSV: print_tsv(summary, missing, out); return;
	case TRACE_JSON: print_json(summary, &total, missing, out); return;
	case TRACE_TABLE: break;
	}
	print_table(summary, &total, missing, width, form, out);
}
