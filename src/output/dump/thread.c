// SPDX-License-Identifier: BSD-2-Clause
// One thread in words, see parts.h.
#include "output/dump/parts.h"

#include "base/escape.h"
#include "output/function_text.h"

static void print_call(FILE *out, const struct dump_thread *thread)
{
	fputs("in ", out);
	if (thread->by)
		function_text__print_sentence(out, thread->by);
	if (thread->by && thread->call)
		fputs(": ", out);
	if (thread->call)
		function_text__print_sentence(out, thread->call);
	fputs(", ", out);
}

static void print_gil(FILE *out, const struct dump_waiting *waiting)
{
	fputs(dump_words__wait(DUMP_WAIT_GIL, false), out);
	if (!waiting->other)
		return;
	fprintf(out, ", held by thread %d", waiting->other);
	if (waiting->other_comm[0])
		fputc(' ', out);
	escape__text(out, waiting->other_comm);
}

static void print_child(FILE *out, const struct dump_waiting *waiting)
{
	if (!waiting->other) {
		fputs(dump_words__wait(DUMP_WAIT_CHILD, false), out);
		return;
	}
	fprintf(out, "waits for child %d", waiting->other);
	if (!waiting->other_comm[0])
		return;
	fputs(" (", out);
	escape__text(out, waiting->other_comm);
	fputc(')', out);
}

/* Prints the wait, and the file behind the descriptor if it is known. */
static void print_object(FILE *out, const struct dump_waiting *waiting)
{
	fputs(dump_words__wait(waiting->kind, false), out);
	if (!waiting->object[0])
		return;
	fputs(" (", out);
	escape__text(out, waiting->object);
	fputc(')', out);
}

static void print_files(FILE *out, const struct dump_waiting *waiting)
{
	print_object(out, waiting);
	if (waiting->name)
		fputs(": ", out);
	escape__text(out, waiting->name);
}

static void print_system_call(FILE *out, const struct dump_waiting *waiting)
{
	if (!waiting->name) {
		fputs(dump_words__wait(DUMP_WAIT_OTHER, false), out);
		return;
	}
	fputs("waits in the system call ", out);
	escape__text(out, waiting->name);
}

static void print_wait(FILE *out, const struct dump_waiting *waiting)
{
	switch (waiting->kind) {
	case DUMP_WAIT_GIL: print_gil(out, waiting); return;
	case DUMP_WAIT_CHILD: print_child(out, waiting); return;
	case DUMP_WAIT_FILES: print_files(out, waiting); return;
	case DUMP_WAIT_OTHER: print_system_call(out, waiting); return;
	default: print_object(out, waiting);
	}
}

/* Inside a CUDA call, sleeping and file waits are details of its implementation. */
static bool is_reported(const struct dump_thread *thread)
{
	enum dump_wait kind = thread->waiting.kind;

	return kind != DUMP_WAIT_NONE &&
	       !(dump_thread__in_cuda(thread) &&
		 (kind == DUMP_WAIT_SLEEP || kind == DUMP_WAIT_FILES || kind == DUMP_WAIT_FILE));
}

void dump_thread__print(FILE *out, const struct dump_thread *thread)
{
	bool in_cuda = dump_thread__in_cuda(thread), waits = is_reported(thread);

	if (in_cuda)
		print_call(out, thread);
	/* Outside CUDA the wait implies that the thread sleeps. */
	if (in_cuda || !dump_thread__waits(thread))
		fputs(dump_words__run(thread->run), out);
	if (waits && (in_cuda || !dump_thread__waits(thread)))
		fputs(", ", out);
	if (waits)
		print_wait(out, &thread->waiting);
	if (thread->approximate)
		fputs(" (stack of some ms ago)", out);
}
