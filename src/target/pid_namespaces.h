/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pid namespaces that have a process. One without any is dead: its first process is the last to
 * go, and after it the kernel creates no process in it. Its number can be reused for a new
 * namespace, though.
 */
#ifndef TARGET_PID_NAMESPACES_H
#define TARGET_PID_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pid_namespaces {
	uint64_t *numbers; /* inode numbers, as in /proc/PID/ns/pid */
	size_t count;
};

/*
 * Finds every namespace that has a process during the whole call. Returns 0; -EXDEV if gpuprobe, or
 * its /proc, is not in the machine's first pid namespace, which alone sees all processes; -EACCES
 * if processes may be hidden, or one of another namespace does not show which (reading it takes
 * CAP_SYS_PTRACE); or another negative errno. The caller clears `living`.
 */
int pid_namespaces__read(struct pid_namespaces *living);

bool pid_namespaces__has(const struct pid_namespaces *living, uint64_t number);

void pid_namespaces__clear(struct pid_namespaces *living);

#endif
