// SPDX-License-Identifier: BSD-2-Clause
// The steps of a process and who waits for whom, as text, see verdict.h.
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "base/text_stream.h"
#include "finding/verdict.h"
#include "model/gpu_label.h"
#include "output/clip.h"
#include "output/command_text.h"
#include "output/finding/findings.h"
#include "output/finding/gpu_work.h"
#include "output/finding/reasons.h"
#include "output/report/parts.h"
#include "output/report/totals.h"
#include "output/finding/verdict.h"
#include "output/wrap.h"

#define COMMAND_COLUMNS 60
#define SEVERAL_THREADS 1.5
#define SHOWN_SHARE 0.001 /* smallest share that prints as a number */

static const char *sentence_of(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_GPU_BOUND: return "the program waits for the GPU (GPU-bound)";
	case VERDICT_HOST_BOUND:
		return verdict->beside.pid ?
			       "the program gives the GPU too little to do (host-bound)" :
			       "the GPU waits for the program (host-bound)";
	case VERDICT_OTHERS:
		return verdict->collectives ? "the program waits in collective operations for " :
					      "the program waits for its work from ";
	case VERDICT_NO_WORK:
		if (verdict->stopped >= SHOWN_SHARE)
			return "the program does nothing (no work)";
		return verdict->requests ? "the program waits for requests (no work)" :
					   "the program gives the GPU nothing to do (no work)";
	default:
		return verdict->window_ns ?
			       "it is unclear who waits for whom" :
			       "it was steady for too short a time to tell who waits for whom";
	}
}

/* ": the program waits for the GPU for 2.0 % of 60.0 s, busy about 15 % (NVML)" */
static void print_waits(FILE *out, const struct verdict *verdict)
{
	if (verdict->kind == VERDICT_UNKNOWN)
		fputs(" (use --verdict to find out more)", out);
	fprintf(out, ": the program waits for the GPU for %s of %s",
		quantity__share(verdict->held).text,
		quantity__time((double)verdict->window_ns).text);
	if (verdict->busy != SHARE_UNKNOWN)
		fprintf(out, ", the GPU is busy about %s (NVML)",
			quantity__share(verdict->busy).text);
}

/* "process 4712 (train)" */
static void print_other(FILE *out, const struct verdict_other *other)
{
	fprintf(out, "process %d", other->pid);
	if (!*other->comm)
		return;
	fputs(" (", out);
	escape__text(out, other->comm);
	fputc(')', out);
}

/* "; process 4712 (train) uses the GPU, too; it was idle at least 12.0 % (proved)" */
static void print_beside(FILE *out, const struct verdict *verdict)
{
	if (!verdict->beside.pid)
		return;
	fputs("; ", out);
	print_other(out, &verdict->beside);
	fputs(*verdict->beside.comm ? " uses the GPU, too" : " has memory on the GPU, too", out);
	if (verdict->idle >= SHOWN_SHARE)
		fprintf(out, "; the GPU was idle at least %s (proved)",
			quantity__share(verdict->idle).text);
}

/* The wording depends on the subject of the sentence. */
static const char *idle_words(const struct verdict *verdict)
{
	bool shared = verdict->beside.pid;

	if (verdict->kind == VERDICT_HOST_BOUND)
		return shared ? "nothing for" : "idle";
	return shared ? "it has no work on the GPU for" : "the GPU is idle";
}

/*
 * "; the GPU holds the program up for 2.0 % of 60.0 s", or its threads for a share of their time.
 */
static void print_held(FILE *out, const struct verdict *verdict)
{
	const struct quantity window = quantity__time((double)verdict->window_ns);

	if (verdict->threads < SEVERAL_THREADS)
		fprintf(out, "; the GPU holds the program up for %s of %s",
			quantity__share(verdict->held).text, window.text);
	else
		fprintf(out, "; the GPU holds each of its %.0f threads up for %s of %s on average",
			verdict->threads, quantity__share(verdict->thread_held).text, window.text);
}

/*
 * ": idle at least 71.0 % of the steady time (proved), busy about 15.0 % (NVML), holding the
 * program up 2.0 % of it". `of` names the time.
 */
static void print_shares(FILE *out, const struct verdict *verdict, const char *of)
{
	if (verdict->exact_ns)
		fprintf(out, ": GPU %u is busy %s and idle %s of %s (exact, by GPU times)",
			verdict->exact_device, quantity__share(verdict->exact).text,
			quantity__share(1 - verdict->exact).text,
			quantity__time((double)verdict->exact_ns).text);
	else if (verdict->unfed >= SHOWN_SHARE)
		fprintf(out, ": %s at least %s of %s (proved)", idle_words(verdict),
			quantity__share(verdict->unfed).text, of);
	else
		fputs(": the GPU has no proved idle time", out);
	if (verdict->busy != SHARE_UNKNOWN)
		fprintf(out, ", busy about %s (NVML)", quantity__share(verdict->busy).text);
	print_held(out, verdict);
}

static void print_sentence(FILE *out, const struct verdict *verdict, const char *of)
{
	fputs(sentence_of(verdict), out);
	if (verdict->kind == VERDICT_OTHERS)
		print_other(out, &verdict->awaited);
	if (verdict->window_ns && verdict->kind != VERDICT_NO_WORK) {
		if (verdict->profile)
			print_shares(out, verdict, of);
		else
			print_waits(out, verdict);
		print_beside(out, verdict);
	}
	if (verdict->stopped >= SHOWN_SHARE)
		fprintf(out, "; it was stopped for %s of the time, by a signal or a debugger",
			quantity__share(verdict->stopped).text);
}

/* Prints wrapped lines; nothing without memory. */
static void print_verdict(FILE *out, const struct verdict *verdict, size_t width)
{
	char *text = NULL;
	size_t length = 0;
	FILE *sentence = text_stream__open(&text, &length);

	if (!sentence)
		return;
	print_sentence(sentence, verdict, "the steady time");
	if (!fclose(sentence))
		wrap__print(out, text, 0, 2, wrap__width(width));
	free(text);
}

void verdict_text__print_sentence(FILE *out, const struct verdict *verdict)
{
	print_sentence(out, verdict, "the time");
}

/* ", GPU 0": the GPU that waits or is waited for. Prints nothing if it is unknown. */
static void print_gpu(FILE *out, const struct model *model, const struct process *process,
		      const struct verdict *verdict)
{
	char label[GPU_LABEL_SIZE];

	for (size_t i = 0; i < process->gpu_count; i++) {
		const struct gpu *gpu = gpu_label__find(model, &process->gpus[i]);

		if (!gpu || (process->gpus[i].ordinal != verdict->device && process->gpu_count > 1))
			continue;
		gpu_label(gpu, label);
		fprintf(out, ", GPU %s", label);
		return;
	}
}

/*
 * If the program waits for the GPU or has nothing to do, the reasons of its threads do not matter.
 */
static bool needs_reasons(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_GPU_BOUND:
	case VERDICT_NO_WORK: return false;
	case VERDICT_OTHERS: return !verdict->collectives;
	default: return true;
	}
}

static void print_process(FILE *out, const struct stat_report *report,
			  const struct process *process)
{
	const struct model *model = report->model;
	struct verdict verdict;

	verdict__judge(model, process, &verdict);
	if (!verdict.window_ns && !report_steps__knows(process))
		return;
	fprintf(out, "\nprocess %d (", process->pid);
	clip__print(out,
		    process->command[0] ? command_text__without_folder(process->command) :
					  process->comm,
		    report->options->on_terminal ? COMMAND_COLUMNS : CLIP_WHOLE);
	fputc(')', out);
	print_gpu(out, model, process, &verdict);
	fputs(": ", out);
	report_steps__line(out, process, report->options->form);
	fputc('\n', out);
	print_verdict(out, &verdict, stat__width(report));
	if (report->gpu_work)
		gpu_work_text__print(out, report, process);
	if (verdict.kind == VERDICT_UNKNOWN && verdict.window_ns &&
	    process__is_estimated(process, RATE_LAUNCH))
		fputs("launches are sampled: --max-overhead off finds out more\n", out);
	if (needs_reasons(&verdict) &&
	    !findings_text__has_reasons(report->findings, report->options->top, process))
		reasons_text__print(out, process, model->now_ns, report->options->form);
}

void verdict_text__print(FILE *out, const struct stat_report *report)
{
	const struct model *model = report->model;

	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].profile && report__shows(&model->processes[i]))
			print_process(out, report, &model->processes[i]);
}
