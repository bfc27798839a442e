/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes what is written to standard error while a full-screen program runs: gpuprobe's own
 * messages and those of libraries. The latest line can be shown on the screen; all of them go to
 * standard error at the end. Where standard error is not a terminal, messages do not disturb the
 * screen, and nothing is taken.
 */
#ifndef CLI_FILES_MESSAGES_H
#define CLI_FILES_MESSAGES_H

#include <event2/event.h>

#include "base/error.h"

struct messages;

/*
 * From here on messages are taken. `changed` is called from the loop when there is another line.
 * Returns 0 or a negative errno.
 */
int messages__new(struct event_base *loop, void (*changed)(void *arg), void *arg,
		  struct messages **out, struct error *err);

/* The latest line, which is raw; NULL: there is none. Valid until the loop runs again. */
const char *messages__latest(const struct messages *messages);

/* The latest line has been seen. */
void messages__forget_latest(struct messages *messages);

/* Gives standard error back and writes there what was taken. NULL ok. */
void messages__free(struct messages *messages);

#endif
