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

void reasons_text__print(FILE *out, const struct process *process)
{
	struct host_reasons reasons;
	size_t shown = 0;

	if (host_reasons__of(process, &reasons))
		return;
	for (size_t i = 0; i < reasons.count && shown < REASONS_SHOWN; i++) {
		const struct host_reason *reason = &reasons.items[i];
		double share = (double)reason->ns / (double)reasons.ns;

		if (!reason->ns || share < REASON_LEAST_SHARE)
			continue;
		fprintf(out, "    %8s  %-26s  ", quantity__share(share).text, host_reasons__doing(reason->kind));
		print_lines(out, reason->stack, reason->line);
		if (reason->holder) {
			fputs("; held by ", out);
			print_lines(out, reason->holder, host_reasons__line(reason->holder));
		}
		fputc('\n', out);
		shown++;
	}
	host_reasons__clear(&reasons);
}
