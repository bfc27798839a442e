/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps which of the processes that were asked for, or their descendants, were seen calling CUDA. */
#ifndef CLI_SESSION_TARGET_PIDS_H
#define CLI_SESSION_TARGET_PIDS_H

#include <sys/types.h>

#include "model/silent_targets.h"

/* A process that is watched, once; there is room for it. Nothing where it has ended. */
void target_pids__add(struct target_processes *asked, pid_t pid);

/*
 * A process has called CUDA, which is to be told soon after its first call, while it and its parents are there;
 * `parent` is as of then, 0 where it is not known.
 */
void target_pids__see_call(struct target_processes *asked, pid_t pid, pid_t parent);

#endif
