// SPDX-License-Identifier: BSD-2-Clause
// Call sites of memory, launches, waits and failures, in the text of `gpuprobe stat`; see tables.h.
#include <inttypes.h>

#include "api/api.h"
#include "base/escape.h"
#include "output/frame_text.h"
#include "output/report/line.h"
#include "output/stat/tables.h"

#define STACK_INDENT 16

static void print_failure(FILE *out, const struct call_site *site)
{
	const struct api_function *function = &api_functions[site->row];
	const char *error = api__error_name(function->desc.layer, site->code);

	fprintf(out, "%s: %s (%d) x %s", function->shown, error ? error : "unknown error",
		site->code, quantity__count(site->calls).text);
}

static void print_launches(FILE *out, const struct call_site *site)
{
	fprintf(out, "%s launch%s of ", quantity__count(site->calls).text,
		site->calls == 1 ? "" : "es");
	if (site->kernel_short)
		escape__text(out, site->kernel_short);
	else
		fputs("a kernel without a name", out);
}

/* "256.0 MiB by 1 call of cudaMalloc" */
static void print_amount(FILE *out, const struct call_site *site)
{
	fputs(REPORT_INDENT, out);
	switch ((enum site_kind)site->kind) {
	case SITE_FAILURE: print_failure(out, site); break;
	case SITE_LAUNCH: print_launches(out, site); break;
	case SITE_WAIT:
	case SITE_COPY:
		fprintf(out, "%s in %s call%s of %s", quantity__time((double)site->amount).text,
			quantity__count(site->calls).text, report_line__plural(site->calls),
			api_functions[site->row].shown);
		break;
	default:
		fprintf(out, "%s by %s call%s of %s", quantity__bytes((double)site->amount).text,
			quantity__count(site->calls).text, report_line__plural(site->calls),
			api_functions[site->row].shown);
	}
	fputc('\n', out);
}

static void print_head(FILE *out, const struct model *model, enum site_kind kind)
{
	switch (kind) {
	case SITE_LAUNCH:
		fputs("\n    where it launches", out);
		if (model->stack_sample > 1)
			fprintf(out, " (stacks of the first and 1 launch in %u)",
				model->stack_sample);
		break;
	case SITE_WAIT:
		fputs("\n    where it waits for at least ", out);
		report_line__time(out, model->min_wait_ns);
		break;
	case SITE_FAILURE: fputs("\n    where calls fail", out); break;
	case SITE_COPY: fputs("\n    where it copies and sets asynchronously", out); break;
	default: fputs("\n    where it allocates", out);
	}
	fputs(":\n", out);
}

/* Several kernels that one place launches have its stack below the last of them. */
static void print_sites(FILE *out, const struct stat_report *report, const struct call_site *sites,
			size_t count)
{
	size_t shown = report_line__cut(report->options, count);

	for (size_t i = 0; i < shown; i++) {
		print_amount(out, &sites[i]);
		if (i + 1 == shown || sites[i + 1].stack != sites[i].stack)
			frame_text__print_stack(out, sites[i].stack, STACK_INDENT);
	}
	stat_cell__rest(out, count - shown, "call site");
}

static void print_live(FILE *out, const struct stat_report *report, const struct process *p)
{
	size_t shown = report_line__cut(report->options, p->live_site_count);

	if (!p->live_site_count)
		return;
	fprintf(out, "\n    where memory comes from that is live%s:\n", p->ended ? " at exit" : "");
	for (size_t i = 0; i < shown; i++) {
		const struct live_site *site = &p->live_sites[i];

		fprintf(out, REPORT_INDENT "%s in %s allocation%s\n",
			quantity__bytes((double)site->bytes).text,
			quantity__count(site->count).text, report_line__plural(site->count));
		frame_text__print_stack(out, site->stack, STACK_INDENT);
	}
	stat_cell__rest(out, p->live_site_count - shown, "call site");
}

void stat_sites__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	print_live(out, report, p);
	/* The sites are sorted by kind. */
	for (size_t i = 0, end; i < p->site_count; i = end) {
		for (end = i; end < p->site_count && p->sites[end].kind == p->sites[i].kind;)
			end++;
		print_head(out, report->model, (enum site_kind)p->sites[i].kind);
		print_sites(out, report, &p->sites[i], end - i);
	}
}
