/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that stop together with their child. su, runuser, sudo and script wait for their child
 * with WUNTRACED, stop themselves when it stops, and go on only when they are continued. A child
 * that gpuprobe held for a moment would leave them stopped for good, so gpuprobe watches and wakes
 * them for a while.
 */
#ifndef CLI_STOPPED_PARENTS_H
#define CLI_STOPPED_PARENTS_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct child_command;
struct stopped_parents;

/*
 * Wakes them through `command`, which must outlive it. `watched_fd` is the BPF map of the processes
 * that may be woken. `held_fd` is the BPF map of those that gpuprobe has stopped, which are left
 * alone.
 */
int stopped_parents__new(struct event_base *loop, const struct child_command *command,
			 int watched_fd, int held_fd, struct stopped_parents **out,
			 struct error *err);
void stopped_parents__free(struct stopped_parents *parents);

/*
 * A held process is about to be resumed: wakes its watched ancestors if they stop, except those
 * that somebody else had stopped before, according to the bits of record_library.stopped_above.
 */
void stopped_parents__letting_go(struct stopped_parents *parents, pid_t pid,
				 uint16_t stopped_above);

#endif
