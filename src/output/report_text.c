// SPDX-License-Identifier: BSD-2-Clause
// The report for people, see report_text.h; larger sections are in files of their own.
#include "output/report_text.h"

#include <inttypes.h>

#include "base/escape.h"
#include "output/report_launches.h"
#include "output/report_line.h"
#include "output/report_memory.h"
#include "output/report_process.h"
#include "output/report_totals.h"
#include "output/report_waits.h"
#include "output/words.h"

#define RULE "========================\n"

static void print_date(FILE *out, const struct model *model)
{
	char text[32];
	struct tm tm;

	if (!localtime_r(&model->wall.tv_sec, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(out, "%lld\n", (long long)model->wall.tv_sec);
	else
		fprintf(out, "%s\n", text);
}

static void print_no_process(FILE *out, const struct model *model)
{
	fputc('\n', out);
	if (model->process_count)
		fputs("no CUDA process is running\n", out);
	else if (model->final)
		fputs("no CUDA process was seen\n", out);
	else if (!model->libraries)
		fputs("no CUDA library found yet, waiting for a process that brings one\n", out);
	else
		fputs("no CUDA process seen yet\n", out);
}

static void print_amount(FILE *out, const char *kind, const char *mode, const struct copy_totals *c)
{
	fprintf(out, REPORT_INDENT "%s%s %" PRIu64 " call%s, %" PRIu64 " Bytes", kind, mode,
		c->calls, report_line__plural(c->calls), c->bytes);
}

static void print_sync_copies(FILE *out, const char *kind, const struct copy_totals *c)
{
	double seconds = (double)c->ns / 1e9;

	if (!c->calls)
		return;
	print_amount(out, kind, "", c);
	/* Below 10 us five decimals would leave one digit or none. */
	if (c->ns)
		fprintf(out, ", %.1f bytes/sec for %.*f secs", (double)c->bytes / seconds,
			c->ns < 10000 ? 9 : 5, seconds);
	fputc('\n', out);
}

static void print_async_copies(FILE *out, const char *kind, const struct copy_totals *c,
			       const struct copy_inflight *inflight)
{
	double oldest_ms = (double)inflight->oldest_ns / 1e6;

	if (!c->calls && !inflight->calls)
		return;
	print_amount(out, kind, " async", c);
	if (inflight->calls)
		fprintf(out, ", %" PRIu64 " in flight (%" PRIu64 " Bytes, oldest %.*f ms)",
			inflight->calls, inflight->bytes, oldest_ms < 0.1 ? 3 : 1, oldest_ms);
	fputc('\n', out);
}

static bool has_copies(const struct process *p)
{
	int kind;

	for (kind = 0; kind < COPY_KINDS; kind++) {
		if (p->copies[kind][0].calls || p->copies[kind][1].calls || p->inflight[kind].calls)
			return true;
	}
	return false;
}

static void print_process_copies(FILE *out, const struct process *p)
{
	int kind;

	report_line__process(out, p);
	for (kind = 0; kind < COPY_KINDS; kind++)
		print_sync_copies(out, words__copy_kind(kind), &p->copies[kind][0]);
	for (kind = 0; kind < COPY_KINDS; kind++)
		print_async_copies(out, words__copy_kind(kind), &p->copies[kind][1],
				   &p->inflight[kind]);
}

static void print_copies(FILE *out, const struct model *model)
{
	bool any = false;
	size_t i;

	fputs("\ncopies:", out);
	for (i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !has_copies(p))
			continue;
		if (!any)
			fputc('\n', out);
		any = true;
		print_process_copies(out, p);
	}
	if (!any)
		fputs(" none\n", out);
}

static void print_process_errors(FILE *out, const struct model *model, const struct process *p,
				 const struct report_options *options)
{
	size_t shown = report_line__cut(options, p->failure_count), i;
	size_t rest = p->failure_count - shown;
	uint64_t rest_count = 0;

	report_line__process(out, p);
	for (i = 0; i < shown; i++) {
		const struct failure *f = &p->failures[i];

		fprintf(out, REPORT_INDENT "%s: %s (%d) x %" PRIu64, f->function,
			f->error ? f->error : "unknown error", f->code, f->count);
		if (f->sampled && model->launch_sample > 1)
			fprintf(out, " (sampled 1/%u)", model->launch_sample);
		fputc('\n', out);
	}
	for (; i < p->failure_count; i++)
		rest_count += p->failures[i].count;
	if (rest)
		fprintf(out, REPORT_INDENT "... and %zu more error%s (x %" PRIu64 ")\n", rest,
			report_line__plural(rest), rest_count);
}

static void print_errors(FILE *out, const struct model *model, const struct report_options *options)
{
	bool first = true;
	size_t i;

	for (i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !p->failure_count)
			continue;
		if (first)
			fputs("\nerrors:\n", out);
		first = false;
		print_process_errors(out, model, p, options);
	}
}

static void print_losses(FILE *out, const struct model *model)
{
	bool first = true;
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++) {
		if (!model->lost[loss])
			continue;
		if (first)
			fputs("\nlost:\n", out);
		first = false;
		fprintf(out, REPORT_INDENT "%s: %" PRIu64 "\n", words__loss_text(loss),
			model->lost[loss]);
	}
}

void report_text__print(FILE *out, const struct model *model, const struct report_options *options)
{
	struct report_totals totals;

	report_totals__sum(model, &totals);
	fputs(RULE, out);
	print_date(out, model);
	if (!totals.processes) {
		print_no_process(out, model);
	} else {
		if (model->sections & SECTION_MEMORY) {
			fputc('\n', out);
			report_memory__print(out, model, &totals, options);
		}
		if (model->sections & SECTION_LAUNCH)
			report_launches__print(out, model, &totals, options);
		if (model->sections & SECTION_COPY) {
			print_copies(out, model);
			report_waits__print(out, model);
		}
		print_errors(out, model, options);
		report_process__print(out, model);
	}
	print_losses(out, model);
	fputs(RULE, out);
}
