/* SPDX-License-Identifier: BSD-2-Clause */
/* The running CUDA processes: whether each can be watched, and if not, why. */
#ifndef CHECK_PROCESSES_H
#define CHECK_PROCESSES_H

#include "check/list.h"
#include "check/process_facts.h"
#include "target/process_filter.h"

/*
 * Inspects the processes in `pids` and their descendants, or all of the machine if there are none.
 * Leaves out those that the filter leaves out.
 * Adds their libraries, and a line for each process that uses CUDA or is in `pids`. `filters_kill`:
 * return probes kill processes with seccomp filters on this kernel. Fills `looked`. Returns 0 or
 * -ENOMEM.
 */
int check_processes__run(const pid_t *pids, size_t count, const struct process_filter *filter,
			 bool filters_kill, struct checked_libraries *libraries,
			 struct looked_at *looked, struct check_list *list);

/* Adds the line about one process. */
void check_process__judge(const struct process_facts *facts, bool filters_kill,
			  struct check_list *list);

#endif
