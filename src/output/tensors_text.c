// SPDX-License-Identifier: BSD-2-Clause
// A process's tensors in one sentence, see tensors_text.h.
#include "output/tensors_text.h"

#include <stdbool.h>

#include "base/saturate.h"
#include "output/report/line.h"
#include "stack/stack.h"

static struct quantity count_of(enum quantity_form form, uint64_t count)
{
	return form == QUANTITY_EXACT ? quantity__amount_as(form, count) : quantity__count(count);
}

/* "2.3 GiB unused (1.9 GiB pinned by 41 tensors)" */
static void print_unused(FILE *out, const struct tensor_segments *segments, bool modelled,
			 enum quantity_form form)
{
	bool pinned = segments->pinned_bytes > 0;

	fprintf(out, ", %s unused", quantity__bytes_as(form, segments->unused_bytes).text);
	if (modelled || pinned)
		fprintf(out, " (%s%s", modelled ? "modelled" : "", modelled && pinned ? "; " : "");
	if (pinned)
		fprintf(out, "%s pinned by %s tensor%s",
			quantity__bytes_as(form, segments->pinned_bytes).text,
			count_of(form, segments->pinning).text,
			report_line__plural(segments->pinning));
	if (modelled || pinned)
		fputc(')', out);
}

/* "33.5 GiB held"; of tensors in segments from before the attach, at least their own bytes are. */
static void print_held(FILE *out, const struct process *process, enum quantity_form form)
{
	const struct tensors *tensors = process->tensors;
	uint64_t held = tensors->segments.bytes, outside = 0;

	if (process->since_attach)
		outside = saturate__difference(tensors->live_bytes, tensors->segments.tensor_bytes);
	saturate__add(&held, outside);
	fprintf(out, "%s%s held, ", outside ? "at least " : "",
		quantity__bytes_as(form, held).text);
}

static void print_lacking(FILE *out, const struct process *process, enum quantity_form form)
{
	const struct tensors *tensors = process->tensors;
	uint64_t frees = tensors->total.unknown_frees, made = tensors->total.made;
	const char *before = "";

	if (process->since_attach) {
		fputs("since attach: older segments and tensors are unknown", out);
		before = "; ";
	}
	if (frees) {
		fprintf(out, "%s%s free%s of tensors that were not seen allocated", before,
			count_of(form, frees).text, report_line__plural(frees));
		before = "; ";
	}
	if (tensors->is_sampled)
		fprintf(out, "%sstacks of %s of the tensors taken: call sites are estimates",
			before,
			quantity__share(
				(double)saturate__difference(made, tensors->total.unsampled) /
				(double)made)
				.text);
}

void tensors_text__print(FILE *out, const struct process *process, enum quantity_form form,
			 const char *before)
{
	const struct tensors *tensors = process->tensors;
	const struct tensor_segments *segments = &tensors->segments;
	bool lacks = process->since_attach || tensors->total.unknown_frees;

	if (segments->count)
		print_held(out, process, form);
	fprintf(out, "%s in %s tensor%s", quantity__bytes_as(form, tensors->live_bytes).text,
		count_of(form, tensors->live_count).text, report_line__plural(tensors->live_count));
	if (segments->count)
		print_unused(out, segments, lacks, form);
	if (!lacks && !tensors->is_sampled)
		return;
	fputs(before, out);
	print_lacking(out, process, form);
}

const char *tensors_text__about(const struct process *process)
{
	return process->tensors && process->tensors->is_sampled ? "about " : "";
}

void tensors_text__print_site(FILE *out, const struct process *process, const struct stack *stack,
			      enum quantity_form form)
{
	const struct tensor_site *site = stack ? tensors__site(process->tensors, stack) : NULL;

	if (!site)
		return;
	fprintf(out, ", peak %s, %s made, %s freed",
		quantity__bytes_as(form, site->counts.peak_bytes).text,
		count_of(form, site->counts.made).text, count_of(form, site->counts.freed).text);
	tensors_text__print_step(out, process->tensors, site);
}

void tensors_text__print_step(FILE *out, const struct tensors *tensors,
			      const struct tensor_site *site)
{
	double steps = (double)tensors->steps;

	if (tensors->steps >= TENSOR_STEPS_LEAST && site->step_made)
		fprintf(out, ", %s per step (%s)",
			quantity__ratio((double)site->step_made / steps).text,
			quantity__bytes((double)site->step_bytes / steps).text);
}

void tensors_text__print_thread(FILE *out, const struct process *process, const struct stack *stack,
				int indent)
{
	if (process->tensors->has_python && stack && !stack__has_python(stack))
		fprintf(out,
			"%*s[no Python frame: a C++ thread, such as autograd's for gradients]\n",
			indent, "");
}
