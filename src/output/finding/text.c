// SPDX-License-Identifier: BSD-2-Clause
/*
 * Findings as text, see findings.h:
 *
 *   warning  alloc-churn: the same memory is allocated and freed again and again, up to ...
 *           process 123 (train): cudaMalloc of 1.0 GiB
 *           1,000 allocations, each freed before the next; 412 us and 23 us each
 *           cost: 435 ms, 32.1 % of the process's steady time, in allocations and frees of ...
 *           saving: about 434 ms, if the first is kept
 *           at:
 *                   cudaMalloc+0x0 [libcudart.so.13]
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "base/text_stream.h"
#include "output/finding/findings.h"
#include "output/folded_stack.h"
#include "output/function_text.h"
#include "output/finding/reasons.h"
#include "output/report/line.h"
#include "output/wrap.h"

#define TEXT_INDENT 8
#define STACK_INDENT 16
#define NUMBER_MOST 1e19
#define TEN_FRAMES 10
#define THREADS_NAMED 8 /* at most this many of the threads that do the same are named */

const char *findings_text__severity_word(enum finding_severity severity)
{
	switch (severity) {
	case SEVERITY_INFO: return "info";
	case SEVERITY_WARNING: return "warning";
	case SEVERITY_CRITICAL: return "critical";
	}
	return "unknown";
}

struct quantity findings_text__number(enum quantity_form form, double value, enum finding_unit unit)
{
	uint64_t whole = (uint64_t)fmin(fmax(round(value), 0), NUMBER_MOST);

	switch (unit) {
	case UNIT_BYTES: return quantity__bytes_as(form, whole);
	case UNIT_NS: return quantity__time_as(form, whole);
	case UNIT_SHARE: return quantity__share(value);
	case UNIT_PER_SECOND: return quantity__rate_as(form, value);
	case UNIT_BYTES_PER_SECOND: return quantity__bandwidth_as(form, value);
	case UNIT_RATIO: return quantity__ratio(value);
	case UNIT_COUNT: break;
	}
	return quantity__count(whole);
}

static bool is_named(const struct finding *finding)
{
	return finding->subject && *finding->subject;
}

/* "process 123 (train), thread 124: cudaMalloc of 1.0 GiB" */
static void print_subject(FILE *out, const struct finding *finding)
{
	if (!finding->pid && !is_named(finding))
		return;
	fputs(REPORT_INDENT, out);
	if (finding->pid) {
		fprintf(out, "process %d (", finding->pid);
		escape__text(out, finding->comm);
		fputc(')', out);
	}
	if (finding->tid)
		fprintf(out, ", thread %d", finding->tid);
	if (is_named(finding)) {
		fputs(finding->pid ? ": " : "", out);
		function_text__print_sentence(out, finding->subject);
	}
	fputc('\n', out);
}

static void write_evidence(FILE *out, const struct finding *finding, enum quantity_form form)
{
	(void)form;
	function_text__print_sentence(out, finding->evidence);
}

void findings_text__write_numbers(FILE *out, const struct finding *finding)
{
	for (size_t i = 0; i < finding->number_count; i++) {
		const struct finding_number *number = &finding->numbers[i];

		fprintf(out, "%s%s=%s", i ? ", " : "exact: ", number->name,
			findings_text__number(QUANTITY_EXACT, number->value, number->unit).text);
	}
}

static void write_numbers(FILE *out, const struct finding *finding, enum quantity_form form)
{
	(void)form;
	findings_text__write_numbers(out, finding);
}

static void write_cost(FILE *out, const struct finding *finding, enum quantity_form form)
{
	fprintf(out, "cost: %s, %s of the %s%stime", quantity__time_as(form, finding->cost_ns).text,
		quantity__share(finding->share).text,
		finding->tid ? "thread's " : (finding->pid ? "process's " : ""),
		finding->steady ? "steady " : (finding->tid ? "active " : "watched "));
	if (!finding->tid && finding->share > 1)
		fputs(" (several threads together)", out);
	if (finding->kind->cost)
		fprintf(out, ", in %s", finding->kind->cost);
}

static double saved_a_step(const struct finding *finding)
{
	return (double)finding->saving_ns / (double)finding->cost_ns * finding->a_step_ns;
}

static void write_saving(FILE *out, const struct finding *finding, enum quantity_form form)
{
	fprintf(out, "saving: about %s", quantity__time_as(form, finding->saving_ns).text);
	if (finding->step_ns && finding->cost_ns)
		fprintf(out, " (%s a step)",
			quantity__time_of(saved_a_step(finding), (double)finding->step_ns).text);
	if (finding->assumption)
		fprintf(out, ", if %s", finding->assumption);
}

/* Prints a wrapped sentence; nothing without memory. */
static void
print_sentence(FILE *out, const struct finding *finding, const struct report_options *options,
	       void (*write)(FILE *out, const struct finding *finding, enum quantity_form form))
{
	char *text = NULL;
	size_t length = 0;
	FILE *sentence = text_stream__open(&text, &length);

	if (!sentence)
		return;
	write(sentence, finding, options->form);
	if (!fclose(sentence))
		wrap__print(out, text, TEXT_INDENT, 2, wrap__width(options->width));
	free(text);
}

static void print_stack(FILE *out, const char *title, const struct stack *stack,
			const struct report_options *options)
{
	bool cut = stack && options->all_frames && options->ten_frames && stack->count > TEN_FRAMES;
	struct stack shown;

	if (!stack || !stack->count)
		return;
	shown = *stack;
	if (cut)
		shown.count = TEN_FRAMES;
	fprintf(out, REPORT_INDENT "%s:\n", title);
	folded_stack__print(out, &shown, STACK_INDENT, options->all_frames);
	if (cut)
		fprintf(out, "%*s... and %" PRIu32 " more frame%s\n", STACK_INDENT, "",
			stack->count - shown.count,
			report_line__plural(stack->count - shown.count));
}

/* For findings with several reasons: lists all that make the process wait, not one location. */
static void print_reasons(FILE *out, const struct model *model, const struct finding *finding,
			  enum quantity_form form)
{
	const struct process *process = model__process_of(model, finding->pid, finding->start_ns);

	if (process)
		reasons_text__print_advised(out, process, model->now_ns, finding->kind->id, form);
}

/* --- threads that do the same --- */

static bool is_same_subject(const struct finding *a, const struct finding *b)
{
	return (!is_named(a) && !is_named(b)) ||
	       (is_named(a) && is_named(b) && !strcmp(a->subject, b->subject));
}

/*
 * Whether both findings are about different threads of a process that do the same at the same
 * location.
 */
static bool are_alike(const struct finding *a, const struct finding *b)
{
	return a->kind == b->kind && a->severity == b->severity && a->pid == b->pid &&
	       a->start_ns == b->start_ns && a->tid && b->tid && a->tid != b->tid && a->stack &&
	       a->stack == b->stack && !a->other_stack && !b->other_stack && is_same_subject(a, b);
}

bool findings_text__is_reported_before(const struct finding_list *list, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (are_alike(&list->items[i], &list->items[index]))
			return true;
	return false;
}

/* "the same in 2 other threads (8726, 8725): 3.3 s" */
static void write_alike(FILE *out, const struct finding_list *list, size_t index,
			enum quantity_form form)
{
	size_t count = 0;
	uint64_t cost_ns = 0;

	for (size_t i = index + 1; i < list->count; i++)
		if (are_alike(&list->items[index], &list->items[i])) {
			count++;
			cost_ns += list->items[i].cost_ns;
		}
	if (!count)
		return;
	fprintf(out, "%*sthe same in %zu other thread%s (", TEXT_INDENT, "", count,
		report_line__plural(count));
	count = 0;
	for (size_t i = index + 1; i < list->count && count <= THREADS_NAMED; i++)
		if (are_alike(&list->items[index], &list->items[i]) && count++ < THREADS_NAMED)
			fprintf(out, "%s%d", count == 1 ? "" : ", ", list->items[i].tid);
	fputs(count > THREADS_NAMED ? ", ...)" : ")", out);
	if (cost_ns)
		fprintf(out, ": %s", quantity__time_as(form, cost_ns).text);
	fputc('\n', out);
}

static void print_finding(FILE *out, const struct model *model, const struct finding_list *list,
			  size_t index, const struct report_options *options)
{
	const struct finding *finding = &list->items[index];
	enum quantity_form form = options->form;

	fprintf(out, "\n%s  %s: ", findings_text__severity_word(finding->severity),
		finding->kind->id);
	escape__text(out, finding->title ? finding->title : finding->kind->title);
	if (finding->step_ns)
		fprintf(out, ", up to %s a step",
			quantity__time_of(finding->a_step_ns, (double)finding->step_ns).text);
	fputc('\n', out);
	print_subject(out, finding);
	if (finding->evidence)
		print_sentence(out, finding, options, write_evidence);
	if (finding->number_count && form == QUANTITY_EXACT)
		print_sentence(out, finding, options, write_numbers);
	if (finding->has_cost)
		print_sentence(out, finding, options, write_cost);
	if (finding->has_saving)
		print_sentence(out, finding, options, write_saving);
	write_alike(out, list, index, form);
	if (finding->has_reasons)
		print_reasons(out, model, finding, form);
	else
		print_stack(out, "at", finding->stack, options);
	print_stack(out, finding->other_title, finding->other_stack, options);
}

void findings_text__print_counts(FILE *out, const struct finding_list *list)
{
	static const char *const plurals[] = {"infos", "warnings", "critical"};
	size_t counts[SEVERITY_CRITICAL + 1] = {0};
	const char *comma = "findings: ";

	for (size_t i = 0; i < list->count; i++)
		counts[list->items[i].severity] += !findings_text__is_reported_before(list, i);
	for (int severity = SEVERITY_CRITICAL; severity >= SEVERITY_INFO; severity--) {
		if (!counts[severity])
			continue;
		fprintf(out, "%s%zu %s", comma, counts[severity],
			counts[severity] == 1 ? findings_text__severity_word(severity) :
						plurals[severity]);
		comma = ", ";
	}
	fputc('\n', out);
}

/* Kinds that need every call, while calls are being sampled. */
static void write_sampled_kinds(FILE *out, const struct finding_list *list)
{
	const char *comma = "skipped because calls are being sampled: ";

	for (size_t i = 0; i < finding_kind_count; i++) {
		if (!(list->sampled_kinds & 1ull << i))
			continue;
		fprintf(out, "%s%s", comma, finding_kinds[i]->id);
		comma = ", ";
	}
	fputs(" (--max-overhead off enables them)", out);
}

void findings_text__print_sampled(FILE *out, const struct finding_list *list, size_t width)
{
	char *text = NULL;
	size_t length = 0;
	FILE *sentence = list->sampled_kinds ? text_stream__open(&text, &length) : NULL;

	if (!sentence)
		return;
	write_sampled_kinds(sentence, list);
	fputc('\n', out);
	if (!fclose(sentence))
		wrap__print(out, text, 0, 2, wrap__width(width));
	free(text);
}

/*
 * Length of the list's prefix that contains the first `top` findings to print; 0: all. Sets *left
 * to the number of those to print after it.
 */
static size_t shown_of(const struct finding_list *list, unsigned int top, size_t *left)
{
	size_t end = list->count, reported = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (findings_text__is_reported_before(list, i))
			continue;
		if (top && reported == top)
			end = i;
		reported++;
	}
	*left = top && reported > top ? reported - top : 0;
	return end;
}

static bool is_of(const struct finding *finding, const struct process *process)
{
	return finding->pid == process->pid && finding->start_ns == process->start_ns;
}

bool findings_text__has_reasons(const struct finding_list *list, unsigned int top,
				const struct process *process)
{
	size_t left, shown = shown_of(list, top, &left);

	for (size_t i = 0; i < shown; i++)
		if (list->items[i].has_reasons && is_of(&list->items[i], process))
			return true;
	return false;
}

void findings_text__print(FILE *out, const struct model *model, const struct finding_list *list,
			  const struct report_options *options)
{
	size_t left, shown = shown_of(list, options->top, &left);

	if (list->count)
		findings_text__print_counts(out, list);
	else
		fputs("no findings\n", out);
	for (size_t i = 0; i < shown; i++)
		if (!findings_text__is_reported_before(list, i))
			print_finding(out, model, list, i, options);
	if (left)
		fprintf(out, "\n... and %zu more finding%s\n", left, report_line__plural(left));
	findings_text__print_sampled(out, list, options->width);
}
