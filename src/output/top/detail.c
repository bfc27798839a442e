// SPDX-License-Identifier: BSD-2-Clause
// The page of one process, see detail.h. Lines that begin with a blank are the entries of a title.
#include "output/top/detail.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text_stream.h"
#include "finding/verdict.h"
#include "model/copied.h"
#include "model/profile.h"
#include "model/steps.h"
#include "output/clip.h"
#include "output/dump/dump.h"
#include "output/dump/parts.h"
#include "output/enum_names.h"
#include "output/finding/findings.h"
#include "output/finding/verdict.h"
#include "output/folded_stack.h"
#include "output/kernel_text.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/trace/text.h"
#include "output/prose.h"
#include "output/wrap.h"

#define KERNELS_SHOWN 20
#define SITES_SHOWN 10
#define ERRORS_SHOWN 10
/* The longest line; sentences end at WRAP_WIDTH. */
#define MOST_COLUMNS 200
#define LEAST_COLUMNS 40
#define CUT_ROOM 3	/* for an ellipsis, and the end of the text */
#define RATE_COLUMNS 31 /* before a kernel's name */

/* --- who it is, and how fast --- */

static void print_head(FILE *out, const struct top_detail *detail)
{
	const struct dump_view view = {.form = detail->form, .on_terminal = true};
	const struct process *process = detail->process;
	struct dump_process shown;

	if (!detail->dump) {
		report_line__process(out, process);
		return;
	}
	/* The dump has the threads, the model the identity; both are only read. */
	shown = detail->dump->processes[0];
	shown.process = (struct process *)process;
	shown.command = (char *)process->command;
	shown.maps_cuda = true;
	dump_head__print(out, detail->model, &shown, &view);
	report_line__before_attach(out, process, detail->form);
}

static void print_used(FILE *out, const struct process *process, enum quantity_form form)
{
	uint64_t bytes = process__nvml_bytes(process);

	fprintf(out, "    memory      %s by NVML\n",
		bytes == GPU_UNKNOWN_BYTES ? "unknown" : quantity__bytes_as(form, bytes).text);
}

static void print_memory(FILE *out, const struct top_detail *detail)
{
	const struct process_rate *rate = &detail->rate;
	double slope = rate->memory_slope;

	if (detail->process->ended) {
		fprintf(out, "    memory      %s live at exit\n",
			quantity__bytes_as(detail->form, detail->process->live_at_exit_bytes).text);
		return;
	}
	if (detail->quiet) {
		print_used(out, detail->process, detail->form);
		return;
	}
	fprintf(out, "    memory      %s live%s",
		quantity__bytes_as(detail->form, process__live_device_bytes(detail->process)).text,
		detail->process->since_attach ? " of what was allocated since attach" : "");
	if (rate->has_slope && slope > -0.5 && slope < 0.5)
		fputs(", not growing", out);
	else if (rate->has_slope)
		fprintf(out, ", %s%s a second", slope < 0 ? "-" : "+",
			quantity__bytes_as(detail->form, (uint64_t)fmin(fabs(slope), 1.8e19)).text);
	if (detail->process->profile && detail->process->profile->peak_bytes)
		fprintf(out, ", peak %s",
			quantity__bytes_as(detail->form, detail->process->profile->peak_bytes)
				.text);
	fputc('\n', out);
}

static void print_rates(FILE *out, const struct top_detail *detail)
{
	const struct process_rate *rate = &detail->rate;
	struct step_summary steps;

	if (rate->interval_ns) {
		fprintf(out, "    launches    %s\n",
			quantity__rate_as(detail->form, rate->launches).text);
		fprintf(out, "    copies      %s, %s to the device, %s to the host\n",
			quantity__rate_as(detail->form, rate->copies).text,
			quantity__bandwidth_as(detail->form, rate->to_device).text,
			quantity__bandwidth_as(detail->form, rate->to_host).text);
		fprintf(out, "    waits       %s of the time\n",
			quantity__share(rate->waiting).text);
	}
	step_summary__make(detail->process, &steps);
	if (steps.thread)
		fprintf(out, "    step        %s (p99 %s)\n",
			quantity__time_as(detail->form, steps.usual_ns).text,
			quantity__time_as(detail->form, steps.p99_ns).text);
}

static int columns_of(const struct top_detail *detail)
{
	if (detail->width > MOST_COLUMNS)
		return MOST_COLUMNS;
	return detail->width > LEAST_COLUMNS ? detail->width : LEAST_COLUMNS;
}

/* Prints nothing without memory. */
static void print_verdict(FILE *out, const struct top_detail *detail)
{
	char *text = NULL;
	size_t length = 0;
	FILE *sentence = text_stream__open(&text, &length);
	struct verdict verdict;

	if (!sentence)
		return;
	verdict__judge_latest(detail->state, detail->model, detail->process, &verdict);
	if (verdict.window_ns)
		verdict_text__print_sentence(sentence, &verdict);
	else if (detail->quiet)
		fputs("idle: no CUDA call since attach; since when is unknown", sentence);
	else
		fputs("no verdict yet: it takes a second of work", sentence);
	if (!fclose(sentence)) {
		text[strcspn(text, "\n")] = '\0';
		wrap__print(out, text, 0, 4, wrap__width((size_t)columns_of(detail)));
	}
	free(text);
}

/* --- findings --- */

/* The advice of each kind once, in the order of the findings. */
static void print_advice(FILE *out, const struct top_detail *detail)
{
	const struct finding_list *list = detail->findings;
	uint64_t given = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct finding_kind *kind = list->items[i].kind;
		uint64_t bit = UINT64_C(1) << finding_kind__index(kind) % 64;

		if (given & bit)
			continue;
		given |= bit;
		fprintf(out, "\nadvice on %s\n", kind->id);
		wrap__print(out, kind->advice, 4, 0, wrap__width((size_t)columns_of(detail)));
	}
}

static void print_findings(FILE *out, const struct top_detail *detail)
{
	const struct report_options all = {
		.on_terminal = true, .form = detail->form, .width = (size_t)columns_of(detail)};

	fputc('\n', out);
	findings_text__print(out, detail->model, detail->findings, &all);
	print_advice(out, detail);
}

/* --- threads --- */

static void print_threads(FILE *out, const struct top_detail *detail)
{
	const struct dump_view view = {.form = detail->form, .on_terminal = true};

	fputs("\nthreads\n", out);
	if (detail->dump)
		dump_text__print_threads(out, &detail->dump->processes[0], &view);
	else
		fputs(detail->recorded ? "    unknown: a recording has no threads\n" :
					 "    unknown: the process has ended, or gpuprobe may not "
					 "look at it\n",
		      out);
}

/* --- kernels --- */

static double rate_of(const struct top_detail *detail, const struct kernel *kernel)
{
	return kernel_rates__of(detail->kernels, kernel);
}

struct ranked {
	const struct kernel *kernel;
	double rate;
};

static const char *name_of(const struct kernel *kernel)
{
	return kernel->label ? kernel->label : kernel->name;
}

/* Kernels of one step often have equal counts: "layer_2" comes before "layer_10" then. */
static int by_rate(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	if (x->kernel->launches != y->kernel->launches)
		return x->kernel->launches > y->kernel->launches ? -1 : 1;
	if (name_of(x->kernel) && name_of(y->kernel))
		return strverscmp(name_of(x->kernel), name_of(y->kernel));
	return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

/* A whole name goes on below its first line. */
static void print_kernel(FILE *out, const struct top_detail *detail, const struct ranked *ranked)
{
	int columns = detail->full_names ? CLIP_WHOLE : columns_of(detail) - RATE_COLUMNS;
	const struct kernel *kernel = ranked->kernel;
	char room[KERNEL_TEXT_SIZE];

	fprintf(out, "    %12s %12s  ", /* RATE_COLUMNS */
		ranked->rate == KERNEL_RATE_UNKNOWN ?
			"-" :
			quantity__rate_as(detail->form, ranked->rate).text,
		quantity__count(kernel->launches).text);
	clip__print(out, kernel_text__name(kernel, detail->full_names, room), columns);
	fputc('\n', out);
}

static void print_rest(FILE *out, size_t shown, size_t count, const char *what)
{
	if (count > shown)
		fprintf(out, "    ... and %zu more %s%s\n", count - shown, what,
			report_line__plural(count - shown));
}

static void print_kernels(FILE *out, const struct top_detail *detail)
{
	const struct process *process = detail->process;
	size_t count = process->kernel_count;
	struct ranked *ranked = calloc(count + 1, sizeof(*ranked));

	fputs("\nkernels\n", out);
	if (!count)
		fputs("    none launched\n", out);
	for (size_t i = 0; ranked && i < count; i++)
		ranked[i] = (struct ranked){&process->kernels[i],
					    rate_of(detail, &process->kernels[i])};
	if (ranked && count)
		qsort(ranked, count, sizeof(*ranked), by_rate);
	for (size_t i = 0; ranked && i < count && i < KERNELS_SHOWN; i++)
		print_kernel(out, detail, &ranked[i]);
	print_rest(out, KERNELS_SHOWN, count, "kernel");
	free(ranked);
}

/* --- copies --- */

static void print_copies(FILE *out, const struct process *process, enum quantity_form form)
{
	bool any = false;

	for (enum copy_kind kind = 0; kind < COPY_KINDS; kind++) {
		struct copied copied = process__copied(process, kind);

		if (!copied.calls)
			continue;
		fputs(any ? "" : "\ncopies and sets\n", out);
		any = true;
		fprintf(out, "    %-8s %s of %s\n", enum_names__copy_kind(kind),
			quantity__count(copied.calls).text,
			quantity__bytes_as(form, copied.bytes).text);
	}
}

/* --- memory --- */

static void print_site(FILE *out, const struct live_site *site, enum quantity_form form)
{
	fprintf(out, "    %10s in %s allocation%s\n", quantity__bytes_as(form, site->bytes).text,
		quantity__count(site->count).text, report_line__plural(site->count));
	folded_stack__print(out, site->stack, 8, false);
}

static void print_sites(FILE *out, const struct top_detail *detail)
{
	const struct process *process = detail->process;

	fputs("\nmemory by call site\n", out);
	if (!detail->model->stacks) {
		fprintf(out, "    off: start gpuprobe %s with --stack fp (or dwarf) to see it\n",
			detail->recorded ? "record" : "top");
		return;
	}
	if (!process->live_site_count)
		fputs("    none live\n", out);
	for (size_t i = 0; i < process->live_site_count && i < SITES_SHOWN; i++)
		print_site(out, &process->live_sites[i], detail->form);
	print_rest(out, SITES_SHOWN, process->live_site_count, "call site");
}

/* --- the page --- */

static void print_errors(FILE *out, const struct top_detail *detail)
{
	const struct report_options options = {.top = ERRORS_SHOWN, .form = detail->form};

	if (!detail->process->failure_count && !detail->process->sticky.code)
		return;
	fputs("\nfailed calls\n", out);
	report_errors__list(out, detail->model, detail->process, &options);
}

static void print(FILE *out, const struct top_detail *detail)
{
	print_head(out, detail);
	print_memory(out, detail);
	print_rates(out, detail);
	fputc('\n', out);
	print_verdict(out, detail);
	print_findings(out, detail);
	print_threads(out, detail);
	print_kernels(out, detail);
	print_copies(out, detail->process, detail->form);
	print_sites(out, detail);
	print_errors(out, detail);
	report_line__losses(out, detail->model);
}

/* A word that has no room in a line is cut in the middle. */
static int add_line(struct top_page *page, const char *line, size_t length, int columns)
{
	char *text = malloc(length + CUT_ROOM);
	int ret;

	if (!text)
		return -ENOMEM;
	memcpy(text, line, length);
	*trace_text__cut(text, text + length, (size_t)columns) = '\0';
	ret = top_page__add_lines(page, *text ? text : "\n");
	free(text);
	return ret;
}

/* Adds the text, wrapped for the terminal. */
static int add_wrapped(struct top_page *page, char *text, const struct top_detail *detail)
{
	char *wrapped = NULL;
	size_t bytes = 0;
	FILE *out = text_stream__open(&wrapped, &bytes);
	int ret = 0;

	if (!out)
		return -ENOMEM;
	prose__print(out, text, (size_t)columns_of(detail));
	if (fclose(out))
		return -ENOMEM;
	for (const char *line = wrapped; *line && !ret;) {
		size_t length = strcspn(line, "\n");

		ret = add_line(page, line, length, columns_of(detail));
		line += length + (line[length] == '\n');
	}
	free(wrapped);
	return ret;
}

int top_detail__add(struct top_page *page, const struct top_detail *detail)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);
	int ret;

	if (!out)
		return -ENOMEM;
	print(out, detail);
	if (fclose(out))
		return -ENOMEM;
	ret = add_wrapped(page, text, detail);
	free(text);
	return ret;
}
