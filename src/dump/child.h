/* SPDX-License-Identifier: BSD-2-Clause */
/* The child process that a thread waits for: wait4(2), waitid(2), and vfork(2) and its kin, which wait for a new program. */
#ifndef DUMP_CHILD_H
#define DUMP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/dump.h"
#include "target/memory_reader.h"

#define CHILDREN_MAX 256 /* of one process; more are not looked at */

/* The children of a process in a pid namespace of its own. Zeroed at first, filled when it is needed. */
struct child_list {
	bool loaded;
	size_t count;
	struct child {
		pid_t pid;
		pid_t inside; /* in the parent's pid namespace */
	} child[CHILDREN_MAX];
};

struct parent {
	pid_t pid;
	const struct dump_thread *threads; /* children belong to the thread that made them */
	size_t count;
	struct child_list children;
};

/* The child's pid as gpuprobe has it; 0: any child, or not known. `arguments` are the call's. */
pid_t child__of_wait4(struct parent *parent, const uint64_t *arguments);
pid_t child__of_waitid(struct parent *parent, pid_t tid, const uint64_t *arguments);

/* Whether clone(2) or clone3(2), by its number, waits like vfork(2). */
bool child__shares_until_exec(struct memory_reader *memory, pid_t pid, uint64_t number, const uint64_t *arguments);

#endif
