// SPDX-License-Identifier: BSD-2-Clause
// The call sites of a process in its block of the monitor's report, see parts.h.
#include "model/tensors.h"
#include "output/folded_stack.h"
#include "output/monitor/parts.h"
#include "output/report/line.h"
#include "output/site_text.h"
#include "output/tensors_text.h"

#define SITES_SHOWN 2
#define LINES_SHOWN 4 /* of a stack; the last is the program's own if the others are not */
#define INDENT 4

/* A cut stack has its first lines, and the line of the program's own frame in any case. */
static void print_lines(FILE *out, const struct monitor_page *page, const struct stack *stack)
{
	struct folded_line lines[FOLDED_LINES];
	size_t count = folded_stack__lines(stack, lines);
	size_t own = folded_stack__own_line(stack, lines, count);
	/* A line says as much as the one that counts what is left. */
	size_t shown = page->options->cut && count > LINES_SHOWN + 1 ? LINES_SHOWN : count;
	int columns = page->options->columns - MONITOR_INDENT - INDENT;
	uint32_t frames = stack->count;

	if (shown <= own && own < count)
		lines[shown - 1] = lines[own];
	for (size_t i = 0; i < shown; i++) {
		fprintf(out, "%*s", INDENT, "");
		folded_stack__print_line(out, stack, &lines[i], columns);
		fputc('\n', out);
		frames -= lines[i].count;
	}
	if (shown < count)
		fprintf(out, "%*s… %u more frame%s\n", INDENT, "", frames,
			report_line__plural(frames));
}

static void print_stack(FILE *out, const struct monitor_page *page, const struct stack *stack)
{
	if (stack && !page->options->all_frames)
		print_lines(out, page, stack);
	else
		folded_stack__print(out, stack, INDENT, true);
}

static void print_rest(FILE *out, size_t rest)
{
	if (rest)
		fprintf(out, "... and %zu more call site%s\n", rest, report_line__plural(rest));
}

/* `of_tensors`: prints sites of the process's tensors, which must exist; else of its memory. */
static void print_live_sites(FILE *out, const struct monitor_page *page, const struct process *p,
			     bool of_tensors)
{
	const struct live_site *sites = of_tensors ? p->tensors->live_sites : p->live_sites;
	size_t count = of_tensors ? p->tensors->live_site_count : p->live_site_count;
	size_t shown = monitor_line__shown(page, count, SITES_SHOWN);

	for (size_t i = 0; i < shown; i++) {
		fprintf(out, "%s%s %s in %s %s%s", of_tensors ? tensors_text__about(p) : "",
			quantity__bytes_as(page->options->form, sites[i].bytes).text,
			p->ended ? "live at exit" : "live", quantity__count(sites[i].count).text,
			of_tensors ? "tensor" : "allocation", report_line__plural(sites[i].count));
		if (of_tensors)
			tensors_text__print_site(out, p, sites[i].stack, page->options->form);
		fputc('\n', out);
		print_stack(out, page, sites[i].stack);
	}
	print_rest(out, count - shown);
}

/* A cut block has tensors rather than the segments that they fill. */
static void print_live(FILE *out, const struct monitor_page *page, const struct process *process)
{
	const struct tensors *tensors = process->tensors;
	bool has_tensors = tensors && tensors->live_site_count;

	if (has_tensors)
		print_live_sites(out, page, process, true);
	if (!has_tensors || !page->options->cut)
		print_live_sites(out, page, process, false);
}

/* Those of one kind, behind a line that says what they are. */
static void print_kind(FILE *out, const struct monitor_page *page, const struct call_site *sites,
		       size_t count)
{
	size_t shown = monitor_line__shown(page, count, SITES_SHOWN);

	site_text__print_kind(out, page->model, (enum site_kind)sites->kind);
	fputc('\n', out);
	for (size_t i = 0; i < shown; i++) {
		fputs("  ", out);
		site_text__print(out, &sites[i], page->options->form, page->options->full_names);
		fputc('\n', out);
		print_stack(out, page, sites[i].stack);
	}
	print_rest(out, count - shown);
}

/* A cut block has only where memory comes from: what is live, or else what was allocated. */
void monitor_sites__write(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const struct process *process = row->process;
	bool cut = page->options->cut;

	print_live(out, page, process);
	/* The sites are sorted by kind. */
	for (size_t i = 0, end; i < process->site_count; i = end) {
		const struct call_site *sites = &process->sites[i];

		for (end = i; end < process->site_count && process->sites[end].kind == sites->kind;)
			end++;
		if (!cut || (sites->kind == SITE_ALLOCATION && !process->live_site_count))
			print_kind(out, page, sites, end - i);
	}
}
