// SPDX-License-Identifier: BSD-2-Clause
// Call sites of memory, launches, waits and failures, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "base/escape.h"
#include "api/api.h"
#include "output/folded_stack.h"
#include "output/report/line.h"
#include "output/report/totals.h"

#define STACK_INDENT 24

static void print_failure(FILE *out, const struct call_site *site)
{
	const struct api_function *function = &api_functions[site->row];
	const char *error = api__error_name(function->desc.layer, site->code);

	fprintf(out, "%s: %s (%d) x %" PRIu64 "\n", function->shown,
		error ? error : "unknown error", site->code, site->calls);
}

static void print_launches(FILE *out, const struct call_site *site)
{
	fprintf(out, "%" PRIu64 " launch%s of ", site->calls, site->calls == 1 ? "" : "es");
	if (site->kernel_short)
		escape__text(out, site->kernel_short);
	else
		fputs("a kernel without a name", out);
	fputc('\n', out);
}

static void print_site(FILE *out, const struct call_site *site,
		       const struct report_options *options)
{
	fputs(REPORT_INDENT, out);
	switch ((enum site_kind)site->kind) {
	case SITE_FAILURE: print_failure(out, site); break;
	case SITE_LAUNCH: print_launches(out, site); break;
	case SITE_WAIT:
	case SITE_COPY:
		fprintf(out, "%" PRIu64 " call%s of %s, ", site->calls,
			report_line__plural(site->calls), api_functions[site->row].shown);
		report_line__seconds(out, site->amount);
		fputc('\n', out);
		break;
	default:
		fprintf(out, "%" PRIu64 " Bytes by %" PRIu64 " call%s of %s\n", site->amount,
			site->calls, report_line__plural(site->calls),
			api_functions[site->row].shown);
	}
	folded_stack__print(out, site->stack, STACK_INDENT, options->all_frames);
}

static void print_rest(FILE *out, size_t rest)
{
	if (rest)
		fprintf(out, REPORT_INDENT "... and %zu more call site%s\n", rest,
			report_line__plural(rest));
}

static void print_live(FILE *out, const struct process *p, const struct report_options *options)
{
	size_t shown = report_line__cut(options, p->live_site_count);

	if (!p->live_site_count)
		return;
	fprintf(out, "    %s:\n", p->ended ? "live at exit" : "live memory");
	for (size_t i = 0; i < shown; i++) {
		const struct live_site *site = &p->live_sites[i];

		fprintf(out, REPORT_INDENT "%" PRIu64 " Bytes in %" PRIu64 " allocation%s\n",
			site->bytes, site->count, report_line__plural(site->count));
		folded_stack__print(out, site->stack, STACK_INDENT, options->all_frames);
	}
	print_rest(out, p->live_site_count - shown);
}

static void print_head(FILE *out, const struct model *model, enum site_kind kind)
{
	switch (kind) {
	case SITE_LAUNCH:
		fputs("    launches", out);
		if (model->stack_sample > 1)
			fprintf(out,
				" (the stack of the first, then of 1 in %u, stands for those "
				"between)",
				model->stack_sample);
		break;
	case SITE_WAIT:
		fputs("    waits of at least ", out);
		report_line__time(out, model->min_wait_ns);
		break;
	case SITE_FAILURE: fputs("    failures", out); break;
	case SITE_COPY: fputs("    asynchronous copies and sets", out); break;
	default: fputs("    allocated", out);
	}
	fputs(":\n", out);
}

/* The sites are sorted by kind. */
static void print_kind(FILE *out, const struct model *model, const struct process *p,
		       enum site_kind kind, const struct report_options *options)
{
	size_t first = 0, count = 0, shown;

	while (first < p->site_count && p->sites[first].kind != kind)
		first++;
	while (first + count < p->site_count && p->sites[first + count].kind == kind)
		count++;
	if (!count)
		return;
	print_head(out, model, kind);
	shown = report_line__cut(options, count);
	for (size_t i = 0; i < shown; i++)
		print_site(out, &p->sites[first + i], options);
	print_rest(out, count - shown);
}

static void print_title(FILE *out, const struct model *model)
{
	fputs("\ncall sites", out);
	if (model->stacks_evicted)
		fprintf(out, " (%" PRIu64 " stacks are no longer known: see --stack-storage-size)",
			model->stacks_evicted);
	fputs(":\n", out);
}

static void list_sites(FILE *out, const struct model *model, const struct process *p,
		       const struct report_options *options)
{
	print_live(out, p, options);
	for (enum site_kind kind = 0; kind < SITE_KINDS; kind++)
		print_kind(out, model, p, kind, options);
}

void report_sites__print(FILE *out, const struct model *model, const struct report_options *options)
{
	bool first = true;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || (!p->site_count && !p->live_site_count))
			continue;
		if (first)
			print_title(out, model);
		first = false;
		report_line__process(out, p);
		list_sites(out, model, p, options);
	}
}
