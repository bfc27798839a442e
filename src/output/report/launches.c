// SPDX-License-Identifier: BSD-2-Clause
// Launches by process and kernel, of graphs and host functions, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "base/escape.h"
#include "output/report/line.h"
#include "output/report/totals.h"

#define REPORT_INDENT_2 REPORT_INDENT "    "

static void print_dimensions(FILE *out, const char *of, const __u32 dimensions[DIMENSIONS])
{
	if (dimensions[0] || dimensions[1] || dimensions[2])
		fprintf(out, "%s (%u,%u,%u)", of, dimensions[0], dimensions[1], dimensions[2]);
	else
		fprintf(out, "%s unknown", of);
}

static void print_range(FILE *out, const char *before, uint64_t min, uint64_t max,
			const char *after)
{
	if (min == max)
		fprintf(out, "%s%" PRIu64 "%s", before, min, after);
	else
		fprintf(out, "%s%" PRIu64 "-%" PRIu64 "%s", before, min, max, after);
}

/* Prints the latest sampled shape, and the range if shapes differ. */
static void print_shape(FILE *out, const struct shape_record *shape, unsigned int sample)
{
	if (!shape->samples)
		return;
	fputs(REPORT_INDENT_2, out);
	print_dimensions(out, "grid", shape->latest.grid);
	print_dimensions(out, " block", shape->latest.block);
	if (shape->latest.shared_bytes)
		fprintf(out, ", %" PRIu64 " Bytes shared", (uint64_t)shape->latest.shared_bytes);
	if (shape->blocks_min != shape->blocks_max || shape->threads_min != shape->threads_max ||
	    shape->shared_min != shape->shared_max) {
		print_range(out, "; ", shape->blocks_min, shape->blocks_max, " blocks");
		print_range(out, " of ", shape->threads_min, shape->threads_max, " threads");
		print_range(out, ", ", shape->shared_min, shape->shared_max, " Bytes shared");
	}
	if (sample > 1)
		fprintf(out, " (sampled 1/%u)", sample);
	fputc('\n', out);
}

static void print_kernel(FILE *out, const struct kernel *k, const char *mark, unsigned int sample,
			 bool full_names)
{
	const char *name = full_names || !k->short_name ? k->name : k->short_name;

	if (k->is_rest) {
		fputs(REPORT_INDENT "other kernels (unknown", out);
	} else {
		fprintf(out, REPORT_INDENT "0x%" PRIx64 " (", k->handle);
		escape__text(out, name ? name : "unknown");
	}
	fprintf(out, ") -> %s%" PRIu64, mark, k->launches);
	if (k->captured)
		fprintf(out, ", %s%" PRIu64 " captured", mark, k->captured);
	fputc('\n', out);
	print_shape(out, &k->shape, sample);
}

static void print_kernels(FILE *out, const struct process *p, unsigned int sample,
			  const struct report_options *options)
{
	size_t shown = report_line__cut(options, p->kernel_count), i;
	const char *mark = report_sampling__mark(p, RATE_LAUNCH);
	size_t rest = p->kernel_count - shown;
	uint64_t rest_launches = 0;

	for (i = 0; i < shown; i++)
		print_kernel(out, &p->kernels[i], mark, sample, options->full_names);
	for (; i < p->kernel_count; i++)
		rest_launches += p->kernels[i].launches;
	if (rest)
		fprintf(out, REPORT_INDENT "... and %zu more kernel%s (%s%" PRIu64 " launch%s)\n",
			rest, report_line__plural(rest), mark, rest_launches,
			rest_launches == 1 ? "" : "es");
}

static void print_graphs(FILE *out, const struct process *p, const struct report_options *options)
{
	size_t shown = report_line__cut(options, p->graph_run_count), i;
	const char *mark = report_sampling__mark(p, RATE_LAUNCH);

	if (!p->graph_launches)
		return;
	fprintf(out, REPORT_INDENT "graph launches: %s%" PRIu64 "\n", mark, p->graph_launches);
	for (i = 0; i < shown; i++) {
		const struct graph_run *run = &p->graph_runs[i];

		fprintf(out, REPORT_INDENT_2 "%s%" PRIu64, mark, run->launches);
		if (run->unknown)
			fputs(" (an unknown number of kernels each)\n", out);
		else
			fprintf(out, " (%" PRIu64 " kernel%s each)\n", run->kernels,
				report_line__plural(run->kernels));
	}
	if (shown < p->graph_run_count)
		fprintf(out, REPORT_INDENT_2 "... and %zu more sizes\n",
			p->graph_run_count - shown);
}

static void print_captured(FILE *out, const struct process *p)
{
	const char *mark = report_sampling__mark(p, RATE_LAUNCH);

	if (!p->captured_launches && !p->captured_graph_launches && !p->captured_host_functions)
		return;
	fprintf(out, REPORT_INDENT "captured, not executed: %s%" PRIu64 " kernel launch%s", mark,
		p->captured_launches, p->captured_launches == 1 ? "" : "es");
	if (p->captured_graph_launches)
		fprintf(out, ", %s%" PRIu64 " graph launch%s", mark, p->captured_graph_launches,
			p->captured_graph_launches == 1 ? "" : "es");
	if (p->captured_host_functions)
		fprintf(out, ", %s%" PRIu64 " host function%s", mark, p->captured_host_functions,
			report_line__plural(p->captured_host_functions));
	fputc('\n', out);
}

/*
 * Mentions a load only if its call was seen. The driver also loads without calls, which at most the
 * duration shows.
 */
static void print_first_launches(FILE *out, const struct process *p)
{
	const struct wait_totals loads = process__loads_in_launches(p);

	fprintf(out, REPORT_INDENT "first launches: %" PRIu64 " took %.*f secs",
		p->first_launches.calls, p->first_launches.ns < 10000 ? 9 : 5,
		(double)p->first_launches.ns / 1e9);
	if (loads.calls)
		fprintf(out, " (lazy loading: %" PRIu64 " load%s inside launches in %.*f secs)",
			loads.calls, loads.calls == 1 ? "" : "s", loads.ns < 10000 ? 9 : 5,
			(double)loads.ns / 1e9);
	fputc('\n', out);
}

static void print_process(FILE *out, const struct model *model, const struct process *p,
			  const struct report_options *options)
{
	report_line__process(out, p);
	print_kernels(out, p, model->shape_sample, options);
	print_graphs(out, p, options);
	print_captured(out, p);
	if (p->host_functions)
		fprintf(out, REPORT_INDENT "host functions: %s%" PRIu64 "\n",
			report_sampling__mark(p, RATE_LAUNCH), p->host_functions);
	if (p->first_launches.calls)
		print_first_launches(out, p);
}

static bool has_launches(const struct process *p)
{
	return p->launches || p->graph_launches || p->captured_launches ||
	       p->captured_graph_launches || p->host_functions || p->captured_host_functions;
}

static void print_totals(FILE *out, const struct report_totals *totals)
{
	const char *mark = totals->estimated ? "~" : "";

	fprintf(out, "\ntotal kernel launches: %s%" PRIu64 " call%s of %" PRIu64 " kernel%s\n",
		mark, totals->launches, report_line__plural(totals->launches), totals->kernels,
		report_line__plural(totals->kernels));
	if (!totals->graph_launches)
		return;
	fprintf(out, "total graph launches: %s%" PRIu64 " call%s", mark, totals->graph_launches,
		report_line__plural(totals->graph_launches));
	if (totals->graph_kernels)
		fprintf(out, " of %s%" PRIu64 " kernel%s", mark, totals->graph_kernels,
			report_line__plural(totals->graph_kernels));
	if (totals->graph_launches_of_unknown_size)
		fprintf(out, ", %s%" PRIu64 " of unknown size", mark,
			totals->graph_launches_of_unknown_size);
	fputc('\n', out);
}

void report_launches__print(FILE *out, const struct model *model,
			    const struct report_totals *totals,
			    const struct report_options *options)
{
	size_t i;

	print_totals(out, totals);
	for (i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (report__shows(p) && has_launches(p))
			print_process(out, model, p, options);
	}
}
