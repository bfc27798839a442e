// SPDX-License-Identifier: BSD-2-Clause
// Where the time of threads that submit work went, as text: see reasons.h.
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "model/user_line.h"
#include "output/folded_stack.h"
#include "output/frame_text.h"
#include "output/finding/reasons.h"
#include "symbol/qualified_name.h"

#define FRAMES_SHOWN 3
#define RIVALS_SHOWN 2
#define FUNCTION_SIZE 512
#define RUN_COLUMNS 80 /* of a line that stands for frames of a framework */
/* occurrences per step; what is rarer is not regarded as part of the step */
#define OFTEN 0.5
/* columns of a time */
#define TIME 8
#define EXACT_TIME 18
#define ASIDE "                      " /* indentation of lines about other threads */

/* A frame without a function's name is called by its file. */
static const char *name_of(const struct stack_frame *frame)
{
	if (frame->function)
		return frame->function;
	return frame->object ? frame_text__base_name(frame->object) : "?";
}

static void print_frame(FILE *out, const struct stack_frame *frame)
{
	const char *file = frame->file ? frame_text__base_name(frame->file) : NULL;
	char name[FUNCTION_SIZE];

	if (frame->function && frame->kind == FRAME_NATIVE) {
		qualified_name__write(frame->function, name, sizeof(name));
		escape__text(out, name);
	} else {
		escape__text(out, name_of(frame));
	}
	if (!file)
		return;
	fputs(" (", out);
	escape__text(out, file);
	if (frame->line)
		fprintf(out, ":%" PRIu32, frame->line);
	fputc(')', out);
}

/* "cudaMalloc < … autograd engine: AddmmBackward0, 25 frames" */
static void print_folded(FILE *out, const struct stack *stack)
{
	struct folded_line lines[FOLDED_LINES];
	size_t count = folded_stack__lines(stack, lines);

	for (size_t i = 0; i < count && i < FRAMES_SHOWN; i++) {
		const struct stack_frame *frame = &stack->frames[lines[i].first];

		if (lines[i].kind == FOLDED_FRAME && frame->kind == FRAME_MARK)
			break;
		fputs(i ? " < " : "", out);
		if (lines[i].kind == FOLDED_FRAME)
			print_frame(out, frame);
		else
			folded_stack__print_line(out, stack, &lines[i], RUN_COLUMNS);
	}
}

/* The program's own lines from the innermost on. If it has none, the innermost lines. */
static void print_lines(FILE *out, const struct stack *stack, const struct stack_frame *line)
{
	uint32_t shown = 0;

	if (!stack) {
		fputs("[stack not known]", out);
		return;
	}
	if (!line) {
		print_folded(out, stack);
		return;
	}
	for (uint32_t i = 0; i < stack->count && shown < FRAMES_SHOWN; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (!user_line__is_own(frame))
			continue;
		if (line->kind == FRAME_PYTHON && frame->kind != FRAME_PYTHON)
			continue;
		fputs(shown++ ? " < " : "", out);
		print_frame(out, frame);
	}
}

/* ", 1 a step", ", 12 a step": printed if the frequency is known. */
static void print_times(FILE *out, const struct host_reasons *reasons,
			const struct host_reason *reason)
{
	double times = step_cost__times(&reasons->cost, reason->calls);

	if (times >= OFTEN)
		fprintf(out, ", %s a step", quantity__count((uint64_t)(times + 0.5)).text);
}

static void print_partner(FILE *out, const struct host_partner *who)
{
	escape__text(out, who->comm);
	fprintf(out, " (%d)", who->tid ? who->tid : who->pid);
}

static const char *relation_of(enum host_kind kind)
{
	if (kind == HOST_OUTPUT)
		return "read by";
	return kind == HOST_QUEUE ? "fed by" : "held by";
}

/*
 * "fed by python3 (4719): 97.9 % on the CPU  transform (data.py:7)", followed by the thread that
 * that one waits for.
 */
static void print_hops(FILE *out, const struct host_reasons *reasons,
		       const struct host_reason *reason)
{
	struct host_other hops[HOST_HOPS];
	size_t count = host_reasons__hops(reasons, reason, hops);
	enum host_kind kind = (enum host_kind)reason->kind;

	for (size_t i = 0; i < count; i++) {
		fprintf(out, ASIDE "%*s%s ", (int)i * 2, "", relation_of(kind));
		print_partner(out, hops[i].who);
		if (hops[i].thread) {
			kind = (enum host_kind)hops[i].kind;
			fprintf(out, ": %s %s  ", quantity__share(hops[i].share).text,
				host_kind__doing(kind));
			print_lines(out, hops[i].stack, user_line__find(hops[i].stack));
		}
		if (hops[i].file) {
			fputs("; most for ", out);
			escape__text(out, hops[i].file);
		}
		fputc('\n', out);
	}
}

static void print_rivals(FILE *out, const struct host_reason *reason)
{
	const struct host_partner *list;
	size_t count = host_reasons__rivals(reason, &list);

	for (size_t i = 0; i < count && i < RIVALS_SHOWN; i++) {
		fputs(i ? ", " : ASIDE "meanwhile run ", out);
		print_partner(out, &list[i]);
	}
	if (count)
		fputc('\n', out);
}

static void print_reason(FILE *out, const struct host_reasons *reasons,
			 const struct host_reason *reason, enum quantity_form form)
{
	double ns = reasons->cost.step_ns ? step_cost__ns(&reasons->cost, reason->ns) :
					    (double)reason->ns;
	const char *file = host_reasons__file(reason);

	fprintf(out, "    %*s %7s  %-26s  ", form == QUANTITY_EXACT ? EXACT_TIME : TIME,
		quantity__time_as(form, (uint64_t)(ns + 0.5)).text,
		quantity__share((double)reason->ns / (double)reasons->ns).text,
		host_kind__doing((enum host_kind)reason->kind));
	print_lines(out, reason->stack, reason->line);
	print_times(out, reasons, reason);
	if (file) {
		fputs("; most for ", out);
		escape__text(out, file);
	}
	fputc('\n', out);
	print_hops(out, reasons, reason);
	print_rivals(out, reason);
}

static void print_reasons(FILE *out, const struct host_reasons *reasons, enum quantity_form form)
{
	size_t shown = 0;

	for (size_t i = 0; i < reasons->count && shown < REASONS_SHOWN; i++) {
		const struct host_reason *reason = &reasons->items[i];

		if (!reason->ns || (double)reason->ns < REASON_LEAST_SHARE * (double)reasons->ns)
			continue;
		print_reason(out, reasons, reason, form);
		shown++;
	}
}

void reasons_text__print(FILE *out, const struct process *process, uint64_t now_ns,
			 enum quantity_form form)
{
	struct host_reasons reasons;

	if (host_reasons__of(process, now_ns, &reasons))
		return;
	print_reasons(out, &reasons, form);
	host_reasons__clear(&reasons);
}

void reasons_text__print_advised(FILE *out, const struct process *process, uint64_t now_ns,
				 const char *finding, enum quantity_form form)
{
	struct host_reasons reasons;
	const char *advice;

	if (host_reasons__of(process, now_ns, &reasons))
		return;
	print_reasons(out, &reasons, form);
	advice = reasons.count ? host_kind__advice((enum host_kind)reasons.items[0].kind) : NULL;
	if (advice)
		fprintf(out, "    %s (--explain %s).\n", advice, finding);
	host_reasons__clear(&reasons);
}
