// SPDX-License-Identifier: BSD-2-Clause
// Looks at target processes that make no call, see silence.h.
#include "cli/commands/silence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dump/dump.h"

#define LOOKED_AT 8
#define REST_NS (10 * NS_PER_S)

struct silence {
	struct looker *looker;
	uint64_t looked_ns;
};

struct silence *silence__new(struct looker *looker)
{
	struct silence *silence = calloc(1, sizeof(*silence));

	if (silence)
		silence->looker = looker;
	return silence;
}

void silence__free(struct silence *silence)
{
	free(silence);
}

/* The program's innermost frame with a line: " (step, train.py:44)"; empty if there is none. */
static void describe_location(const struct dump_thread *thread, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = thread->beyond; i < thread->stack.count; i++) {
		const struct stack_frame *frame = &thread->stack.frames[i];
		const char *slash;

		if (!frame->function || !frame->file || !frame->line)
			continue;
		slash = strrchr(frame->file, '/');
		snprintf(text, size, " (%.40s, %.40s:%u)", frame->function,
			 slash ? slash + 1 : frame->file, frame->line);
		return;
	}
}

/* Searches the process and its descendants. */
static const struct dump_thread *find_in_cuda(const struct dump *dump)
{
	for (size_t i = 0; i < dump->count; i++)
		for (size_t k = 0; k < dump->processes[i].thread_count; k++)
			if (dump->processes[i].threads[k].call || dump->processes[i].threads[k].by)
				return &dump->processes[i].threads[k];
	return NULL;
}

static bool uses_cuda(const struct dump *dump)
{
	for (size_t i = 0; i < dump->count; i++)
		if (dump->processes[i].maps_cuda)
			return true;
	return false;
}

static void report_doing(const struct dump *dump, pid_t pid, char *text, size_t size)
{
	const struct dump_thread *thread = find_in_cuda(dump);
	char location[112];

	if (!thread && uses_cuda(dump)) {
		snprintf(text, size,
			 "none of its threads is in a CUDA call (gpuprobe dump -p %d shows them)",
			 (int)pid);
	} else if (!thread) {
		snprintf(text, size, "it has no CUDA library");
	} else {
		describe_location(thread, location, sizeof(location));
		snprintf(text, size, "thread %d (%s) is in %.48s%s", (int)thread->tid, thread->comm,
			 thread->call ? thread->call : thread->by, location);
	}
}

static void look_at(const struct silence *silence, struct target_process *process)
{
	const pid_t pid = process->pid;
	struct pid_list pids = {0};
	struct dump *dump = NULL;

	process->doing[0] = '\0';
	if (!dump_choice__make(&pid, 1, &pids))
		dump = looker__look(silence->looker, pids.pids, pids.count);
	pid_list__clear(&pids);
	if (dump && dump->count)
		report_doing(dump, pid, process->doing, sizeof(process->doing));
	dump__free(dump);
}

void silence__look(struct silence *silence, struct target_processes *targets, bool final)
{
	uint64_t now = clock__boot_ns();
	size_t looked_at = 0;

	if (!silence || !silent_targets__count(targets) ||
	    (!final && silence->looked_ns && now < silence->looked_ns + REST_NS))
		return;
	silence->looked_ns = now;
	for (size_t i = 0; i < targets->count && looked_at < LOOKED_AT; i++) {
		if (targets->processes[i].called)
			continue;
		looked_at++;
		look_at(silence, &targets->processes[i]);
	}
}
