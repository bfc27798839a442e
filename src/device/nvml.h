/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What NVML knows, asked by a thread of its own, so that a driver that hangs
 * never holds gpuprobe up: the event loop gets the latest whole snapshot.
 */
#ifndef DEVICE_NVML_H
#define DEVICE_NVML_H

#include "device/nvml_library.h"

#define NVML_INTERVAL_MS 2000 /* NVML is asked once in this time at most */

struct nvml;

/* Starts no thread yet. NULL when out of memory. */
struct nvml *nvml__new(void);

/* Takes 100 ms at most: a thread that hangs in NVML is left to itself. */
void nvml__free(struct nvml *nvml);

/*
 * The latest snapshot, not older than NVML_INTERVAL_MS if NVML answers within
 * `wait_ms`; it is not waited for while an earlier question is unanswered.
 * NULL as long as there is none: no library, no driver, not answered yet. It
 * belongs to `nvml` and is valid until the next call.
 */
const struct gpu_snapshot *nvml__refresh(struct nvml *nvml, unsigned int wait_ms);

/*
 * Why there never will be a snapshot, as nvml_library__open returned it, or -EAGAIN where no
 * thread could be started. 0 otherwise: also while it has not answered.
 */
int nvml__failure(const struct nvml *nvml);

/* When NVML was asked last (CLOCK_BOOTTIME); 0: never. The next new snapshot is later than that. */
uint64_t nvml__asked_ns(const struct nvml *nvml);

#endif
