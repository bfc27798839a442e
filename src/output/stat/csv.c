// SPDX-License-Identifier: BSD-2-Clause
// The tables of `gpuprobe stat` as comma-separated values, see stat.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/text_stream.h"
#include "model/profile.h"
#include "api/api.h"
#include "output/finding/findings.h"
#include "output/report/totals.h"
#include "output/stat/tables.h"
#include "output/enum_names.h"

struct writer {
	FILE *out;
	const struct stat_report *report;
	const struct process *process;
};

/* --- fields; each writes the comma before it --- */

static void put_number(const struct writer *w, uint64_t value)
{
	fprintf(w->out, ",%" PRIu64, value);
}

/* Empty where it is not known. */
static void put_real(const struct writer *w, bool known, double value)
{
	char text[JSON_NUMBER_SIZE];

	fputc(',', w->out);
	if (!known)
		return;
	json__format_double(text, value);
	fputs(text, w->out);
}

/*
 * Whether a spreadsheet would take the text for a formula, which may run a program or ask a server: by its first character,
 * or the same of double width. A tab or a line's end as the first one has been escaped.
 */
static bool is_formula(const char *text)
{
	static const char *const begins[] = {"=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* In quotes where it must be. It came from a program, maybe: a row stays a line, and a text a text. */
static void put_text(const struct writer *w, const char *text)
{
	char *safe = NULL;
	size_t length = 0;
	FILE *escaped = text_stream__open(&safe, &length);
	bool quoted;

	fputc(',', w->out);
	if (!escaped)
		return;
	escape__text(escaped, text);
	if (fclose(escaped)) {
		free(safe);
		return;
	}
	quoted = strpbrk(safe, ",\"") || safe[0] == ' ';
	if (quoted)
		fputc('"', w->out);
	if (is_formula(safe))
		fputc('\'', w->out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', w->out);
		fputc(*c, w->out);
	}
	if (quoted)
		fputc('"', w->out);
	free(safe);
}

/* The table, and seconds since the probes were in. */
static void begin_line(const struct writer *w, const char *table)
{
	const struct stat_report *report = w->report;
	uint64_t now_ns = report->model->now_ns;

	fputs(table, w->out);
	put_real(w, true, now_ns > report->began_ns ? (double)(now_ns - report->began_ns) / (double)NS_PER_S : 0);
}

/* And the process. */
static void begin_row(const struct writer *w, const char *table)
{
	begin_line(w, table);
	put_real(w, w->process->pid, w->process->pid);
	put_text(w, w->process->comm);
}

static void print_columns(const struct writer *w, const char *table, const char *columns)
{
	if (!w->report->number)
		fprintf(w->out, "%s,seconds,pid,comm,%s\n", table, columns);
}

/* --- tables --- */

static double launches_of(const struct writer *w, const struct thread_profile *thread)
{
	return (double)(thread->launches + profile__missed_launches(w->process->profile, thread));
}

static void print_time(const struct writer *w, const struct profile_time *time, const struct thread_profile *thread)
{
	begin_row(w, "threads");
	if (thread)
		fprintf(w->out, ",%d", thread->tid);
	else
		fputs(",all", w->out);
	put_text(w, thread ? thread->comm : "");
	put_number(w, time->wall_ns);
	for (int i = 0; i < TIME_CLASSES; i++)
		put_number(w, time->time[i].ns);
	put_number(w, time->outside_ns);
	for (int i = 0; i < TIME_CLASSES; i++)
		put_number(w, time->time[i].calls);
	put_real(w, thread, thread ? launches_of(w, thread) : 0);
	put_real(w, thread, thread ? (double)thread->chained.calls : 0);
	put_real(w, thread && thread->gap_count,
		 thread && thread->gap_count ? (double)(thread->gap_ns / thread->gap_count) : 0);
	put_real(w, thread && thread->gap_count,
		 thread ? (double)profile__percentile(thread->gaps, 0.5, UINT64_MAX) : 0);
	put_real(w, thread && thread->gap_count,
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

		begin_row(w, "functions");
		put_text(w, api_functions[f->row].symbol);
		put_text(w, enum_names__layer(api_functions[f->row].desc.layer));
		put_number(w, time->calls + f->missed);
		put_number(w, profile__errors(w->process, f->row));
		put_number(w, profile_function__ns(f));
		put_number(w, time->calls ? time->ns / time->calls : 0);
		put_number(w, profile__percentile(time->buckets, 0.5, time->max_ns));
		put_number(w, profile__percentile(time->buckets, 0.99, time->max_ns));
		put_number(w, time->max_ns);
		fputc('\n', w->out);
	}
}

static void print_kernels(const struct writer *w)
{
	for (size_t i = 0; i < w->process->kernel_count; i++) {
		const struct kernel *k = &w->process->kernels[i];
		const struct shape_record *shape = &k->shape;

		begin_row(w, "kernels");
		put_text(w, k->name);
		put_number(w, k->launches);
		put_number(w, k->captured);
		put_number(w, shape->samples);
		put_real(w, shape->samples, (double)shape->blocks_min);
		put_real(w, shape->samples, (double)shape->blocks_max);
		put_real(w, shape->samples, (double)shape->threads_min);
		put_real(w, shape->samples, (double)shape->threads_max);
		put_number(w, shape->gaps);
		put_real(w, shape->gaps, (double)shape->gap_min);
		put_real(w, shape->gaps, shape->gaps ? (double)(shape->gap_ns / shape->gaps) : 0);
		put_real(w, shape->gaps, (double)shape->gap_max);
		fputc('\n', w->out);
	}
}

static void print_copy_size(const struct writer *w, const struct profile_copies *copies, int bucket)
{
	begin_row(w, "copies");
	put_text(w, enum_names__copy_kind(copies->key.kind));
	put_text(w, copies->key.async ? "async" : "sync");
	put_text(w, enum_names__copy_host(copies->key.host));
	put_real(w, copies->key.device != DEVICE_UNKNOWN, copies->key.device);
	put_number(w, bucket ? 1ull << bucket : 0);
	put_number(w, copies->record.calls[bucket]);
	put_number(w, copies->record.bytes[bucket]);
	put_number(w, copies->record.ns[bucket]);
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

		begin_row(w, "allocations");
		put_text(w, api_functions[size->key.row].symbol);
		put_text(w, enum_names__memory_kind(size->key.kind));
		put_real(w, size->key.device != DEVICE_UNKNOWN, size->key.device);
		put_number(w, size->key.size);
		put_number(w, size->record.allocations);
		put_number(w, size->record.allocation_ns);
		put_number(w, size->record.frees);
		put_number(w, size->record.free_ns);
		put_number(w, size->record.live);
		put_number(w, size->record.peak);
		fputc('\n', w->out);
	}
}

static void print_open_calls(const struct writer *w)
{
	for (size_t i = 0; i < w->process->open_listed; i++) {
		const struct open_call *call = &w->process->open[i];
		uint64_t until_ns = call->ended_ns ? call->ended_ns : w->report->model->now_ns;

		begin_row(w, "unreturned");
		fprintf(w->out, ",%d", call->tid);
		put_text(w, call->comm);
		put_text(w, api_functions[call->row].symbol);
		put_text(w, enum_names__layer(api_functions[call->row].desc.layer));
		put_number(w, until_ns > call->start_ns ? until_ns - call->start_ns : 0);
		put_number(w, call->ended_ns != 0);
		fputc('\n', w->out);
	}
}

static void print_errors(const struct writer *w)
{
	for (size_t i = 0; i < w->process->failure_count; i++) {
		const struct failure *f = &w->process->failures[i];

		begin_row(w, "errors");
		put_text(w, f->function);
		put_text(w, f->is_rest ? "" : enum_names__layer(f->layer));
		put_real(w, !f->is_rest, f->code);
		put_text(w, f->error);
		put_number(w, f->count);
		fputc('\n', w->out);
	}
}

static void each_process(struct writer *w, void (*print)(const struct writer *w))
{
	const struct model *model = w->report->model;

	for (size_t i = 0; i < model->process_count; i++) {
		w->process = &model->processes[i];
		if (report__shows(w->process) && w->process->profile)
			print(w);
	}
}

static void print_findings(struct writer *w)
{
	const struct finding_list *list = w->report->findings;

	for (size_t i = 0; i < list->count; i++) {
		const struct finding *finding = &list->items[i];
		struct process process = {.pid = finding->pid};

		memcpy(process.comm, finding->comm, sizeof(process.comm));
		w->process = &process;
		begin_row(w, "findings");
		put_real(w, finding->tid, finding->tid);
		put_text(w, findings_text__severity_word(finding->severity));
		put_text(w, finding->kind->id);
		put_text(w, finding->subject);
		put_text(w, finding->evidence);
		put_real(w, finding->has_cost, (double)finding->cost_ns / (double)NS_PER_S);
		put_real(w, finding->has_cost, finding->share);
		put_real(w, finding->has_saving, (double)finding->saving_ns / (double)NS_PER_S);
		put_text(w, finding->assumption);
		fputc('\n', w->out);
		w->process = NULL;
	}
}

/* Whose launches, copies or waits are partly estimated: what was counted, and what comes to it. */
static void print_sampling(const struct writer *w)
{
	for (enum rate_family family = 0; family < RATE_EXACT; family++) {
		const struct family_calls *calls = &w->process->family_calls[family];

		if (!process__is_estimated(w->process, family))
			continue;
		begin_row(w, "sampling");
		put_text(w, enum_names__rate_family(family));
		put_number(w, calls->counted);
		put_number(w, calls->missed);
		put_real(w, true, w->report->model->sampling.share[family]);
		put_real(w, true, w->report->model->sampling.overhead);
		put_real(w, true, w->report->model->sampling.max_overhead);
		fputc('\n', w->out);
	}
}

static void print_lost(const struct writer *w)
{
	const struct model *model = w->report->model;

	if (!w->report->number)
		fputs("lost,seconds,reason,count\n", w->out);
	for (int loss = 0; loss < LOSS_COUNT; loss++) {
		if (!model->lost[loss])
			continue;
		begin_line(w, "lost");
		put_text(w, enum_names__loss_name(loss));
		put_number(w, model->lost[loss]);
		fputc('\n', w->out);
	}
}

void stat_csv__print(FILE *out, const struct stat_report *report)
{
	struct writer w = {.out = out, .report = report};

	print_columns(&w, "threads",
		      "tid,thread,watched_ns,launch_ns,memory_ns,copy_ns,wait_ns,other_ns,outside_ns,launch_calls,"
		      "memory_calls,copy_calls,wait_calls,other_calls,launches,chained,gap_average_ns,gap_p50_ns,"
		      "gap_p99_ns");
	each_process(&w, print_threads);
	print_columns(&w, "functions", "function,layer,calls,errors,total_ns,average_ns,p50_ns,p99_ns,max_ns");
	each_process(&w, print_functions);
	print_columns(&w, "kernels",
		      "kernel,launches,captured,samples,blocks_min,blocks_max,threads_min,threads_max,gaps,gap_min_ns,"
		      "gap_average_ns,gap_max_ns");
	each_process(&w, print_kernels);
	print_columns(&w, "copies", "kind,mode,host,device,from_bytes,calls,bytes,ns");
	each_process(&w, print_copies);
	print_columns(&w, "allocations",
		      "function,memory,device,bytes,allocations,allocation_ns,frees,free_ns,live,peak");
	each_process(&w, print_sizes);
	print_columns(&w, "unreturned", "tid,thread,function,layer,ns,ended");
	each_process(&w, print_open_calls);
	print_columns(&w, "errors", "function,layer,code,error,count");
	each_process(&w, print_errors);
	print_columns(&w, "findings",
		      "tid,severity,id,subject,evidence,cost_seconds,cost_share,saving_seconds,assumption");
	print_findings(&w);
	if (report->model->sampling.max_overhead) {
		print_columns(&w, "sampling", "family,counted,missed,share,overhead,max_overhead");
		each_process(&w, print_sampling);
	}
	print_lost(&w);
}
