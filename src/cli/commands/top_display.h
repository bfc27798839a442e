/* SPDX-License-Identifier: BSD-2-Clause */
/* The full screen of `gpuprobe top` in an event loop: readings, keys, resizing. */
#ifndef CLI_COMMANDS_TOP_DISPLAY_H
#define CLI_COMMANDS_TOP_DISPLAY_H

#include "base/error.h"
#include "base/log.h"
#include "cli/commands/top_watch.h"
#include "cli/options/top_options.h"
#include "cli/session/live_model.h"
#include "ps/quiet.h"

struct event_base;
struct top_display;

/*
 * Takes the terminal over, and standard error if it is a terminal (cli/files/messages.h). Call it
 * before live_run__attach, so that privileges and system calls are still those of the start. All
 * arguments must outlive it. A player changes the watch that it was made with. Returns 0, or a
 * negative errno with a message: the terminal is as before.
 */
int top_display__new(struct top_watch *watch, struct event_base *loop,
		     const struct top_options *options, const struct log *log,
		     struct top_display **out, struct error *err);

/*
 * Shows the first reading, and the others when they are due. Call it after live_run__attach.
 * `quiet` (NULL: unknown) must outlive the display.
 */
int top_display__start(struct top_display *display, struct ps_quiet *quiet, struct error *err);

/* Why it could not go on; 0: it could. With a message. */
int top_display__error(const struct top_display *display, struct error *err);

/* Gives the terminal back. Call it before live_run__free. NULL ok. */
void top_display__free(struct top_display *display);

#endif
