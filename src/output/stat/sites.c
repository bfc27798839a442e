// SPDX-License-Identifier: BSD-2-Clause
// Call sites of memory, launches, waits and failures, in the text of `gpuprobe stat`; see tables.h.
#include <stdlib.h>

#include "model/tensors.h"
#include "output/folded_stack.h"
#include "output/report/line.h"
#include "output/site_text.h"
#include "output/prose.h"
#include "output/stat/tables.h"
#include "output/tensors_text.h"

#define STACK_INDENT 16

static void print_stack(FILE *out, const struct stat_report *report, const struct stack *stack)
{
	folded_stack__print(out, stack, STACK_INDENT, report->options->all_frames);
}

/* Several kernels that one call site launches have its stack below the last of them. */
static void print_sites(FILE *out, const struct stat_report *report, const struct call_site *sites,
			size_t count)
{
	size_t shown = report_line__cut(report->options, count);

	for (size_t i = 0; i < shown; i++) {
		fputs(REPORT_INDENT, out);
		site_text__print(out, &sites[i], report->options->form,
				 report->options->full_names);
		fputc('\n', out);
		if (i + 1 == shown || sites[i + 1].stack != sites[i].stack)
			print_stack(out, report, sites[i].stack);
	}
	stat_cell__rest(out, count - shown, "call site");
}

/* `of_tensors`: prints sites of the process's tensors, which must exist; else of its memory. */
static void print_live_sites(FILE *out, const struct stat_report *report, const struct process *p,
			     bool of_tensors)
{
	const struct live_site *sites = of_tensors ? p->tensors->live_sites : p->live_sites;
	size_t count = of_tensors ? p->tensors->live_site_count : p->live_site_count;
	size_t shown = report_line__cut(report->options, count);

	for (size_t i = 0; i < shown; i++) {
		fprintf(out, REPORT_INDENT "%s%s in %s %s%s",
			of_tensors ? tensors_text__about(p) : "",
			stat_cell__bytes(report, sites[i].bytes).text,
			quantity__count(sites[i].count).text, of_tensors ? "tensor" : "allocation",
			report_line__plural(sites[i].count));
		if (of_tensors)
			tensors_text__print_site(out, p, sites[i].stack, report->options->form);
		fputc('\n', out);
		print_stack(out, report, sites[i].stack);
		if (of_tensors)
			tensors_text__print_thread(out, p, sites[i].stack, STACK_INDENT);
	}
	stat_cell__rest(out, count - shown, "call site");
}

/* The churn: what is allocated and freed again is in no list of what is live. */
static void print_made(FILE *out, const struct stat_report *report, const struct process *p)
{
	size_t count, shown;
	const struct tensor_site **sites = tensors__by_made(p->tensors, &count);

	if (count)
		fputs("\n    where most tensors were allocated:\n", out);
	shown = report_line__cut(report->options, count);
	for (size_t i = 0; i < shown; i++) {
		const struct tensor_site_record *counts = &sites[i]->counts;

		fprintf(out, REPORT_INDENT "%s%s in %s tensor%s, %s freed", tensors_text__about(p),
			stat_cell__bytes(report, counts->made_bytes).text,
			quantity__count(counts->made).text, report_line__plural(counts->made),
			quantity__count(counts->freed).text);
		tensors_text__print_step(out, p->tensors, sites[i]);
		fputc('\n', out);
		print_stack(out, report, sites[i]->stack);
		tensors_text__print_thread(out, p, sites[i]->stack, STACK_INDENT);
	}
	stat_cell__rest(out, count - shown, "call site");
	free(sites);
}

static void print_live(FILE *out, const struct stat_report *report, const struct process *p)
{
	const struct tensors *tensors = p->tensors;
	const char *when = p->ended ? " at exit" : "";

	if (tensors && tensors->live_site_count) {
		fprintf(out, "\n    where tensors come from that are live%s:\n", when);
		print_live_sites(out, report, p, true);
	}
	if (tensors)
		print_made(out, report, p);
	if (p->live_site_count) {
		fprintf(out, "\n    where memory comes from that is live%s:\n", when);
		print_live_sites(out, report, p, false);
	}
}

static void print_all(FILE *out, const struct stat_report *report, const struct process *p)
{
	print_live(out, report, p);
	/* The sites are sorted by kind. */
	for (size_t i = 0, end; i < p->site_count; i = end) {
		for (end = i; end < p->site_count && p->sites[end].kind == p->sites[i].kind;)
			end++;
		fputs("\n    ", out);
		site_text__print_kind(out, report->model, (enum site_kind)p->sites[i].kind);
		fputc('\n', out);
		print_sites(out, report, &p->sites[i], end - i);
	}
}

/* A file has the frames of stacks in one line each, however long they are. */
void stat_sites__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	struct prose prose;
	FILE *text;

	if (!report->width) {
		print_all(out, report, p);
		return;
	}
	text = prose__begin(&prose, out, stat__width(report));
	print_all(text, report, p);
	prose__end(&prose, text);
}
