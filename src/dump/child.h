/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The child process that a thread waits for: wait4(2), waitid(2), and vfork(2) and its relatives,
 * which wait until the child executes a program.
 */
#ifndef DUMP_CHILD_H
#define DUMP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/dump.h"
#include "target/memory_reader.h"

#define CHILDREN_MAX 256 /* per process; further ones are ignored */

/*
 * The children of a process in a pid namespace of its own. Zero it first; it is filled on demand.
 */
struct child_list {
	bool loaded;
	size_t count;
	struct child {
		pid_t pid;
		pid_t inside; /* its pid in the parent's pid namespace */
	} child[CHILDREN_MAX];
};

struct parent {
	pid_t pid;
	const struct dump_thread *threads; /* children belong to the thread that created them */
	size_t count;
	struct child_list children;
};

/*
 * The child's pid in gpuprobe's namespace; 0 if the thread waits for any child or the child is
 * unknown. `arguments` are the call's.
 */
pid_t child__of_wait4(struct parent *parent, const uint64_t *arguments);
pid_t child__of_waitid(struct parent *parent, pid_t tid, const uint64_t *arguments);

/* Whether this clone(2) or clone3(2) call waits like vfork(2). `number` is the system call's. */
bool child__shares_until_exec(struct memory_reader *memory, pid_t pid, uint64_t number,
			      const uint64_t *arguments);

#endif
