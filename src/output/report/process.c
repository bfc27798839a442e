// SPDX-License-Identifier: BSD-2-Clause
// The identity of processes in the text report, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "base/escape.h"
#include "model/gpu_label.h"
#include "model/slow_calls.h"
#include "output/report/line.h"
#include "output/report/totals.h"

static void print_identity(FILE *out, const struct process *p)
{
	fputs(REPORT_INDENT "user ", out);
	escape__text(out, p->user);
	if (p->parent)
		fprintf(out, ", parent %d", p->parent);
	else
		fputs(", parent unknown", out);
	if (p->namespace_pid && p->namespace_pid != p->pid)
		fprintf(out, ", own pid %d", p->namespace_pid);
	fputc('\n', out);
	if (!p->cgroup_known)
		fputs(REPORT_INDENT "container unknown\n", out);
	if (p->pod[0])
		fprintf(out, REPORT_INDENT "pod %s\n", p->pod);
	if (p->container[0])
		fprintf(out, REPORT_INDENT "container %s\n", p->container);
}

static void print_gpu(FILE *out, const struct model *model, const struct process_gpu *g)
{
	const struct gpu *gpu = gpu_label__find(model, g);
	char label[GPU_LABEL_SIZE];

	fputs(REPORT_INDENT, out);
	if (g->ordinal != GPU_NONE)
		fprintf(out, "device %d: ", g->ordinal);
	if (!gpu) {
		fputs("GPU unknown\n", out);
		return;
	}
	gpu_label(gpu, label);
	fprintf(out, "GPU %s (", label);
	escape__text(out, gpu->name);
	fputs(", ", out);
	escape__text(out, gpu->uuid[0] ? gpu->uuid : "UUID unknown");
	fputc(')', out);
	if (g->used_bytes != GPU_UNKNOWN_BYTES)
		fprintf(out, ", NVML %" PRIu64 " Bytes", g->used_bytes);
	if (g->untracked_bytes != GPU_UNKNOWN_BYTES)
		fprintf(out,
			" - tracked %" PRIu64 " = untracked %" PRIu64 " (context, code, libraries)",
			g->used_bytes - g->untracked_bytes, g->untracked_bytes);
	fputc('\n', out);
}

/* Explains why less is known about some calls. */
static void print_unfollowed(FILE *out, const struct model *model, const struct process *p)
{
	uint64_t calls = p->unfollowed.calls;

	if (!calls)
		return;
	fprintf(out,
		REPORT_INDENT "returns not followed: %" PRIu64
			      " call%s, whose results and durations are unknown",
		calls, report_line__plural(calls));
	fputs(model->no_returns ? " (--no-return-probes)\n" :
				  " (its threads switch stacks inside calls)\n",
	      out);
}

static void print_library(FILE *out, const char *path)
{
	if (path)
		escape__text(out, path);
	else
		fputs("a library unknown", out);
}

/* Says which library the shown calls belong to. */
static void print_shim(FILE *out, const struct process *p)
{
	if (!p->shim_number)
		return;
	fputs(REPORT_INDENT, out);
	print_library(out, p->shim);
	fputs(" stands in front of ", out);
	print_library(out, p->driver);
	fputs(": a call through both is counted once, as the function of the first\n", out);
}

/* Prints what the maps had no room for. */
static void print_lost(FILE *out, const struct process *p)
{
	if (p->other_calls || p->other_call_failures)
		fprintf(out,
			REPORT_INDENT "calls of functions unknown, for want of room: %" PRIu64
				      ", and %" PRIu64 " that failed\n",
			p->other_calls, p->other_call_failures);
	if (p->lost_notices)
		fprintf(out,
			REPORT_INDENT "notices lost, beyond its share of the ring: %" PRIu64 "\n",
			p->lost_notices);
}

/* Prints the cost of functions that cannot have a cheap probe. */
static void print_slow(FILE *out, const struct model *model, const struct process *p)
{
	struct slow_calls slow;

	slow_calls__sum(model, p, &slow);
	if (!slow.calls)
		return;
	fprintf(out,
		REPORT_INDENT "probes that the kernel must single-step: %" PRIu64 " call%s of %s",
		slow.calls, report_line__plural(slow.calls), slow.function);
	if (slow.functions > 1)
		fprintf(out, " and %zu more", slow.functions - 1);
	fprintf(out, ", some %d us each: ", SLOW_PROBE_NS / 1000);
	report_line__seconds(out, slow.calls * SLOW_PROBE_NS);
	fputs(" of its time\n", out);
}

/* Prints counts of the watched sections on one device. */
static void print_device(FILE *out, unsigned int sections, const struct process *p,
			 const struct device_totals *d)
{
	const char *separator = "";

	if (d->device == DEVICE_UNKNOWN)
		fputs(REPORT_INDENT "on a device unknown: ", out);
	else
		fprintf(out, REPORT_INDENT "on device %u: ", d->device);
	if (sections & SECTION_MEMORY) {
		fprintf(out, "%" PRIu64 " Bytes live%s%s", d->live_bytes,
			p->ended ? " at exit" : "",
			p->since_attach ? ", of those allocated since attach" : "");
		separator = ", ";
	}
	if (sections & SECTION_LAUNCH) {
		fprintf(out, "%s%s%" PRIu64 " launch%s", separator,
			report_sampling__mark(p, RATE_LAUNCH), d->launches,
			d->launches == 1 ? "" : "es");
		separator = ", ";
	}
	if (sections & SECTION_COPY) {
		const char *mark = report_sampling__mark(p, RATE_COPY);

		fprintf(out, "%s%s%" PRIu64 " %s of %s%" PRIu64 " Bytes", separator, mark,
			d->copies, d->copies == 1 ? "copy or set" : "copies and sets", mark,
			d->copy_bytes);
	}
	fputc('\n', out);
}

static void print_steps(FILE *out, const struct process *p)
{
	if (!report_steps__knows(p))
		return;
	fputs(REPORT_INDENT, out);
	report_steps__line(out, p, QUANTITY_ROUNDED);
	fputc('\n', out);
}

void report_process__notes(FILE *out, const struct model *model, const struct process *process)
{
	print_shim(out, process);
	print_unfollowed(out, model, process);
	print_slow(out, model, process);
	print_lost(out, process);
}

void report_process__print(FILE *out, const struct model *model)
{
	bool first = true;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !p->identified)
			continue;
		if (first)
			fputs("\nprocesses:\n", out);
		first = false;
		report_line__process(out, p);
		print_identity(out, p);
		print_steps(out, p);
		for (size_t k = 0; k < p->gpu_count; k++)
			print_gpu(out, model, &p->gpus[k]);
		for (size_t k = 0; k < p->device_count; k++)
			print_device(out,
				     model->no_returns ? model->sections & SECTION_LAUNCH :
							 model->sections,
				     p, &p->devices[k]);
		report_process__notes(out, model, p);
	}
}
