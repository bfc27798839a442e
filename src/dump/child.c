// SPDX-License-Identifier: BSD-2-Clause
// Children that a thread waits for; see child.h.
#include "dump/child.h"

#include <asm/unistd_64.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "target/text_file.h"
#include "target/proc.h"

#define CHILDREN_TEXT 4096 /* bytes: enough for CHILDREN_MAX pids of 7 digits */

static void add_children_of(struct child_list *list, pid_t pid, pid_t tid, unsigned int depth)
{
	char path[64], text[CHILDREN_TEXT], *at = text, *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	if (text_file__read("", path, text, sizeof(text)))
		return;
	while (list->count < CHILDREN_MAX) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			break;
		at = end;
		list->child[list->count++] =
			(struct child){.pid = child, .inside = proc__pid_below(child, depth)};
	}
}

static void load_children(struct parent *parent, unsigned int depth)
{
	parent->children.loaded = true;
	for (size_t i = 0; i < parent->count && parent->children.count < CHILDREN_MAX; i++)
		add_children_of(&parent->children, parent->pid, parent->threads[i].tid, depth);
}

/* `number` is a pid in the parent's pid namespace. */
static pid_t translate(struct parent *parent, pid_t number)
{
	int depth = proc__depth(parent->pid);

	if (number <= 0 || depth < 0)
		return 0;
	if (!depth)
		return number;
	if (!parent->children.loaded)
		load_children(parent, (unsigned int)depth);
	for (size_t i = 0; i < parent->children.count; i++)
		if (parent->children.child[i].inside == number)
			return parent->children.child[i].pid;
	return 0;
}

pid_t child__of_wait4(struct parent *parent, const uint64_t *arguments)
{
	return translate(parent, (pid_t)arguments[0]);
}

/* /proc shows the process in the pid namespace of its mount, which is gpuprobe's. */
static pid_t of_pidfd(pid_t tid, int fd)
{
	char path[64], text[1024];
	long pid;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)tid, fd);
	if (text_file__read("", path, text, sizeof(text)))
		return 0;
	pid = process_status__number(text, "Pid");
	return pid > 0 ? (pid_t)pid : 0;
}

pid_t child__of_waitid(struct parent *parent, pid_t tid, const uint64_t *arguments)
{
	switch ((int)arguments[0]) {
	case P_PID: return translate(parent, (pid_t)arguments[1]);
	case P_PIDFD: return of_pidfd(tid, (int)arguments[1]);
	default: return 0;
	}
}

bool child__shares_until_exec(struct memory_reader *memory, pid_t pid, uint64_t number,
			      const uint64_t *arguments)
{
	uint64_t flags = arguments[0];

	if (number == __NR_vfork)
		return true;
	if (number == __NR_clone3 &&
	    memory_reader__read(memory, pid, arguments[0], &flags, sizeof(flags)))
		return false;
	return flags & CLONE_VFORK;
}
