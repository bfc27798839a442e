/* SPDX-License-Identifier: BSD-2-Clause */
/* What is watched from the start: processes and libraries. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "base/error.h"
#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/session/child_command.h"
#include "cli/session/unwatchable.h"
#include "cli/session/rescans.h"
#include "model/model.h"
#include "probe/attacher.h"

/* -ESRCH with a text where one of the processes does not exist, -EINVAL for a thread, -ENOENT without their /proc. */
int watch__check_pids(const pid_t *pids, size_t count, struct error *err);

/* -EINVAL with a text where one of these processes is a thread of the kernel, which never calls CUDA. */
int watch__refuse_kernel(const pid_t *pids, size_t count, struct error *err);

/*
 * Calls `fn` for each process that runs already and is to be watched: those
 * that were asked for with their descendants, or all; none with a COMMAND.
 */
int watch__each_process(const struct targets *targets, void (*fn)(pid_t pid, void *arg), void *arg,
			struct error *err);

/* Attaches the libraries of the loader's cache, and with a COMMAND those that its loader would find first. */
void watch__attach_known(const struct child_command *command, struct attacher *attacher, const struct log *log);

/*
 * Puts the chosen processes into the map `watched`, and attaches
 * the libraries that were given and the loader's cache, and those of running
 * processes. `command` is NULL without one. What cannot be watched is told to `refusals`; an error, where that are
 * all the processes that were chosen. `asked` has room for these, and gets those that are watched. A process that takes
 * long to be looked at is gone on with by `rescans`.
 */
int watch__begin(const struct targets *targets, const struct child_command *command, const struct probe_programs *programs,
		 struct attacher *attacher, struct unwatchable *refusals, struct target_processes *asked,
		 struct rescans *rescans, const struct log *log, struct error *err);

#endif
