/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that stop with their child. su, runuser, sudo and script wait for
 * their child with WUNTRACED, stop themselves when it stops, and go on only
 * when somebody continues them. A child that gpuprobe has held for a moment
 * would leave them stopped for good: they are looked after for a while.
 */
#ifndef CLI_WAKER_H
#define CLI_WAKER_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct child_command;
struct stopped_parents;

/*
 * They are woken by way of `command`, which is to outlive it. `watched_fd` and `held_fd` are the BPF maps of the
 * processes that may be woken and of those that gpuprobe has stopped, which are let be.
 */
int stopped_parents__new(struct event_base *loop, const struct child_command *command, int watched_fd, int held_fd, struct stopped_parents **out,
	       struct error *err);
void stopped_parents__free(struct stopped_parents *waker);

/*
 * The process that was held is about to go on: its watched ancestors are woken, should they stop; but not those that somebody else
 * had stopped before, by the bits of record_library.stopped_above.
 */
void stopped_parents__letting_go(struct stopped_parents *waker, pid_t pid, uint16_t stopped_above);

#endif
