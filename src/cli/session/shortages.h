/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations that fail for good, from the notice to the report. Frameworks free their caches and
 * try again, so a failure is one for good if its thread has not got as much within 100 ms, or
 * longer in a process whose framework says itself that it failed for good. Reports go to standard
 * error, and to files of a directory; their number is bounded.
 */
#ifndef CLI_SESSION_SHORTAGES_H
#define CLI_SESSION_SHORTAGES_H

#include <event2/event.h>

#include "base/error.h"
#include "base/log.h"
#include "model/model.h"

struct shortages;

struct shortages_options {
	/* directory of files, one for each report; NULL: none */
	const char *directory;
	/* reads the model anew, with lists */
	void (*update)(void *arg);
	struct model *(*model)(void *arg);
	/* the stack with that id; NULL: unknown */
	const struct stack *(*stack)(uint64_t id, void *arg);
	/* whether a framework in the process says so itself if an allocation has failed for good */
	bool (*awaits_verdict)(int32_t pid, void *arg);
	void *arg;
};

/*
 * Opens the directory. `log` must outlive it. Returns 0 or a negative errno with a message.
 */
int shortages__new(const struct shortages_options *options, const struct log *log,
		   struct shortages **out, struct error *err);
void shortages__free(struct shortages *shortages); /* NULL ok */

/* Before notices come; 0 or -ENOMEM. */
int shortages__start(struct shortages *shortages, struct event_base *loop);

/* A notice, see struct collector_hooks. */
void shortages__take(struct shortages *shortages, const struct process *process,
		     const struct record_shortage *record);

/* The model's lists are of a new reading. */
void shortages__sample(struct shortages *shortages);

/* At the end: reports the failures that were not relieved so far. The model is final. */
void shortages__finish(struct shortages *shortages);

#endif
