/* SPDX-License-Identifier: BSD-2-Clause */
/* The running CUDA processes: whether each can be watched, and if not, why. */
#ifndef CHECK_PROCESSES_H
#define CHECK_PROCESSES_H

#include "check/list.h"
#include "check/process_facts.h"

/*
 * Looks at the processes of `pids` and their descendants, without any at all of the
 * machine, and adds their libraries and a line on each that uses CUDA, or is of `pids`.
 * `filters_kill`: return probes kill processes with seccomp filters here. `looked` is filled. Returns 0 or -ENOMEM.
 */
int check_processes__run(const pid_t *pids, size_t count, bool filters_kill, struct checked_libraries *libraries,
			 struct looked_at *looked, struct check_list *list);

/* The line on one process. */
void check_process__judge(const struct process_facts *facts, bool filters_kill, struct check_list *list);

#endif
