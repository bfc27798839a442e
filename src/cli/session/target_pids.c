// SPDX-License-Identifier: BSD-2-Clause
// Tracks which target processes have called CUDA, see target_pids.h.
#include "cli/session/target_pids.h"

#include <stdio.h>

#include "target/proc.h"

#define GENERATIONS_MAX 64

static struct target_process *find(const struct target_processes *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->count; i++)
		if (targets->processes[i].pid == pid)
			return &targets->processes[i];
	return NULL;
}

void target_pids__add(struct target_processes *targets, pid_t pid)
{
	struct target_process *process = &targets->processes[targets->count];
	struct process_info info;

	if (find(targets, pid) || proc__info(pid, &info))
		return;
	process->pid = pid;
	snprintf(process->comm, sizeof(process->comm), "%.*s", (int)sizeof(process->comm) - 1,
		 info.comm);
	targets->count++;
}

static pid_t parent_of(pid_t pid)
{
	struct process_info info;

	return proc__info(pid, &info) ? 0 : info.parent;
}

/* Marks all target processes that it descends from. An ended parent may hide further ones. */
void target_pids__see_call(struct target_processes *targets, pid_t pid, pid_t parent)
{
	bool found = false;

	if (!silent_targets__count(targets))
		return;
	for (int i = 0; pid > 0 && i < GENERATIONS_MAX; i++) {
		struct target_process *process = find(targets, pid);

		if (process)
			process->called = found = true;
		pid = i || !parent ? parent_of(pid) : parent;
	}
	targets->unclear = !found;
}

void target_pids__see_calls(struct target_processes *targets, struct process *processes,
			    size_t count)
{
	for (size_t i = 0; i < count && targets->count; i++) {
		struct process *process = &processes[i];

		if (process->attributed || !process->called)
			continue;
		target_pids__see_call(targets, process->pid,
				      process->identified ? process->parent : 0);
		process->attributed = true;
	}
}
