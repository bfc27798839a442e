// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text of `gpuprobe memleak`:
 *
 *   [14:02:11] 3 call sites with live device memory, 1 of them growing
 *           1.0 GiB in 1,000 allocations, +12.0 MiB/s over the last 60.0 s  << growing
 *               ages 600 ms to 83.2 s, 61 samples
 *                   cudaMalloc+0x0 [libcudart.so.13]
 */
#include <inttypes.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "output/memleak/memleak.h"
#include "output/memleak/objects.h"
#include "output/memleak/pinned.h"
#include "output/memleak/printer.h"
#include "output/memleak/site.h"
#include "output/memleak/tensors.h"
#include "output/tensors_text.h"
#include "output/report/line.h"
#include "output/report/totals.h"

static void print_time(const struct memleak_printer *printer)
{
	char text[32];
	struct tm tm;

	if (localtime_r(&printer->model->wall.tv_sec, &tm) &&
	    strftime(text, sizeof(text), "%H:%M:%S", &tm))
		fprintf(printer->out, "[%s] ", text);
}

/* --- processes that run --- */

/* "; left out: 20.0 MiB in 10 allocations younger than 500 ms" */
static void print_left_out(const struct memleak_printer *printer, const struct memleak_sums *sums,
			   bool of_tensors)
{
	const struct memleak_options *options = printer->options;
	FILE *out = printer->out;
	const char * or = "";

	if (!sums->left_out_count)
		return;
	fputs("; left out: ", out);
	memleak_text__amount(printer, of_tensors, sums->left_out_bytes, sums->left_out_count);
	if (options->older_ns) {
		fprintf(out, " younger than %s", quantity__time((double)options->older_ns).text);
		or = " or";
	}
	if (options->some_sizes) {
		fprintf(out, "%s of other sizes", or);
		or = " or";
	}
	if (options->min_count)
		fprintf(out, "%s of call sites with fewer than %s", or,
			quantity__count(options->min_count).text);
}

/* ", 1 of them growing", or how long it takes to tell. */
static void print_growing(const struct memleak_printer *printer, const struct memleak_sums *sums)
{
	FILE *out = printer->out;

	if (!sums->sites)
		return;
	if (sums->too_early == sums->sites) {
		fprintf(out, ", too early to tell which grow: that takes %s (--window)",
			quantity__time((double)printer->options->verdict_ns).text);
		return;
	}
	fprintf(out, ", %s of them growing", memleak_text__count(printer, sums->growing).text);
	if (sums->too_early)
		fprintf(out, ", too early to tell of %s",
			memleak_text__count(printer, sums->too_early).text);
}

/* Sums over running processes, by level. */
struct all_sums {
	struct memleak_sums segments, tensors;
	size_t running, ended, with_segments, with_tensors;
};

/* "3 call sites with live tensors, 1 of them growing" */
static void print_sums(const struct memleak_printer *printer, const struct memleak_sums *sums,
		       bool of_tensors)
{
	FILE *out = printer->out;

	fprintf(out, "%s call site%s with live %s", memleak_text__count(printer, sums->sites).text,
		report_line__plural(sums->sites), of_tensors ? "tensors" : "device memory");
	print_growing(printer, sums);
	print_left_out(printer, sums, of_tensors);
	fputc('\n', out);
}

static void print_head(const struct memleak_printer *printer, const struct all_sums *all)
{
	bool with_tensors = all->with_tensors || printer->options->levels == MEMLEAK_TENSORS;
	size_t processes = printer->model->process_count;
	FILE *out = printer->out;

	print_time(printer);
	if (!processes && report_line__no_call(out, printer->model))
		return;
	if (!processes) {
		fputs(printer->model->final ? "no CUDA process was seen\n" :
					      "no CUDA process seen yet\n",
		      out);
		return;
	}
	if (with_tensors)
		print_sums(printer, &all->tensors, true);
	if (with_tensors && !all->with_segments)
		return;
	if (with_tensors)
		print_time(printer);
	print_sums(printer, &all->segments, false);
}

static void sum_level(const struct memleak_printer *printer, const struct memleak_level *level,
		      struct memleak_sums *all)
{
	const struct memleak_process known = {.process = level->process, .level = *level};
	struct memleak_sums sums;

	memleak_site__sum(printer->model, &known, printer->options, &sums);
	all->sites += sums.sites;
	all->growing += sums.growing;
	all->too_early += sums.too_early;
	saturate__add(&all->left_out_bytes, sums.left_out_bytes);
	all->left_out_count += sums.left_out_count;
}

static void sum_process(const struct memleak_printer *printer, const struct process *p,
			struct all_sums *all)
{
	struct memleak_level level;

	if (memleak_level__shows_tensors(p, printer->options)) {
		memleak_level__of_tensors(&level, p, printer->growth);
		sum_level(printer, &level, &all->tensors);
		all->with_tensors++;
	}
	if (memleak_level__shows_segments(p, printer->options)) {
		memleak_level__of_segments(&level, p, printer->growth);
		sum_level(printer, &level, &all->segments);
		all->with_segments++;
	}
}

typedef int print_level_fn(const struct memleak_printer *printer,
			   const struct memleak_level *level);

/* Prints the levels that are to be shown: tensors, segments or both. */
static int print_levels(const struct memleak_printer *printer, const struct process *p,
			print_level_fn *print)
{
	struct memleak_level level;
	int ret = 0;

	if (memleak_level__shows_tensors(p, printer->options)) {
		memleak_level__of_tensors(&level, p, printer->growth);
		ret = print(printer, &level);
	}
	if (!ret && memleak_level__shows_segments(p, printer->options)) {
		memleak_level__of_segments(&level, p, printer->growth);
		ret = print(printer, &level);
	}
	return ret;
}

static int print_level(const struct memleak_printer *printer, const struct memleak_level *level)
{
	struct memleak_process known;
	struct memleak_sums sums;
	int ret;

	if (level->tensors)
		memleak_tensors__print(printer->out, level->process, printer->options);
	ret = memleak_process__begin(&known, level, printer->options);
	if (ret)
		return ret;
	memleak_site__sum(printer->model, &known, printer->options, &sums);
	if (sums.sites)
		memleak_text__sites(printer, &known, sums);
	memleak_process__end(&known);
	return 0;
}

static int print_objects(const struct memleak_printer *printer, const struct process *p)
{
	if (printer->options->levels == MEMLEAK_TENSORS)
		return 0;
	return memleak_objects__print(printer->out, p, printer->growth->segments, printer->options);
}

/* Whether a line names the process: some of its sites are to be shown, or it has more to say. */
static bool is_named(const struct process *p, const struct memleak_options *options)
{
	if (memleak_level__shows_tensors(p, options))
		return true;
	for (size_t i = 0; i < p->live_site_count; i++)
		if (memleak_site__shows(&p->live_sites[i], options))
			return memleak_level__shows_segments(p, options);
	return false;
}

static int print_process(const struct memleak_printer *printer, const struct process *p, bool named)
{
	int ret;

	if ((named && is_named(p, printer->options)) || p->since_attach)
		report_line__process(printer->out, p);
	report_line__before_attach(printer->out, p, printer->options->form);
	ret = print_levels(printer, p, print_level);
	if (!ret && printer->options->levels != MEMLEAK_TENSORS)
		ret = memleak_pinned__print(printer, p);
	return ret ? ret : print_objects(printer, p);
}

static int print_running(const struct memleak_printer *printer)
{
	const struct model *model = printer->model;
	struct all_sums all = {.running = 0};
	int ret = 0;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		all.ended += p->ended && report__shows(p);
		if (p->ended)
			continue;
		all.running++;
		sum_process(printer, p, &all);
	}
	if (!all.running && all.ended)
		return 0;
	print_head(printer, &all);
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (!model->processes[i].ended)
			ret = print_process(printer, &model->processes[i],
					    all.running > 1 || model->processes[i].since_attach);
	return ret;
}

/* --- processes that ended --- */

static void print_end(const struct memleak_printer *printer, const struct memleak_process *known)
{
	const struct memleak_level *level = &known->level;
	enum loss untracked = memleak_site__untracked(printer->model, level->tensors);
	const struct process *p = known->process;
	const char *about = level->tensors ? tensors_text__about(p) : "";
	struct memleak_sums sums;
	FILE *out = printer->out;

	memleak_site__sum(printer->model, known, printer->options, &sums);
	print_time(printer);
	fprintf(out, "process %d (", p->pid);
	escape__text(out, p->comm);
	fprintf(out, ")%s ended: ", p->since_attach ? " since attach" : "");
	if (!level->at_exit_count) {
		fprintf(out, "no %s%s was live at exit",
			level->tensors ? "tensor" : "device memory",
			p->since_attach ? " allocated since attach" : "");
		if (untracked != LOSS_COUNT)
			memleak_text__untracked(printer, ", except perhaps of ", untracked);
		fputc('\n', out);
		report_line__before_attach(out, p, printer->options->form);
		return;
	}
	if (sums.count) {
		fputs(about, out);
		memleak_text__amount(printer, level->tensors, sums.bytes, sums.count);
		fputs(" leaked (live at exit)", out);
	}
	/* Allocations that the options leave out were live too; and an estimate is not exact. */
	if (level->at_exit_count > sums.count || *about) {
		fputs(sums.count ? ", of " : "left out: ", out);
		memleak_text__amount(printer, level->tensors, level->at_exit_bytes,
				     level->at_exit_count);
		fputs(sums.count ? "" : " live at exit", out);
	}
	fputc('\n', out);
	report_line__before_attach(out, p, printer->options->form);
	if (level->tensors)
		memleak_tensors__print(out, p, printer->options);
	memleak_text__sites(printer, known, sums);
}

static int print_ended_level(const struct memleak_printer *printer,
			     const struct memleak_level *level)
{
	struct memleak_process known;
	int ret = memleak_process__begin(&known, level, printer->options);

	if (ret)
		return ret;
	print_end(printer, &known);
	memleak_process__end(&known);
	return 0;
}

static void print_no_tensors(const struct memleak_printer *printer, const struct process *p)
{
	print_time(printer);
	fprintf(printer->out, "process %d (", p->pid);
	escape__text(printer->out, p->comm);
	fputs(") ended: no tensor was seen\n", printer->out);
}

static int print_ended(const struct memleak_printer *printer, const struct process *p)
{
	int ret;

	if (!p->tensors && printer->options->levels == MEMLEAK_TENSORS)
		print_no_tensors(printer, p);
	ret = print_levels(printer, p, print_ended_level);
	return ret ? ret : print_objects(printer, p);
}

int memleak_text__print(FILE *out, const struct model *model, const struct memleak_growth *growth,
			const struct memleak_options *options)
{
	const struct memleak_printer printer = {
		.out = out, .model = model, .growth = growth, .options = options};
	size_t unfollowed = growth__unfollowed(growth->segments);
	int ret = print_running(&printer);

	if (growth->tensors)
		unfollowed += growth__unfollowed(growth->tensors);
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (model->processes[i].ended && report__shows(&model->processes[i]))
			ret = print_ended(&printer, &model->processes[i]);
	if (unfollowed)
		fprintf(out,
			REPORT_INDENT "%zu call site%s more than gpuprobe can follow for growth\n",
			unfollowed, report_line__plural(unfollowed));
	if (model->process_count)
		report_line__no_call(out, model);
	report_line__evicted(out, model);
	report_line__losses(out, model);
	return ret;
}
