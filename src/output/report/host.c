// SPDX-License-Identifier: BSD-2-Clause
// What threads did with their time as text, see host.h.
#include "output/report/host.h"

#include <inttypes.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "model/host.h"
#include "model/user_line.h"
#include "output/frame_text.h"
#include "output/clip.h"
#include "output/report/line.h"
#include "output/report/totals.h"

#define REASONS_SHOWN 8
#define SHOWN_SHARE 100 /* one hundredth of the time is worth a line */
#define CALLERS_SHOWN 2
#define HOPS_SHOWN 3 /* from a thread that waits to those that it waits for */
#define FILE_COLUMNS 70
#define TEXT_COLUMNS 30 /* of a name of the program's */

static const char *words_of(const struct host_reason *reason)
{
	static const char *const classes[HOST_CLASSES] = {
		[HOST_LAUNCHES] = "in launches",
		[HOST_MEMORY] = "in allocations",
		[HOST_MODULE] = "in loads of modules",
		[HOST_CAPTURE] = "in captures",
		[HOST_COPIES] = "in copies",
		[HOST_WAITS] = "waits for the GPU",
		[HOST_CALLS] = "in CUDA calls",
	};
	static const char *const kinds[HOST_KINDS] = {
		[HOST_CPU] = "on the CPU",
		[HOST_LOCK] = "waits for a lock",
		[HOST_GIL] = "waits for the GIL",
		[HOST_QUEUE] = "waits for data",
		[HOST_DISK] = "waits for a disk",
		[HOST_FAULT] = "waits for a page",
		[HOST_SLEEP] = "sleeps",
		[HOST_READY] = "has no CPU",
		[HOST_THROTTLED] = "at its CPU limit",
		[HOST_STOPPED] = "is stopped",
		[HOST_OTHER] = "in a system call",
	};

	return reason->class == HOST_OUTSIDE || reason->kind == HOST_READY || reason->kind == HOST_THROTTLED ?
		       kinds[reason->kind] :
		       classes[reason->class];
}

/* "normalise (train.py:31)", "hold (lock.c:20)", "memcpy [libc.so.6]" */
static void print_frame(FILE *out, const struct stack_frame *frame)
{
	if (frame->function)
		clip__print(out, frame->function, TEXT_COLUMNS);
	if (frame->file) {
		fputs(" (", out);
		clip__print(out, frame_text__base_name(frame->file), TEXT_COLUMNS);
		if (frame->line)
			fprintf(out, ":%" PRIu32, frame->line);
		fputc(')', out);
	} else if (frame->object) {
		fputs(frame->function ? " [" : "[", out);
		clip__print(out, frame->object, TEXT_COLUMNS);
		fputc(']', out);
	}
}

static void print_line(FILE *out, const struct host_reason *reason)
{
	uint32_t at = reason->frame;

	if (!reason->stack)
		return;
	fputs("  ", out);
	print_frame(out, &reason->line);
	for (int i = 0; i < CALLERS_SHOWN; i++) {
		at = user_line__caller(reason->stack, at);
		if (at >= reason->stack->count)
			return;
		fputs(" < ", out);
		if (reason->stack->frames[at].function)
			clip__print(out, reason->stack->frames[at].function, TEXT_COLUMNS);
	}
}

/* The reason with the most time of a thread that others wait for. */
static void print_doing(FILE *out, const struct host_thread *thread)
{
	if (!thread->reason_count || !thread->watched_ns)
		return;
	fprintf(out, ": %s %s", quantity__share((double)thread->reasons[0].ns / (double)thread->watched_ns).text,
		words_of(&thread->reasons[0]));
	print_line(out, &thread->reasons[0]);
}

static void print_partner(FILE *out, const char *what, const struct host_partner *partner)
{
	fprintf(out, REPORT_INDENT REPORT_INDENT "%s ", what);
	clip__print(out, partner->comm, HOST_COMM_SIZE);
	fprintf(out, " (%d)", partner->tid ? partner->tid : partner->pid);
}

/* Who ends the wait, what that one does, and so on where it waits, too. */
static void print_wakers(FILE *out, const struct host_process *process, const struct host_reason *reason)
{
	for (int hop = 0; hop < HOPS_SHOWN && reason->waker.count; hop++) {
		size_t waker = reason->waker.thread;

		print_partner(out, "until", &reason->waker);
		if (waker < process->thread_count)
			print_doing(out, &process->threads[waker]);
		fputc('\n', out);
		if (waker >= process->thread_count || !process->threads[waker].reason_count)
			return;
		reason = &process->threads[waker].reasons[0];
	}
}

static void print_partners(FILE *out, const struct host_process *process, const struct host_reason *reason)
{
	const struct host_thread *thread = &process->threads[reason->thread];

	print_wakers(out, process, reason);
	if (reason->kind == HOST_DISK && *thread->reads[0].name) {
		fputs(REPORT_INDENT REPORT_INDENT "most for ", out);
		clip__print(out, thread->reads[0].name, FILE_COLUMNS);
		fputc('\n', out);
	}
	if (reason->kind != HOST_READY || !thread->rivals[0].count)
		return;
	print_partner(out, "while others run, first of all", &thread->rivals[0]);
	fputc('\n', out);
}

static void print_reason(FILE *out, const struct host_process *process, const struct host_reason *reason)
{
	fprintf(out, REPORT_INDENT "%7s %8s  %s", quantity__share((double)reason->ns / (double)process->watched_ns).text,
		quantity__time((double)reason->ns).text, words_of(reason));
	if (reason->call_name)
		fprintf(out, " %s", reason->call_name);
	print_line(out, reason);
	fputc('\n', out);
	if (reason->thread < process->thread_count)
		print_partners(out, process, reason);
}

static size_t count_submitters(const struct host_process *process)
{
	size_t count = 0;

	while (count < process->thread_count && process->threads[count].submits)
		count++;
	return count;
}

static void print_process(FILE *out, const struct process *p, const struct host_process *process)
{
	size_t threads = count_submitters(process);

	fprintf(out, "\nprocess %d (", p->pid);
	escape__text(out, p->comm);
	fprintf(out, "): what %s did in %s, waits for the GPU left out, %s known\n",
		threads == 1 ? "the thread that submits work" : "the threads that submit work",
		quantity__time((double)process->watched_ns).text,
		quantity__share((double)process->known_ns / (double)process->watched_ns).text);
	for (size_t i = 0; i < process->reason_count && i < REASONS_SHOWN; i++)
		if (process->reasons[i].ns * SHOWN_SHARE >= process->watched_ns)
			print_reason(out, process, &process->reasons[i]);
}

void report_host__print(FILE *out, const struct model *model)
{
	if (!model->host || !model->host->asked)
		return;
	if (model->host->lack)
		fprintf(out, "\nwhat threads do between their calls is not known: %s\n", model->host->lack);
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];
		const struct host_process *process = host_side__find(model->host, p->pid, p->start_ns);

		if (process && process->watched_ns && process->reason_count && report__shows(p))
			print_process(out, p, process);
	}
}
