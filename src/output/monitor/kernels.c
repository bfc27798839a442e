// SPDX-License-Identifier: BSD-2-Clause
// The kernels and graphs of a process in its block of the monitor's report, see parts.h.
#include "base/saturate.h"
#include "output/clip.h"
#include "output/kernel_text.h"
#include "output/monitor/parts.h"
#include "output/report/line.h"
#include "output/report/parts.h"

#define KERNELS_SHOWN 4 /* of a single process */
#define KERNELS_OF_SEVERAL 2
/* of amounts, rounded and exact */
static const int rate_columns[] = {9, 12}, count_columns[] = {8, 15};

struct launched {
	const struct kernel *kernel;
	bool known; /* launches since the previous report */
	uint64_t launches;
};

/* Those that are launched now are of most interest, then those launched most. */
static int is_before(const struct launched *a, const struct launched *b)
{
	if (a->known && b->known)
		return a->launches > b->launches;
	return a->known && a->launches;
}

/* The first of them in order; the list is short and mostly in order. */
static size_t choose(const struct monitor_row *row, struct launched chosen[MONITOR_KERNELS])
{
	size_t count = 0;

	for (; count < row->process->kernel_count && count < MONITOR_KERNELS; count++) {
		struct launched next = {.kernel = &row->process->kernels[count]};
		size_t index = count;

		next.known = monitor_history__launches(row->totals ? NULL : row->kept, next.kernel,
						       &next.launches);
		for (; index && is_before(&next, &chosen[index - 1]); index--)
			chosen[index] = chosen[index - 1];
		chosen[index] = next;
	}
	return count;
}

/* "  1.64 k/s   12.3 M total  ", before a name. Returns its columns. */
static int print_amounts(FILE *out, enum quantity_form form, const char *mark, const char *rate,
			 uint64_t total)
{
	char text[sizeof(struct quantity) + 2];
	int columns;

	snprintf(text, sizeof(text), "%s%s", *rate == '-' ? "" : mark, rate);
	columns = fprintf(out, "%*s", rate_columns[form], text);
	snprintf(text, sizeof(text), "%s%s", mark, quantity__amount_as(form, total).text);
	return columns + fprintf(out, "%*s total  ", count_columns[form], text);
}

static void print_kernel(FILE *out, const struct monitor_page *page, const struct monitor_row *row,
			 const struct launched *launched)
{
	const struct kernel *kernel = launched->kernel;
	const struct monitor_text_options *options = page->options;
	struct quantity rate = {"-"};
	char room[KERNEL_TEXT_SIZE];
	int columns;

	if (launched->known)
		rate = monitor_line__rate(options->form,
					  monitor_counts__rate(&row->counts, launched->launches));
	columns =
		print_amounts(out, options->form, report_sampling__mark(row->process, RATE_LAUNCH),
			      rate.text, kernel->launches);
	columns = options->columns - MONITOR_INDENT - columns;
	clip__print(out, kernel_text__name(kernel, options->full_names, room),
		    options->cut_names ? columns : CLIP_WHOLE);
	if (kernel->captured)
		fprintf(out, ", %s captured",
			quantity__amount_as(options->form, kernel->captured).text);
	fputc('\n', out);
}

static void print_rest(FILE *out, const struct monitor_page *page, const struct process *process,
		       uint64_t listed, size_t shown)
{
	size_t rest = process->kernel_count - shown;

	if (!rest)
		return;
	print_amounts(out, page->options->form, report_sampling__mark(process, RATE_LAUNCH), "-",
		      saturate__difference(process->launches, listed));
	fprintf(out, "%zu more kernel%s\n", rest, report_line__plural(rest));
}

static void print_graphs(FILE *out, enum quantity_form form, const struct process *process)
{
	const char *mark = report_sampling__mark(process, RATE_LAUNCH);

	if (process->graph_launches) {
		print_amounts(out, form, mark, "-", process->graph_launches);
		fputs("launches of graphs", out);
		if (process->graph_kernels)
			fprintf(out, " with %s%s kernels in all", mark,
				quantity__amount_as(form, process->graph_kernels).text);
		fputc('\n', out);
	}
	if (process->host_functions) {
		print_amounts(out, form, mark, "-", process->host_functions);
		fputs("host functions\n", out);
	}
	if (process->captured_launches) {
		print_amounts(out, form, mark, "-", process->captured_launches);
		fputs("captured into graphs, not executed\n", out);
	}
}

void monitor_kernels__write(FILE *out, const struct monitor_page *page,
			    const struct monitor_row *row)
{
	const struct process *process = row->process;
	struct launched chosen[MONITOR_KERNELS];
	size_t count = choose(row, chosen);
	size_t few = page->rows->count > 1 ? KERNELS_OF_SEVERAL : KERNELS_SHOWN;
	size_t shown = monitor_line__shown(page, process->kernel_count, few);
	uint64_t listed = 0;

	for (size_t i = 0; i < shown; i++) {
		struct launched launched = {.kernel = &process->kernels[i]};

		if (i < count)
			launched = chosen[i];
		print_kernel(out, page, row, &launched);
		listed += launched.kernel->launches;
	}
	print_rest(out, page, process, listed, shown);
	print_graphs(out, page->options->form, process);
}
