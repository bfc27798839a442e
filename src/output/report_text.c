// SPDX-License-Identifier: BSD-2-Clause
// The report for people, see report_text.h; its memory section is in report_memory.c.
#include "output/report_text.h"

#include <inttypes.h>

#include "base/escape.h"
#include "output/report_copies.h"
#include "output/report_errors.h"
#include "output/report_line.h"
#include "output/report_memory.h"
#include "output/report_objects.h"
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

static void print_kernel(FILE *out, const struct kernel *k, bool full_names)
{
	const char *name = full_names || !k->short_name ? k->name : k->short_name;

	fprintf(out, REPORT_INDENT "0x%" PRIx64 " (", k->handle);
	escape__text(out, name ? name : "unknown");
	fprintf(out, ") -> %" PRIu64 "\n", k->launches);
}

static void print_process_launches(FILE *out, const struct process *p,
				   const struct report_options *options)
{
	size_t shown = report_line__cut(options, p->kernel_count), i;
	size_t rest = p->kernel_count - shown;
	uint64_t rest_launches = 0;

	report_line__process(out, p);
	for (i = 0; i < shown; i++)
		print_kernel(out, &p->kernels[i], options->full_names);
	for (; i < p->kernel_count; i++)
		rest_launches += p->kernels[i].launches;
	if (rest)
		fprintf(out, REPORT_INDENT "... and %zu more kernel%s (%" PRIu64 " launch%s)\n",
			rest, report_line__plural(rest), rest_launches,
			rest_launches == 1 ? "" : "es");
	if (p->graph_launches)
		fprintf(out, REPORT_INDENT "graph launches: %" PRIu64 "\n", p->graph_launches);
}

static void print_launches(FILE *out, const struct model *model, const struct report_totals *totals,
			   const struct report_options *options)
{
	size_t i;

	fprintf(out, "\ntotal kernel launches: %" PRIu64 " call%s of %" PRIu64 " kernel%s\n",
		totals->launches, report_line__plural(totals->launches), totals->kernels,
		report_line__plural(totals->kernels));
	if (totals->graph_launches)
		fprintf(out, "total graph launches: %" PRIu64 " call%s\n", totals->graph_launches,
			report_line__plural(totals->graph_launches));
	for (i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (report__shows(p) && (p->launches || p->graph_launches))
			print_process_launches(out, p, options);
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
			print_launches(out, model, &totals, options);
		if (model->sections & SECTION_COPY) {
			report_copies__print(out, model);
			report_waits__print(out, model);
		}
		report_objects__print(out, model);
		report_errors__print(out, model, options);
		report_process__print(out, model);
	}
	print_losses(out, model);
	fputs(RULE, out);
}
