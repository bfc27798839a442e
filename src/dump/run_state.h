/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a thread runs or sleeps, by the kernel's bits of its state, and whether its control group is frozen. */
#ifndef DUMP_RUN_STATE_H
#define DUMP_RUN_STATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "gpuprobe/thread_look.h"
#include "model/dump.h"

/*
 * By the bits alone. They show threads that the freezer of cgroup v1 or a suspend of the machine has frozen. A thread that
 * cgroup v2 has frozen has the bits of one that sleeps.
 */
enum dump_run run_state__of(const struct thread_look *look);

/* Whether the process is in a group of cgroup v2 that is frozen with all its threads. */
bool run_state__in_frozen_group(pid_t pid);

#endif
