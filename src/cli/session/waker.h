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

struct command;
struct waker;

/*
 * They are woken by way of `command`, which is to outlive it. `watched_fd` and `held_fd` are the BPF maps of the
 * processes that may be woken and of those that gpuprobe has stopped, which are let be.
 */
int waker__new(struct event_base *loop, const struct command *command, int watched_fd, int held_fd, struct waker **out,
	       struct error *err);
void waker__free(struct waker *waker);

/*
 * The process that was held is about to go on: its watched ancestors are woken, should they stop; but not those that somebody else
 * had stopped before, by the bits of record_library.stopped_above.
 */
void waker__letting_go(struct waker *waker, pid_t pid, uint16_t stopped_above);

#endif
