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

static struct quantity rate_of(const struct monitor_page *page, const struct monitor_row *row,
			       uint64_t launches)
{
	return monitor_line__rate(page->options->form,
				  monitor_counts__rate(&row->counts, launches));
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
		rate = rate_of(page, row, launched->launches);
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

/* The kernels that were printed. */
struct printed {
	size_t count;
	uint64_t total;	 /* launches */
	bool rates;	 /* since the previous report: all are known */
	uint64_t latest; /* launches since then */
};

static void print_rest(FILE *out, const struct monitor_page *page, const struct monitor_row *row,
		       const struct printed *printed)
{
	const struct process *process = row->process;
	size_t rest = process->kernel_count - printed->count;
	uint64_t latest = saturate__difference(row->counts.launches, row->counts.graph_launches);
	struct quantity rate = {"-"};

	if (!rest)
		return;
	if (printed->rates)
		rate = rate_of(page, row, saturate__difference(latest, printed->latest));
	print_amounts(out, page->options->form, report_sampling__mark(process, RATE_LAUNCH),
		      rate.text, saturate__difference(process->launches, printed->total));
	fprintf(out, "%zu more kernel%s\n", rest, report_line__plural(rest));
}

static void print_graphs(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const struct process *process = row->process;
	const char *mark = report_sampling__mark(process, RATE_LAUNCH);
	enum quantity_form form = page->options->form;

	if (process->graph_launches) {
		print_amounts(out, form, mark, rate_of(page, row, row->counts.graph_launches).text,
			      process->graph_launches);
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
	struct printed printed = {.count = shown, .rates = true};

	for (size_t i = 0; i < shown; i++) {
		struct launched launched = {.kernel = &process->kernels[i]};

		if (i < count)
			launched = chosen[i];
		print_kernel(out, page, row, &launched);
		printed.total += launched.kernel->launches;
		printed.latest += launched.launches;
		printed.rates = printed.rates && launched.known;
	}
	print_rest(out, page, row, &printed);
	print_graphs(out, page, row);
}
