// SPDX-License-Identifier: BSD-2-Clause
// Looks at processes that make no call, see silence.h.
#include "cli/silence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dump/dump.h"
#include "target/memory_reader.h"

#define LOOKED_AT 8
#define REST_NS (10 * NS_PER_S)

struct silence {
	const struct log *log;
	struct memory_reader *memory;
	struct dumper *dumper; /* NULL: not yet, or it cannot be */
	bool refused;
	uint64_t looked_ns;
};

struct silence *silence__new(const struct log *log)
{
	struct silence *silence = calloc(1, sizeof(*silence));

	if (silence)
		silence->log = log;
	return silence;
}

void silence__free(struct silence *silence)
{
	if (!silence)
		return;
	dumper__free(silence->dumper);
	memory_reader__free(silence->memory);
	free(silence);
}

static bool load(struct silence *silence)
{
	struct error err = {0};

	if (silence->dumper || silence->refused)
		return silence->dumper;
	silence->memory = memory_reader__new(silence->log);
	silence->refused = !silence->memory || dumper__new(silence->memory, silence->log, &silence->dumper, &err);
	if (silence->refused)
		log__info(silence->log, "what silent processes are in is not known: %s", err.text);
	return silence->dumper;
}

/* The program's innermost frame: " (step, train.py:44)"; empty where none has a line. */
static void tell_place(const struct dump_thread *thread, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = thread->beyond; i < thread->stack.count; i++) {
		const struct stack_frame *frame = &thread->stack.frames[i];
		const char *slash;

		if (!frame->function || !frame->file || !frame->line)
			continue;
		slash = strrchr(frame->file, '/');
		snprintf(text, size, " (%.40s, %.40s:%u)", frame->function, slash ? slash + 1 : frame->file, frame->line);
		return;
	}
}

static void tell_doing(const struct dump_process *process, char *text, size_t size)
{
	const struct dump_thread *thread = process->threads;
	char place[112];

	for (size_t i = 0; i < process->thread_count; i++, thread++) {
		if (!thread->call && !thread->by)
			continue;
		tell_place(thread, place, sizeof(place));
		snprintf(text, size, "thread %d (%s) is in %.48s%s", (int)thread->tid, thread->comm,
			 thread->call ? thread->call : thread->by, place);
		return;
	}
	if (process->maps_cuda)
		snprintf(text, size, "none of its threads is in one (gpuprobe dump -p %d)", (int)process->process->pid);
	else
		snprintf(text, size, "it has no CUDA library");
}

static void tell(struct asked_processes *asked, const struct dump *dump)
{
	for (size_t i = 0; i < asked->count; i++) {
		struct asked_process *process = &asked->processes[i];

		process->doing[0] = '\0';
		for (size_t k = 0; k < dump->count; k++)
			if (dump->processes[k].process->pid == process->pid)
				tell_doing(&dump->processes[k], process->doing, sizeof(process->doing));
	}
}

void silence__look(struct silence *silence, struct asked_processes *asked, bool final)
{
	uint64_t now = clock__boot_ns();
	pid_t pids[LOOKED_AT];
	struct dump_request request = {.pids = pids, .since_ns = now, .threads_alone = true};
	struct dump *dump = NULL;

	if (!silence || !asked__silent(asked) || (!final && silence->looked_ns && now < silence->looked_ns + REST_NS))
		return;
	silence->looked_ns = now;
	for (size_t i = 0; i < asked->count && request.count < LOOKED_AT; i++)
		if (!asked->processes[i].called)
			pids[request.count++] = asked->processes[i].pid;
	if (!load(silence) || dumper__take(silence->dumper, &request, &dump))
		return;
	tell(asked, dump);
	dump__free(dump);
}
