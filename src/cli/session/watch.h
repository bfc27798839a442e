/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the processes and libraries that are watched from the start. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "base/error.h"
#include "base/log.h"
#include "cli/options/targets.h"
#include "cli/session/child_command.h"
#include "cli/session/unwatchable.h"
#include "cli/session/rescans.h"
#include "model/model.h"
#include "probe/attacher.h"

/*
 * Returns 0, -ESRCH with a message if one of the processes does not exist, -EINVAL for a thread, or
 * -ENOENT if their /proc is missing.
 */
int watch__check_pids(const pid_t *pids, size_t count, struct error *err);

/*
 * Returns 0, or -EINVAL with a message if one of these processes is a kernel thread, which never
 * calls CUDA.
 */
int watch__refuse_kernel(const pid_t *pids, size_t count, struct error *err);

/*
 * Calls `fn` for each running process that is to be watched: the targets with their descendants, or
 * all processes; none with a COMMAND.
 */
int watch__each_process(const struct targets *targets, void (*fn)(pid_t pid, void *arg), void *arg,
			struct error *err);

/*
 * Attaches the libraries of the loader's cache and, with a COMMAND, those that its loader would
 * find first.
 */
void watch__attach_known(const struct child_command *command, struct attacher *attacher,
			 const struct log *log);

/*
 * Puts the target processes into the map `watched`. Attaches the libraries named on the command
 * line, those of the loader's cache, and those of running processes. `command` is NULL without a
 * command. Processes that cannot be watched are reported to `unwatchable`; it is an error if no
 * target process can be watched. Adds the watched target processes to `processes`, which has room
 * for all. `rescans` continues looks at processes that take long.
 */
int watch__begin(const struct targets *targets, const struct child_command *command,
		 const struct probe_programs *programs, struct attacher *attacher,
		 struct unwatchable *unwatchable, struct target_processes *processes,
		 struct rescans *rescans, const struct log *log, struct error *err);

#endif
