/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stops a session: signals, the deadline, and COMMAND's end. The first signal is passed on to
 * COMMAND. The second one, or the end of COMMAND's grace time, stops the session without it.
 */
#ifndef CLI_STOP_EVENTS_H
#define CLI_STOP_EVENTS_H

#include "base/error.h"
#include "base/log.h"

struct child_command;
struct event_base;
struct stop_events;

/*
 * Blocks SIGCHLD and the stop signals (signals.h), and survives SIGPIPE. `loop` and `log` must
 * outlive it. After `grace_ms` (0: no limit) COMMAND has had its time to end. Returns 0 or a
 * negative errno.
 */
int stop_events__new(struct event_base *loop, unsigned int grace_ms, const struct log *log,
		     struct stop_events **out, struct error *err);
void stop_events__free(struct stop_events *events); /* NULL ok */

/*
 * From here on the loop handles the events. `command`, which has this `name`, must outlive it; both
 * are NULL without COMMAND. Returns 0 or a negative errno.
 */
int stop_events__start(struct stop_events *events, struct child_command *command, const char *name,
		       struct error *err);

/* Ends the loop so many seconds from now. Returns 0 or a negative errno. */
int stop_events__end_after(struct stop_events *events, double seconds, struct error *err);

/* See session__end_fd. */
int stop_events__fd(const struct stop_events *events);

/* The exit status: 0, or COMMAND's once it has ended. */
int stop_events__status(const struct stop_events *events);

/* The next stop signal ends gpuprobe at once. */
void stop_events__release_signals(void);

#endif
