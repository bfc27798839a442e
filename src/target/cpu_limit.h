/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a process's control group was kept from running, since it had used up its share of CPU (cpu.max). */
#ifndef TARGET_CPU_LIMIT_H
#define TARGET_CPU_LIMIT_H

#include <stdint.h>
#include <sys/types.h>

/*
 * So far, in nanoseconds, over all its CPUs: of the group of the unified hierarchy that the process is in, by its cpu.stat. 0, or a negative
 * errno: the group has no such count, or is not to be seen from here.
 */
int cpu_limit__throttled(pid_t pid, uint64_t *ns);

/* The count in the text of a cpu.stat; -ENODATA where it has none. */
int cpu_limit__parse(const char *text, uint64_t *ns);

#endif
