/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries NVML in a thread of its own, so that a hanging driver never blocks gpuprobe; the event
 * loop gets the latest complete snapshot.
 */
#ifndef DEVICE_NVML_H
#define DEVICE_NVML_H

#include "device/nvml_library.h"

#define NVML_INTERVAL_MS 2000 /* minimum time between two queries of NVML */

struct nvml;

/* Creates the object; starts no thread yet. NULL if out of memory. */
struct nvml *nvml__new(void);

/* Takes at most 100 ms: a thread that hangs in NVML is abandoned. */
void nvml__free(struct nvml *nvml);

/* Snapshots will have power and temperature. Call it first. */
void nvml__ask_power(struct nvml *nvml);

/*
 * Starts the thread and a first query, and does not wait: loading NVML takes longer than a query.
 * Has no effect if the thread has been started. A refresh makes a query of its own soon after it.
 */
void nvml__begin(struct nvml *nvml);

/*
 * Queries NVML even if it was queried just before, and does not wait: a later refresh has the
 * answer. Queries are at least 100 ms apart: if it is too early, the next refresh makes one.
 */
void nvml__hurry(struct nvml *nvml);

/*
 * Returns the latest snapshot. It is not older than NVML_INTERVAL_MS if NVML answers within
 * `wait_ms`; if an earlier query is still unanswered, the function does not wait. NULL if there is
 * no snapshot yet: no library, no driver, or no answer so far. `nvml` owns it; it is valid until
 * the next call.
 */
const struct gpu_snapshot *nvml__refresh(struct nvml *nvml, unsigned int wait_ms);

/* The same, but waits for an earlier query that is still unanswered, too. */
const struct gpu_snapshot *nvml__wait(struct nvml *nvml, unsigned int wait_ms);

/*
 * Why there will never be a snapshot: the error of nvml_library__open, or -EAGAIN if no thread
 * could be started. Returns 0 otherwise, also while NVML has not answered yet.
 */
int nvml__failure(const struct nvml *nvml);

/*
 * When NVML was last queried (CLOCK_BOOTTIME); 0: never. The next new snapshot is later than that.
 */
uint64_t nvml__requested_ns(const struct nvml *nvml);

#endif
