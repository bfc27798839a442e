/* SPDX-License-Identifier: BSD-2-Clause */
/* Tracks which target processes, including their descendants, were seen calling CUDA. */
#ifndef CLI_SESSION_TARGET_PIDS_H
#define CLI_SESSION_TARGET_PIDS_H

#include <stddef.h>
#include <sys/types.h>

#include "model/model.h"
#include "model/silent_targets.h"

/* Adds a watched process; called once for each, and there is room. Does nothing if it has ended. */
void target_pids__add(struct target_processes *targets, pid_t pid);

/*
 * A process has called CUDA. To be called soon after the first call, while the process and its
 * parents exist. `parent` is the parent at that time; 0: unknown.
 */
void target_pids__see_call(struct target_processes *targets, pid_t pid, pid_t parent);

/*
 * The same for those of the collector's processes that have called CUDA since the last time. Called
 * at each reading of the maps, because the callers' parents may end soon.
 */
void target_pids__see_calls(struct target_processes *targets, struct process *processes,
			    size_t count);

#endif
