// SPDX-License-Identifier: BSD-2-Clause
// Call sites in the text of `gpuprobe memleak`, see printer.h.
#include "output/memleak/printer.h"

#include <inttypes.h>

#include "base/saturate.h"
#include "output/enum_names.h"
#include "output/folded_stack.h"
#include "output/memleak/site.h"
#include "output/report/line.h"
#include "output/tensors_text.h"

#define EVIDENCE_INDENT "            "
#define STACK_INDENT 16
/* columns of a size in the list of allocations */
#define ROUNDED_WIDTH 10
#define EXACT_WIDTH 21

/* --- amounts in the form that the user wants --- */

static struct quantity bytes_text(const struct memleak_printer *printer, uint64_t bytes)
{
	return quantity__bytes_as(printer->options->form, bytes);
}

struct quantity memleak_text__count(const struct memleak_printer *printer, uint64_t count)
{
	return quantity__amount_as(printer->options->form, count);
}

static struct quantity time_text(const struct memleak_printer *printer, uint64_t ns)
{
	return quantity__time_as(printer->options->form, ns);
}

/* "1.0 GiB in 1,000 allocations" */
void memleak_text__amount(const struct memleak_printer *printer, bool of_tensors, uint64_t bytes,
			  uint64_t count)
{
	fprintf(printer->out, "%s in %s %s%s", bytes_text(printer, bytes).text,
		memleak_text__count(printer, count).text, of_tensors ? "tensor" : "allocation",
		report_line__plural(count));
}

/* --- call sites --- */

/* Prints `what` and the reason, "15 allocations beyond --max-allocations". */
void memleak_text__untracked(const struct memleak_printer *printer, const char *what,
			     enum loss loss)
{
	fprintf(printer->out, "%s%" PRIu64 " %s", what, printer->model->lost[loss],
		enum_names__loss_text(loss));
}

static void print_growth(const struct memleak_printer *printer, const struct memleak_site *site)
{
	const struct growth_evidence *growth = &site->growth;
	FILE *out = printer->out;

	switch (growth->verdict) {
	case GROWTH_GROWING:
		fprintf(out, ", +%s over the last %s",
			quantity__growth_as(printer->options->form, growth->slope).text,
			time_text(printer, growth->span_ns).text);
		break;
	case GROWTH_STABLE:
		fprintf(out, ", stable over the last %s", time_text(printer, growth->span_ns).text);
		break;
	case GROWTH_UNKNOWN:
		if (growth->replaces)
			fputs(", may replace memory from before attach that was freed", out);
		else if (!site->process->ended && site->untracked != LOSS_COUNT)
			memleak_text__untracked(printer,
						", unknown whether it grows: ", site->untracked);
		else if (memleak_site__is_early(site))
			fputs(", too early to tell whether it grows", out);
		break;
	}
}

/* Allocations of an ended process do not age. */
static uint64_t age_of(const struct memleak_printer *printer, const struct process *process,
		       uint64_t start_ns)
{
	uint64_t now_ns = process->ended ? process->ended_ns : printer->model->now_ns;

	return now_ns > start_ns ? now_ns - start_ns : 0;
}

static void print_evidence(const struct memleak_printer *printer, const struct memleak_site *site)
{
	const struct live_site *live = site->live;
	uint64_t oldest = age_of(printer, site->process, live->oldest_ns),
		 newest = age_of(printer, site->process, live->newest_ns);
	FILE *out = printer->out;

	fputs(live->count == 1 ? EVIDENCE_INDENT "age " : EVIDENCE_INDENT "ages ", out);
	if (live->count > 1)
		fprintf(out, "%s to ", time_text(printer, newest).text);
	fputs(time_text(printer, oldest).text, out);
	if (site->growth.samples)
		fprintf(out, ", %s sample%s",
			memleak_text__count(printer, site->growth.samples).text,
			report_line__plural(site->growth.samples));
	if (site->made)
		fprintf(out, ", peak %s", bytes_text(printer, site->made->counts.peak_bytes).text);
	if (site->made && !site->process->ended)
		fprintf(out, ", %s made, %s freed",
			memleak_text__count(printer, site->made->counts.made).text,
			memleak_text__count(printer, site->made->counts.freed).text);
	if (site->made)
		tensors_text__print_step(out, site->process->tensors, site->made);
	if (site->freed)
		fprintf(out, ", %s of %s freed", memleak_text__count(printer, site->freed).text,
			memleak_text__count(printer, site->allocated).text);
	else if (site->allocated)
		fputs(", none freed", out);
	if (site->process->ended && site->untracked != LOSS_COUNT)
		memleak_text__untracked(printer,
					", unknown how many were freed: ", site->untracked);
	fputc('\n', out);
}

static void print_allocations(const struct memleak_printer *printer,
			      const struct memleak_site *site)
{
	int width = printer->options->form == QUANTITY_EXACT ? EXACT_WIDTH : ROUNDED_WIDTH;

	for (size_t i = 0; i < site->allocation_count; i++) {
		const struct allocation *a = site->allocations[i];
		uint64_t age = age_of(printer, site->process, a->start_ns);

		fprintf(printer->out, EVIDENCE_INDENT "0x%016" PRIx64 ": %*s, ", a->address, width,
			bytes_text(printer, a->size).text);
		if (a->kind != MEMORY_DEVICE)
			fprintf(printer->out, "%s, ", enum_names__memory_kind(a->kind));
		fprintf(printer->out, "%s old\n", time_text(printer, age).text);
	}
}

static void print_site(const struct memleak_printer *printer, const struct memleak_level *level,
		       const struct memleak_site *site)
{
	FILE *out = printer->out;

	fputs(REPORT_INDENT, out);
	fputs(level->tensors ? tensors_text__about(level->process) : "", out);
	memleak_text__amount(printer, level->tensors, site->live->bytes, site->live->count);
	print_growth(printer, site);
	if (site->leak)
		fputs("  << leak\n", out);
	else
		fputs(site->growth.verdict == GROWTH_GROWING ? "  << growing\n" : "\n", out);
	print_evidence(printer, site);
	folded_stack__print(out, site->live->stack, STACK_INDENT, printer->options->all_frames);
	if (level->tensors)
		tensors_text__print_thread(out, level->process, site->live->stack, STACK_INDENT);
	if (printer->options->show_allocations)
		print_allocations(printer, site);
}

/* The largest sites, and the sum of the others. */
void memleak_text__sites(const struct memleak_printer *printer, const struct memleak_process *known,
			 struct memleak_sums rest)
{
	const struct memleak_level *level = &known->level;
	struct memleak_site site;
	uint64_t shown = 0;

	for (size_t i = 0; i < level->site_count; i++) {
		const struct live_site *live = &level->sites[i];

		if (!memleak_site__shows(live, printer->options))
			continue;
		if (printer->options->top && shown == printer->options->top)
			break;
		shown++;
		memleak_site__know(printer->model, known, live, printer->options, &site);
		print_site(printer, level, &site);
		rest.sites--;
		rest.growing -= site.growth.verdict == GROWTH_GROWING;
		rest.bytes = saturate__difference(rest.bytes, live->bytes);
		rest.count -= live->count;
	}
	if (!rest.sites)
		return;
	fprintf(printer->out, REPORT_INDENT "... and %s more call site%s: %s",
		memleak_text__count(printer, rest.sites).text, report_line__plural(rest.sites),
		level->tensors ? tensors_text__about(level->process) : "");
	memleak_text__amount(printer, level->tensors, rest.bytes, rest.count);
	if (rest.growing)
		fprintf(printer->out, ", %s of them growing",
			memleak_text__count(printer, rest.growing).text);
	fputc('\n', printer->out);
}
