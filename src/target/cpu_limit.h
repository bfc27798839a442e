/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a process's control group was kept from running, since it had used up its share of CPU (cpu.max). */
#ifndef TARGET_CPU_LIMIT_H
#define TARGET_CPU_LIMIT_H

#include <stdint.h>
#include <sys/types.h>

/*
 * So far, in nanoseconds, over all its CPUs: of the process's group or of one above it, whichever was kept the longest, by their
 * cpu.stat. 0, or a negative errno: none has such a count, or is to be seen from here.
 */
int cpu_limit__throttled(pid_t pid, uint64_t *ns);

/* The count in the text of a cpu.stat, of version 2 or 1; -ENODATA where it has none, -EBADMSG where it is no number. */
int cpu_limit__parse(const char *text, uint64_t *ns);

#endif
