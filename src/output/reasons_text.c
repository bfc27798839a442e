// SPDX-License-Identifier: BSD-2-Clause
// Where the time of threads that submit work went, as text: see reasons.h.
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "output/frame_text.h"
#include "output/reasons.h"

#define FRAMES_SHOWN 3

static void print_frame(FILE *out, const struct stack_frame *frame)
{
	const char *file = frame->file ? frame_text__base_name(frame->file) : NULL;

	escape__text(out, frame->function ? frame->function : "?");
	if (!file)
		return;
	fputs(" (", out);
	escape__text(out, file);
	if (frame->line)
		fprintf(out, ":%" PRIu32, frame->line);
	fputc(')', out);
}

/* The program's own lines from the innermost on; without one, the innermost frames there are. */
static void print_lines(FILE *out, const struct stack *stack, const struct stack_frame *line)
{
	uint32_t shown = 0;

	if (!stack) {
		fputs("[stack not known]", out);
		return;
	}
	for (uint32_t i = 0; i < stack->count && shown < FRAMES_SHOWN; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->kind == FRAME_MARK || (line && !host_reasons__is_own(frame)))
			continue;
		if (line && line->kind == FRAME_PYTHON && frame->kind != FRAME_PYTHON)
			continue;
		fputs(shown++ ? " < " : "", out);
		print_frame(out, frame);
	}
}

#define OFTEN 0.5 /* rarer than in each other step it is not a part of the step */

/* ", 1 a step", ", 12 a step": where it is known how often it is done. */
static void print_times(FILE *out, const struct host_reasons *reasons, const struct host_reason *reason)
{
	double times = step_cost__times(&reasons->cost, reason->calls);

	if (times >= OFTEN)
		fprintf(out, ", %s a step", quantity__count((uint64_t)(times + 0.5)).text);
}

static void print_reason(FILE *out, const struct host_reasons *reasons, const struct host_reason *reason)
{
	double ns = reasons->cost.step_ns ? step_cost__ns(&reasons->cost, reason->ns) : (double)reason->ns;

	fprintf(out, "    %8s %7s  %-26s  ", quantity__time(ns).text,
		quantity__share((double)reason->ns / (double)reasons->ns).text, host_reasons__doing(reason->kind));
	print_lines(out, reason->stack, reason->line);
	print_times(out, reasons, reason);
	if (reason->holder) {
		fputs("; held by ", out);
		print_lines(out, reason->holder, host_reasons__line(reason->holder));
	}
	fputc('\n', out);
}

void reasons_text__print(FILE *out, const struct process *process, uint64_t now_ns)
{
	struct host_reasons reasons;
	size_t shown = 0;

	if (host_reasons__of(process, now_ns, &reasons))
		return;
	for (size_t i = 0; i < reasons.count && shown < REASONS_SHOWN; i++) {
		const struct host_reason *reason = &reasons.items[i];
		double share = (double)reason->ns / (double)reasons.ns;

		if (!reason->ns || share < REASON_LEAST_SHARE)
			continue;
		print_reason(out, &reasons, reason);
		shown++;
	}
	host_reasons__clear(&reasons);
}
