/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a process's control group was throttled because it had used up its CPU quota (cpu.max).
 */
#ifndef TARGET_CPU_LIMIT_H
#define TARGET_CPU_LIMIT_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Throttled time so far in nanoseconds, over all its CPUs, from cpu.stat: of the process's group or
 * an ancestor, whichever was throttled longest. Returns 0, or a negative errno if no group has such
 * a count or is visible.
 */
int cpu_limit__throttled(pid_t pid, uint64_t *ns);

/*
 * Parses the count in the text of a cpu.stat, version 2 or 1; -ENODATA if it has none, -EBADMSG if
 * it is no number.
 */
int cpu_limit__parse(const char *text, uint64_t *ns);

#endif
