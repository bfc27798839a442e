// SPDX-License-Identifier: BSD-2-Clause
/*
 * The findings with what to do about them, at the end of the monitor's report, see parts.h:
 *
 *   warning   alloc-churn: the same memory is allocated and freed again and again
 *             process 123 (train): cudaMalloc of 1.0 GiB; 1,000 allocations, each freed before ...
 *             advice: Allocate the buffer once, before the loop, at the largest size needed, ...
 */
#include "base/escape.h"
#include "base/quantity.h"
#include "output/finding/findings.h"
#include "output/folded_stack.h"
#include "output/function_text.h"
#include "output/monitor/parts.h"
#include "output/report/line.h"

#define FINDINGS_SHOWN 3
#define INDENT 10
#define EVIDENCE_LINES 2
#define RANK_LINES 4  /* the same, where it says which rank is missing and what that does */
#define LINES_SHOWN 3 /* of a stack */
#define OTHERS_NAMED 4

static void write_title(FILE *out, const struct monitor_page *page, const struct finding *finding)
{
	(void)page;
	fprintf(out, "%s: ", finding->kind->id);
	escape__text(out, finding->title ? finding->title : finding->kind->title);
	if (finding->step_ns)
		fprintf(out, ", up to %s a step",
			quantity__time_of(finding->a_step_ns, (double)finding->step_ns).text);
}

static void write_process(FILE *out, const struct monitor_page *page, const struct finding *finding)
{
	const struct process *process =
		model__process_of(page->model, finding->pid, finding->start_ns);
	char command[MONITOR_COMMAND_SIZE];

	if (process)
		monitor_line__command(process, command);
	fprintf(out, "process %d (", finding->pid);
	escape__text(out, process ? command : finding->comm);
	fputc(')', out);
}

static void write_subject(FILE *out, const struct monitor_page *page, const struct finding *finding)
{
	if (finding->pid)
		write_process(out, page, finding);
	if (finding->tid)
		fprintf(out, ", thread %d", finding->tid);
	if (!finding->subject || !*finding->subject)
		return;
	fputs(finding->pid ? ": " : "", out);
	function_text__print_sentence(out, finding->subject);
}

static void write_evidence(FILE *out, const struct monitor_page *page,
			   const struct finding *finding)
{
	bool named = finding->pid || (finding->subject && *finding->subject);

	write_subject(out, page, finding);
	if (finding->evidence) {
		fputs(named ? "; " : "", out);
		function_text__print_sentence(out, finding->evidence);
	}
	if (finding->has_cost)
		fprintf(out, "; cost %s, %s of the time",
			quantity__time_as(page->options->form, finding->cost_ns).text,
			quantity__share(finding->share).text);
	if (finding->has_saving)
		fprintf(out, "; saving about %s",
			quantity__time_as(page->options->form, finding->saving_ns).text);
}

/* From the program's own frame outwards: "at grow_cache() [server] cache.cc:88 < serve() ..." */
static void write_location(FILE *out, const struct monitor_page *page,
			   const struct finding *finding)
{
	const struct stack *stack = finding->stack;
	struct folded_line lines[FOLDED_LINES];
	size_t count = stack ? folded_stack__lines(stack, lines) : 0;
	size_t own = count ? folded_stack__own_line(stack, lines, count) : 0;
	size_t first = own < count ? own : 0;

	for (size_t i = first; i < count && i - first < LINES_SHOWN; i++) {
		fputs(i > first ? " < " : "at ", out);
		folded_stack__print_line(out, stack, &lines[i], page->options->columns - INDENT);
	}
}

static void write_numbers(FILE *out, const struct monitor_page *page, const struct finding *finding)
{
	(void)page;
	findings_text__write_numbers(out, finding);
}

static void write_advice(FILE *out, const struct monitor_page *page, const struct finding *finding)
{
	(void)page;
	fprintf(out, "advice: %s", finding->kind->advice);
}

static void print_part(FILE *out, const struct monitor_page *page, const char *label,
		       void (*write)(FILE *out, const struct monitor_page *page,
				     const struct finding *finding),
		       const struct finding *finding, size_t lines)
{
	struct monitor_words words;

	if (!monitor_words__begin(&words))
		return;
	write(words.out, page, finding);
	monitor_words__wrap(&words, out, page, label, INDENT, page->options->cut ? lines : 0);
}

static void print_location(FILE *out, const struct monitor_page *page,
			   const struct finding *finding)
{
	if (finding->stack && page->options->all_frames)
		folded_stack__print(out, finding->stack, INDENT, true);
	else
		print_part(out, page, "", write_location, finding, 1);
}

/* The first finding of the kind, which is its worst. */
static size_t first_of_kind(const struct finding_list *list, size_t index)
{
	size_t i = 0;

	while (list->items[i].kind != list->items[index].kind)
		i++;
	return i;
}

static bool is_other(const struct finding_list *list, size_t index, size_t first)
{
	return list->items[index].kind == list->items[first].kind &&
	       !findings_text__is_reported_before(list, index);
}

/* "3 more of this kind: process 124 (train), process 125 (train), ..." */
static void print_others(FILE *out, const struct monitor_page *page, size_t first)
{
	const struct finding_list *list = page->findings;
	size_t others = 0, named = 0;
	struct monitor_words words;

	for (size_t i = first + 1; i < list->count; i++)
		others += is_other(list, i, first);
	if (!others || !monitor_words__begin(&words))
		return;
	fprintf(words.out, "%zu more of this kind: ", others);
	for (size_t i = first + 1; i < list->count && named < OTHERS_NAMED; i++) {
		if (!is_other(list, i, first))
			continue;
		fputs(named++ ? ", " : "", words.out);
		write_subject(words.out, page, &list->items[i]);
	}
	monitor_words__wrap(&words, out, page, "", INDENT, 1);
}

static void print_finding(FILE *out, const struct monitor_page *page, size_t index)
{
	const struct finding_list *list = page->findings;
	const struct finding *finding = &list->items[index];

	print_part(out, page, findings_text__severity_word(finding->severity), write_title, finding,
		   1);
	print_part(out, page, "", write_evidence, finding,
		   finding->kind->needs & NEEDS_NCCL ? RANK_LINES : EVIDENCE_LINES);
	if (page->options->form == QUANTITY_EXACT)
		print_part(out, page, "", write_numbers, finding, 0);
	print_location(out, page, finding);
	if (page->options->cut)
		print_others(out, page, index);
	if (first_of_kind(list, index) == index)
		print_part(out, page, "", write_advice, finding, page->rows->count > 1 ? 1 : 2);
}

void monitor_findings__print(FILE *out, const struct monitor_page *page)
{
	const struct finding_list *list = page->findings;
	size_t shown = monitor_line__shown(page, list->count, FINDINGS_SHOWN), printed = 0;
	size_t left = 0, end = 0; /* index after the last one printed */

	if (list->count) {
		fputc('\n', out);
		findings_text__print_counts(out, list);
	}
	for (size_t i = 0; i < list->count; i++) {
		size_t first = first_of_kind(list, i);

		if (findings_text__is_reported_before(list, i) ||
		    (page->options->cut && first != i && first < end))
			continue;
		if (printed < shown) {
			print_finding(out, page, i);
			printed++;
			end = i + 1;
		} else {
			left++;
		}
	}
	if (left)
		fprintf(out, "... and %zu more finding%s, which --top shows\n", left,
			report_line__plural(left));
	findings_text__print_sampled(out, list, (size_t)page->options->columns);
}

/* --- one finding, for a line of a log --- */

static const struct monitor_text_options line_form = {.columns = MONITOR_COLUMNS};

void monitor_text__finding(FILE *out, const struct model *model, const struct finding *finding)
{
	const struct monitor_page page = {.model = model, .options = &line_form};

	write_title(out, &page, finding);
	fputs("; ", out);
	write_evidence(out, &page, finding);
	fputs(finding->stack ? "; " : "", out);
	write_location(out, &page, finding);
}

void monitor_text__finding_subject(FILE *out, const struct model *model,
				   const struct finding *finding)
{
	const struct monitor_page page = {.model = model};

	write_subject(out, &page, finding);
}
