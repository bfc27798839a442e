/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that began before gpuprobe came, and that no probe has seen: a job's threads may hang in them. All threads of the
 * processes that were asked for are looked at once, when the probes are in, and those that were in a call are looked at
 * again before each reading: a thread stands in its call as long as its stack is the same. What follows for the model is the
 * collector's matter (collect/earlier_calls.h).
 */
#ifndef CLI_EARLIER_H
#define CLI_EARLIER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/session/looker.h"
#include "collect/earlier_calls.h"
#include "probe/selection.h"

struct collector;
struct earlier_looks;

/* `looker` must outlive it, NULL ok: no call is known then. NULL without memory. */
struct earlier_looks *earlier_looks__new(struct looker *looker);
void earlier_looks__free(struct earlier_looks *looks); /* NULL ok */

/*
 * The probes are in, of the functions that `api` says: gives the collector the calls of these processes and of their
 * descendants, and has it adopt the processes that are in one.
 */
void earlier_looks__begin(struct earlier_looks *looks, const pid_t *pids, size_t count, enum api_mode api,
			  struct collector *collector);

/* Before a reading: looks at the threads of those in progress, once a second at most and for a twentieth of the time, but for the `final` reading. */
void earlier_looks__look(struct earlier_looks *looks, struct earlier_calls *calls, bool final);

#endif
