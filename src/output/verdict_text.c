// SPDX-License-Identifier: BSD-2-Clause
// Who waits for whom, as a line a process: see verdict.h.
#include "base/escape.h"
#include "base/quantity.h"
#include "finding/verdict.h"
#include "output/reasons.h"
#include "output/report/totals.h"
#include "output/verdict.h"

static const char *sentence_of(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_GPU_BOUND:
		return "GPU-bound: the program waits for the GPU";
	case VERDICT_HOST_BOUND:
		return "host-bound: the GPU waits for the program";
	case VERDICT_NO_WORK:
		return "idle: the program gives the GPU nothing to do";
	default:
		return verdict->window_ns ? "it cannot be told who waits for whom" :
					    "watched for too short a time to tell who waits for whom";
	}
}

/* ": of 60.0 s it waits for the GPU 2.0 %, busy about 15 % (NVML)" */
static void print_waits(FILE *out, const struct verdict *verdict)
{
	fprintf(out, ": of %s it waits for the GPU %s", quantity__time((double)verdict->window_ns).text,
		quantity__share(verdict->held).text);
	if (verdict->busy != SHARE_UNKNOWN)
		fprintf(out, ", the GPU is busy about %s (NVML)", quantity__share(verdict->busy).text);
	if (verdict->kind == VERDICT_UNKNOWN)
		fputs("; --verdict finds out more", out);
}

/* ": idle at least 71 % of 12 s (proved), busy about 15 % (NVML), held up by the GPU 2 %" */
static void print_shares(FILE *out, const struct verdict *verdict)
{
	fprintf(out, ": of %s", quantity__time((double)verdict->window_ns).text);
	if (verdict->idle > 0)
		fprintf(out, " the GPU is idle at least %s (proved)", quantity__share(verdict->idle).text);
	else
		fputs(" no idle time of the GPU is proved", out);
	if (verdict->busy != SHARE_UNKNOWN)
		fprintf(out, ", busy about %s (NVML)", quantity__share(verdict->busy).text);
	fprintf(out, "; the GPU holds the program up %s", quantity__share(verdict->held).text);
}

void verdict_text__print_line(FILE *out, const struct process *process, const struct verdict *verdict)
{
	fprintf(out, "process %d (", process->pid);
	escape__text(out, process->comm);
	fprintf(out, "): %s", sentence_of(verdict));
	if (verdict->window_ns && verdict->kind != VERDICT_NO_WORK && verdict->account)
		print_shares(out, verdict);
	else if (verdict->window_ns && verdict->kind != VERDICT_NO_WORK)
		print_waits(out, verdict);
	fputc('\n', out);
}

size_t verdict_text__print(FILE *out, const struct stat_report *report)
{
	const struct model *model = report->model;
	size_t printed = 0;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];
		struct verdict verdict;

		if (!process->account || !report__shows(process))
			continue;
		verdict__judge(report->state, model, process, &verdict);
		if (!verdict.window_ns)
			continue;
		verdict_text__print_line(out, process, &verdict);
		reasons_text__print(out, process);
		printed++;
	}
	return printed;
}
