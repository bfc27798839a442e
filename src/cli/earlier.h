/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that began before gpuprobe came, and that no probe has seen: a job's thread may hang in one while others of its threads
 * go on. All threads of the processes that were asked for are looked at once, when the probes are in, and those that were in a
 * call are looked at again at each reading. A call is in progress as long as its thread stands in it, with the same stack, and
 * nothing tells that it may have returned meanwhile: no such call of the process has been counted, the thread is in no call
 * that was seen to begin.
 */
#ifndef CLI_EARLIER_H
#define CLI_EARLIER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/looker.h"
#include "model/model.h"

struct earlier_calls;

/* `looker` must outlive it, NULL ok: no call is known then. NULL without memory. */
struct earlier_calls *earlier_calls__new(struct looker *looker);
void earlier_calls__free(struct earlier_calls *calls); /* NULL ok */

/* The probes are in: takes those of these processes and of their descendants. */
void earlier_calls__begin(struct earlier_calls *calls, const pid_t *pids, size_t count);

/*
 * Adds those that are in progress to the calls in progress of the model's processes, after a reading. Threads are looked at
 * once a second at most, but for the `final` reading: in between what was known stays.
 */
void earlier_calls__tell(struct earlier_calls *calls, struct model *model, bool final);

#endif
