/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that began before gpuprobe attached, which no probe has seen: a job's threads may hang in
 * them. All threads of the target processes are looked at once, after the probes are attached.
 * Threads found in a call are looked at again before each reading: a thread is in its call as long
 * as its stack is unchanged. collect/earlier_calls.h handles the consequences for the model.
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

/* `looker` must outlive it; if it is NULL, no call is known. NULL without memory. */
struct earlier_looks *earlier_looks__new(struct looker *looker);
void earlier_looks__free(struct earlier_looks *looks); /* NULL ok */

/*
 * Called after the probes of the functions that `api` selects are attached. Gives the collector the
 * calls of these processes and of their descendants, and makes it adopt the processes that are in
 * one.
 */
void earlier_looks__begin(struct earlier_looks *looks, const pid_t *pids, size_t count,
			  enum api_mode api, struct collector *collector);

/*
 * Looks, before a reading, at the threads whose calls are in progress. Looks at most once a second
 * and for at most a twentieth of the time, except for the `final` reading.
 */
void earlier_looks__look(struct earlier_looks *looks, struct earlier_calls *calls, bool final);

#endif
