/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --kineto: has running processes that were started with KINETO_USE_DAEMON=1 profile themselves,
 * and sums up the GPU times in their traces while the loop runs. See kineto/server.h.
 */
#ifndef CLI_KINETO_WATCH_H
#define CLI_KINETO_WATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "model/gpu_times.h"

struct event_base;
struct kineto_watch;

/*
 * Starts the process that waits for these processes' questions, up to KINETO_PROCESSES of them, and
 * answers the first of each with a request for a trace of this length. gpuprobe must still have the
 * privileges that it was started with, and one thread. Returns 0, or a negative errno with a
 * message: -EADDRINUSE if there is another daemon, -ENOTSUP if a process takes no requests.
 */
int kineto_watch__new(const pid_t *pids, size_t count, uint64_t duration_ns, const struct log *log,
		      struct kineto_watch **out, struct error *err);

/*
 * Takes what comes from it in this loop, which must outlive the watch. `done` is called once, when
 * nothing more comes. Returns 0 or -ENOMEM with a message.
 */
int kineto_watch__begin(struct kineto_watch *watch, struct event_base *loop,
			void (*done)(void *arg), void *arg, struct error *err);

/*
 * Before the last report of the run: takes what still comes soon of processes that have ended. The
 * run may end with them, before their traces are read.
 */
void kineto_watch__settle(struct kineto_watch *watch);

/*
 * The times up to now; valid until the loop runs on. A process whose trace has not come has a note
 * about that.
 */
const struct gpu_times *kineto_watch__times(const struct kineto_watch *watch);

/* Ends that process. Before the loop. NULL ok. */
void kineto_watch__free(struct kineto_watch *watch);

#endif
