// SPDX-License-Identifier: BSD-2-Clause
// The text of `gpuprobe dump`, see dump.h.
#include "base/escape.h"
#include "base/quantity.h"
#include "output/clip.h"
#include "output/dump/dump.h"
#include "model/dump_before.h"
#include "output/dump/parts.h"
#include "output/dump/short_stack.h"
#include "output/frame_text.h"

#define THREAD_INDENT 2
#define STACK_INDENT 6

/* A process and the layout of its threads' lines. */
struct page {
	FILE *out;
	const struct dump_view *view;
	const struct dump_process *process;
	const struct dump_process *before; /* the same process in the first dump, or NULL */
	int tid_width, comm_width;
};

/* Whether the thread gets its own line. */
static bool is_shown(const struct page *page, const struct dump_thread *thread)
{
	return page->view->all || dump_thread__in_cuda(thread) ||
	       thread->tid == page->process->process->pid ||
	       short_stack__has_python(&thread->stack);
}

static void measure(struct page *page)
{
	for (size_t i = 0; i < page->process->thread_count; i++) {
		const struct dump_thread *thread = &page->process->threads[i];
		int tid = snprintf(NULL, 0, "%d", thread->tid), comm = clip__columns(thread->comm);

		if (!is_shown(page, thread))
			continue;
		page->tid_width = tid > page->tid_width ? tid : page->tid_width;
		page->comm_width = comm > page->comm_width ? comm : page->comm_width;
	}
}

static void print_stack(const struct page *page, const struct dump_thread *thread)
{
	bool known = !thread->no_stack && thread->stack.count;

	if (page->view->all_frames || !known)
		frame_text__print_stack(page->out, known ? &thread->stack : NULL, STACK_INDENT);
	else
		short_stack__print(page->out, &thread->stack, thread->beyond, thread->ends,
				   STACK_INDENT, page->view->on_terminal);
}

static void print_thread(const struct page *page, const struct dump_thread *thread)
{
	int comm = clip__columns(thread->comm);

	fprintf(page->out, "%*sthread %*d ", THREAD_INDENT, "", page->tid_width, thread->tid);
	escape__text(page->out, thread->comm);
	fprintf(page->out, "%*s  ", page->comm_width - comm, "");
	dump_thread__print(page->out, thread);
	if (dump_before__motion(page->before, thread) == DUMP_STANDS)
		fputs(", has not moved", page->out);
	fputc('\n', page->out);
	print_stack(page, thread);
}

static void print_unseen(FILE *out, size_t unseen)
{
	if (unseen)
		fprintf(out, "%*s%zu more thread%s that gpuprobe did not look at\n", THREAD_INDENT,
			"", unseen, unseen == 1 ? "" : "s");
}

void dump_text__print_threads(FILE *out, const struct dump_process *process,
			      const struct dump_view *view)
{
	struct dump_rest rest = {0};
	struct page page = {
		.out = out,
		.view = view,
		.process = process,
		.before = dump_before__process(view->before, process),
	};

	measure(&page);
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct dump_thread *thread = &process->threads[i];

		if (is_shown(&page, thread))
			print_thread(&page, thread);
		else
			dump_rest__add(&rest, thread, dump_before__motion(page.before, thread));
	}
	dump_rest__print(out, &rest, THREAD_INDENT);
	print_unseen(out, process->unseen);
}

void dump_text__print(FILE *out, const struct dump *dump, const struct dump_view *view)
{
	if (!dump->count) {
		fputs("no process to show: none uses CUDA, or the given ones have ended\n", out);
		return;
	}
	if (view->before)
		fprintf(out,
			"%s after the first dump; a thread that has not moved has the same call "
			"and stack in both\n\n",
			quantity__time_as(view->form, dump_before__ns(view->before, dump)).text);
	for (size_t i = 0; i < dump->count; i++) {
		if (i)
			fputc('\n', out);
		dump_head__print(out, &dump->model, &dump->processes[i], view);
		dump_text__print_threads(out, &dump->processes[i], view);
	}
	if (dump->nvml_timed_out)
		fprintf(out, "\n" GPU_TIMED_OUT "\n", GPU_WAIT_MS / 1000);
}
