/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hears of processes that map CUDA libraries and that are not held: those with -p, those of the whole machine. It
 * looks fifty times a second, so a library that was not known is probed 20 ms after it was mapped, at most.
 */
#ifndef CLI_LISTENER_H
#define CLI_LISTENER_H

#include <stdint.h>

#include "base/error.h"
#include "probe/mapping_events.h"

struct event_base;
struct listener;

struct listener_hooks {
	/* A process has mapped such a file. */
	void (*mapped)(const struct mapping_event *event, void *arg);
	/* What processes have mapped since `time_ns` was in part not told: each may have mapped such a file. */
	void (*lost)(uint64_t time_ns, void *arg);
	void *arg;
};

/* Listens from now on; the hooks are called by the loop. Returns 0 or a negative errno. */
int listener__new(struct event_base *loop, const struct listener_hooks *hooks, struct listener **out, struct error *err);
void listener__free(struct listener *listener);

/* Looks now, and not when the loop comes to it. */
void listener__read(struct listener *listener);

#endif
