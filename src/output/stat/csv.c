// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of `gpuprobe stat` as comma-separated values, see stat.h. The functions that write a
 * table's rows also write the line of its column names, so that a cell is next to its name. Every
 * row has all cells.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "model/profile.h"
#include "api/api.h"
#include "output/csv_text.h"
#include "output/finding/findings.h"
#include "output/report/totals.h"
#include "output/stat/tables.h"
#include "output/enum_names.h"

struct writer {
	FILE *out;
	const struct stat_report *report;
	const struct process *process;
	bool names; /* write the line of column names instead of a row */
	bool alone; /* the table has a file of its own: no column with its name */
};

/* --- cells; each writes the comma before it --- */

/* Begins a cell, or writes its name. Returns whether its value follows. */
static bool begin_cell(const struct writer *w, const char *name)
{
	fputc(',', w->out);
	if (w->names)
		fputs(name, w->out);
	return !w->names;
}

static void put_number(const struct writer *w, const char *name, uint64_t value)
{
	if (begin_cell(w, name))
		fprintf(w->out, "%" PRIu64, value);
}

/* Empty if unknown, as in put_real. */
static void put_known(const struct writer *w, const char *name, bool known, int64_t value)
{
	if (begin_cell(w, name) && known)
		fprintf(w->out, "%" PRId64, value);
}

static void put_real(const struct writer *w, const char *name, bool known, double value)
{
	char text[JSON_NUMBER_SIZE];

	if (!begin_cell(w, name) || !known)
		return;
	json__format_double(text, value);
	fputs(text, w->out);
}

static void put_text(const struct writer *w, const char *name, const char *text)
{
	if (begin_cell(w, name))
		csv_text__print(w->out, text);
}

/* Begins with the table's name and the seconds since the probes were attached. */
static void begin_line(const struct writer *w, const char *table)
{
	const struct stat_report *report = w->report;
	uint64_t now_ns = report->model->now_ns;
	char text[JSON_NUMBER_SIZE] = "seconds";

	if (!w->names)
		json__format_double(text,
				    now_ns > report->began_ns ?
					    (double)(now_ns - report->began_ns) / (double)NS_PER_S :
					    0);
	fprintf(w->out, "%s%s%s", w->alone ? "" : table, w->alone ? "" : ",", text);
}

/* The same, followed by the process. */
static void begin_row(const struct writer *w, const char *table, int32_t pid, const char *comm)
{
	begin_line(w, table);
	put_known(w, "pid", pid, pid);
	put_text(w, "comm", comm);
}

static void begin_process_row(const struct writer *w, const char *table)
{
	begin_row(w, table, w->process->pid, w->process->comm);
}

/* --- tables --- */

/* "launch_ns", "wait_calls" */
static void put_class(const struct writer *w, enum time_class class, const char *unit,
		      uint64_t value)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%s", enum_names__time_class(class), unit);
	put_number(w, name, value);
}

static uint64_t launches_of(const struct writer *w, const struct thread_profile *thread)
{
	return thread->launches + profile__missed_launches(w->process->profile, thread);
}

static void print_time(const struct writer *w, const struct profile_time *time,
		       const struct thread_profile *thread)
{
	bool gaps = thread && thread->gap_count;

	begin_process_row(w, "threads");
	if (thread)
		put_known(w, "tid", true, thread->tid);
	else
		put_text(w, "tid", "all");
	put_text(w, "thread", thread ? thread->comm : "");
	put_number(w, "watched_ns", time->wall_ns);
	for (int i = 0; i < TIME_CLASSES; i++)
		put_class(w, i, "ns", time->time[i].ns);
	put_number(w, "outside_ns", time->outside_ns);
	for (int i = 0; i < TIME_CLASSES; i++)
		put_class(w, i, "calls", time->time[i].calls);
	put_known(w, "launches", thread, thread ? (int64_t)launches_of(w, thread) : 0);
	put_known(w, "chained", thread, thread ? (int64_t)thread->chained.calls : 0);
	put_real(w, "gap_average_ns", gaps,
		 thread && gaps ? (double)(thread->gap_ns / thread->gap_count) : 0);
	put_real(w, "gap_p50_ns", gaps,
		 thread ? (double)profile__percentile(thread->gaps, 0.5, UINT64_MAX) : 0);
	put_real(w, "gap_p99_ns", gaps,
		 thread ? (double)profile__percentile(thread->gaps, 0.99, UINT64_MAX) : 0);
	fputc('\n', w->out);
}

static void print_threads(const struct writer *w)
{
	const struct profile *profile = w->process->profile;
	const struct thread_profile **threads = profile__threads_by_time(profile);
	uint64_t until_ns = stat__until_ns(w->report, w->process);
	struct profile_time time;

	profile__sum_time(profile, w->report->began_ns, until_ns, &time);
	print_time(w, &time, NULL);
	for (size_t i = 0; threads && i < profile->thread_count; i++) {
		profile__thread_time(profile, threads[i], w->report->began_ns, until_ns, &time);
		print_time(w, &time, threads[i]);
	}
	free(threads);
}

static void print_functions(const struct writer *w)
{
	for (size_t i = 0; i < w->process->profile->function_count; i++) {
		const struct profile_function *f = &w->process->profile->functions[i];
		const struct duration_record *time = &f->time;

		begin_process_row(w, "functions");
		put_text(w, "function", api_functions[f->row].symbol);
		put_text(w, "layer", enum_names__layer(api_functions[f->row].desc.layer));
		put_number(w, "calls", time->calls + f->missed);
		put_number(w, "errors", profile__errors(w->process, f->row));
		put_number(w, "total_ns", profile_function__ns(f));
		put_number(w, "average_ns", time->calls ? time->ns / time->calls : 0);
		put_number(w, "p50_ns", profile__percentile(time->buckets, 0.5, time->max_ns));
		put_number(w, "p99_ns", profile__percentile(time->buckets, 0.99, time->max_ns));
		put_number(w, "max_ns", time->max_ns);
		fputc('\n', w->out);
	}
}

static void print_kernels(const struct writer *w)
{
	for (size_t i = 0; i < w->process->kernel_count; i++) {
		const struct kernel *k = &w->process->kernels[i];
		const struct shape_record *shape = &k->shape;

		begin_process_row(w, "kernels");
		put_text(w, "kernel", k->name);
		put_number(w, "launches", k->launches);
		put_number(w, "captured", k->captured);
		put_number(w, "samples", shape->samples);
		put_real(w, "blocks_min", shape->samples, (double)shape->blocks_min);
		put_real(w, "blocks_max", shape->samples, (double)shape->blocks_max);
		put_real(w, "threads_min", shape->samples, (double)shape->threads_min);
		put_real(w, "threads_max", shape->samples, (double)shape->threads_max);
		put_number(w, "gaps", shape->gaps);
		put_real(w, "gap_min_ns", shape->gaps, (double)shape->gap_min);
		put_real(w, "gap_average_ns", shape->gaps,
			 shape->gaps ? (double)(shape->gap_ns / shape->gaps) : 0);
		put_real(w, "gap_max_ns", shape->gaps, (double)shape->gap_max);
		fputc('\n', w->out);
	}
}

static void print_copy_size(const struct writer *w, const struct profile_copies *copies, int bucket)
{
	begin_process_row(w, "copies");
	put_text(w, "kind", enum_names__copy_kind(copies->key.kind));
	put_text(w, "mode", copies->key.async ? "async" : "sync");
	put_text(w, "host", enum_names__copy_host(copies->key.host));
	put_known(w, "device", copies->key.device != DEVICE_UNKNOWN, copies->key.device);
	put_number(w, "from_bytes", bucket ? 1ull << bucket : 0);
	put_number(w, "calls", copies->record.calls[bucket]);
	put_number(w, "bytes", copies->record.bytes[bucket]);
	put_number(w, "ns", copies->record.ns[bucket]);
	fputc('\n', w->out);
}

static void print_copies(const struct writer *w)
{
	for (size_t i = 0; i < w->process->profile->copy_count; i++)
		for (int bucket = 0; bucket < COPY_SIZES; bucket++)
			if (w->process->profile->copies[i].record.calls[bucket])
				print_copy_size(w, &w->process->profile->copies[i], bucket);
}

static void print_sizes(const struct writer *w)
{
	for (size_t i = 0; i < w->process->profile->size_count; i++) {
		const struct profile_size *size = &w->process->profile->sizes[i];

		begin_process_row(w, "allocations");
		put_text(w, "function", api_functions[size->key.row].symbol);
		put_text(w, "memory", enum_names__memory_kind(size->key.kind));
		put_known(w, "device", size->key.device != DEVICE_UNKNOWN, size->key.device);
		put_number(w, "bytes", size->key.size);
		put_number(w, "allocations", size->record.allocations);
		put_number(w, "allocation_ns", size->record.allocation_ns);
		put_number(w, "frees", size->record.frees);
		put_number(w, "free_ns", size->record.free_ns);
		put_number(w, "live", size->record.live);
		put_number(w, "peak", size->record.peak);
		fputc('\n', w->out);
	}
}

static void print_open_calls(const struct writer *w)
{
	for (size_t i = 0; i < w->process->open_listed; i++) {
		const struct open_call *call = &w->process->open[i];
		uint64_t until_ns = call->ended_ns ? call->ended_ns : w->report->model->now_ns;

		begin_process_row(w, "unreturned");
		put_known(w, "tid", true, call->tid);
		put_text(w, "thread", call->comm);
		put_text(w, "function", api_functions[call->row].symbol);
		put_text(w, "layer", enum_names__layer(api_functions[call->row].desc.layer));
		put_number(w, "ns", until_ns > call->start_ns ? until_ns - call->start_ns : 0);
		put_number(w, "ended", call->ended_ns != 0);
		fputc('\n', w->out);
	}
}

static void print_errors(const struct writer *w)
{
	for (size_t i = 0; i < w->process->failure_count; i++) {
		const struct failure *f = &w->process->failures[i];

		begin_process_row(w, "errors");
		put_text(w, "function", f->function);
		put_text(w, "layer", f->is_rest ? "" : enum_names__layer(f->layer));
		put_known(w, "code", !f->is_rest, f->code);
		put_text(w, "error", f->error);
		put_number(w, "count", f->count);
		fputc('\n', w->out);
	}
}

/*
 * Processes whose launches, copies or waits are partly estimated: the counted ones, and the
 * estimated addition.
 */
static void print_sampling(const struct writer *w)
{
	for (enum rate_family family = 0; family < RATE_EXACT; family++) {
		const struct family_calls *calls = &w->process->family_calls[family];

		if (!process__is_estimated(w->process, family))
			continue;
		begin_process_row(w, "sampling");
		put_text(w, "family", enum_names__rate_family(family));
		put_number(w, "counted", calls->counted);
		put_number(w, "missed", calls->missed);
		put_real(w, "share", true, w->report->model->sampling.share[family]);
		put_real(w, "overhead", true, w->report->model->sampling.overhead);
		put_real(w, "max_overhead", true, w->report->model->sampling.max_overhead);
		fputc('\n', w->out);
	}
}

static void print_finding(const struct writer *w, const struct finding *finding)
{
	begin_row(w, "findings", finding->pid, finding->comm);
	put_known(w, "tid", finding->tid, finding->tid);
	put_text(w, "severity", findings_text__severity_word(finding->severity));
	put_text(w, "id", finding->kind->id);
	put_text(w, "subject", finding->subject);
	put_text(w, "evidence", finding->evidence);
	put_real(w, "cost_seconds", finding->has_cost, (double)finding->cost_ns / (double)NS_PER_S);
	put_real(w, "cost_share", finding->has_cost, finding->share);
	put_real(w, "saving_seconds", finding->has_saving,
		 (double)finding->saving_ns / (double)NS_PER_S);
	put_text(w, "assumption", finding->assumption);
	fputc('\n', w->out);
}

static void print_findings(const struct writer *w)
{
	const struct finding_list *list = w->report->findings;

	if (w->names)
		print_finding(w, &(struct finding){.kind = &(struct finding_kind){0}});
	for (size_t i = 0; !w->names && i < list->count; i++)
		print_finding(w, &list->items[i]);
}

static void print_loss(const struct writer *w, int loss)
{
	begin_line(w, "lost");
	put_text(w, "reason", enum_names__loss_name(loss));
	put_number(w, "count", w->report->model->lost[loss]);
	fputc('\n', w->out);
}

static void print_losses(const struct writer *w)
{
	if (w->names)
		print_loss(w, 0);
	for (int loss = 0; !w->names && loss < LOSS_COUNT; loss++)
		if (w->report->model->lost[loss])
			print_loss(w, loss);
}

static const struct {
	const char *name;
	void (*print)(const struct writer *w);
	bool of_process; /* `print` writes the rows of one process */
} tables[STAT_CSV_TABLES] = {
	{"threads", print_threads, true},   {"functions", print_functions, true},
	{"kernels", print_kernels, true},   {"copies", print_copies, true},
	{"allocations", print_sizes, true}, {"unreturned", print_open_calls, true},
	{"errors", print_errors, true},	    {"findings", print_findings, false},
	{"sampling", print_sampling, true}, {"lost", print_losses, false},
};

/* Writes the line of column names, using an artificial process with one record of each kind. */
static void print_names(FILE *out, size_t table, bool alone)
{
	struct profile_function function = {0};
	struct profile_copies copies = {.record.calls = {1}};
	struct profile_size size = {0};
	struct profile profile = {
		.functions = &function,
		.function_count = 1,
		.copies = &copies,
		.copy_count = 1,
		.sizes = &size,
		.size_count = 1,
	};
	struct kernel kernel = {0};
	struct open_call open = {0};
	struct failure failure = {0};
	const struct process process = {
		.profile = &profile,
		.kernels = &kernel,
		.kernel_count = 1,
		.open = &open,
		.open_listed = 1,
		.failures = &failure,
		.failure_count = 1,
		.family_calls = {{.missed = 1}},
	};
	const struct model model = {0};
	const struct stat_report report = {.model = &model};

	tables[table].print(&(struct writer){
		.out = out, .report = &report, .process = &process, .names = true, .alone = alone});
}

static void print_rows(struct writer *w, size_t table)
{
	const struct model *model = w->report->model;

	if (!tables[table].of_process) {
		tables[table].print(w);
		return;
	}
	for (size_t i = 0; i < model->process_count; i++) {
		w->process = &model->processes[i];
		if (report__shows(w->process) && w->process->profile)
			tables[table].print(w);
	}
}

void stat_csv__print(FILE *out, const struct stat_report *report)
{
	struct writer w = {.out = out, .report = report};

	for (size_t i = 0; i < STAT_CSV_TABLES; i++) {
		if (tables[i].print == print_sampling && !report->model->sampling.max_overhead)
			continue;
		if (!report->number)
			print_names(out, i, false);
		print_rows(&w, i);
	}
}

const char *stat_csv__table(size_t table)
{
	return tables[table].name;
}

void stat_csv__print_names(FILE *out, size_t table)
{
	print_names(out, table, true);
}

void stat_csv__print_table(FILE *out, const struct stat_report *report, size_t table)
{
	struct writer w = {.out = out, .report = report, .alone = true};

	print_names(out, table, true);
	print_rows(&w, table);
}
