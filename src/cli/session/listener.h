/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects processes that map CUDA libraries and are not held: with -p and when watching the whole
 * machine. It looks fifty times a second, so a new library is probed at most 20 ms after it was
 * mapped.
 */
#ifndef CLI_LISTENER_H
#define CLI_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "probe/mapping_events.h"

struct event_base;
struct listener;

struct listener_hooks {
	bool allocators; /* listen to libraries of frameworks' allocators, too */
	bool handles;	 /* the same for libraries above CUDA that make handles */
	/* A process has mapped such a file. */
	void (*mapped)(const struct mapping_event *event, void *arg);
	/*
	 * Some mapping events since `time_ns` were lost: any process may have mapped such a file.
	 */
	void (*lost)(uint64_t time_ns, void *arg);
	void *arg;
};

/* Starts to listen; the loop calls the hooks. Returns 0 or a negative errno. */
int listener__new(struct event_base *loop, const struct listener_hooks *hooks,
		  struct listener **out, struct error *err);
void listener__free(struct listener *listener);

/* Looks now instead of at the next turn of the loop. */
void listener__read(struct listener *listener);

#endif
