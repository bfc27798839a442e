/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks at processes while a session runs: those that start, run another program or map a library
 * get probes for their new files. Held processes are resumed after the look. BPF's records say
 * which processes these are, and without COMMAND the listener.
 *
 * Call order: new, start, watch, then add as records arrive; settle, end and free.
 */
#ifndef CLI_PROCESS_CHANGES_H
#define CLI_PROCESS_CHANGES_H

#include "base/error.h"
#include "base/log.h"
#include "cli/options/targets.h"
#include "cli/session/session.h"
#include "model/model.h"
#include "probe/attacher.h"

struct child_command;
struct event_base;
struct process_changes;
struct stopped_parents;

/*
 * All arguments must outlive it. It calls the hooks `late` and `late_sharer`. NULL without
 * memory.
 */
struct process_changes *process_changes__new(struct event_base *loop, const struct targets *targets,
					     const struct session_hooks *hooks,
					     const struct log *log);
void process_changes__free(struct process_changes *changes); /* NULL ok */

/*
 * From here on the loop calls the hooks. `command` and `waker` are NULL without COMMAND; all
 * arguments must stay until process_changes__end.
 */
void process_changes__start(struct process_changes *changes, const struct probe_programs *programs,
			    struct attacher *attacher, struct child_command *command,
			    struct stopped_parents *waker);

/* Attaches what is watched from the start, see watch__begin. Returns 0 or a negative errno. */
int process_changes__watch(struct process_changes *changes, struct target_processes *processes,
			   struct error *err);

/* Handles a BPF record, see session__process_changed. */
void process_changes__add(struct process_changes *changes, const struct record_library *record);

/* Ends all postponed looks, see session__settle. */
void process_changes__settle(struct process_changes *changes);

/*
 * Reports what was missed and stops listening, before the attacher is freed. Later records are
 * ignored. NULL ok.
 */
void process_changes__end(struct process_changes *changes);

#endif
