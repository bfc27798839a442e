/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live device memory of each process by device: what was allocated since the timeline began and not
 * freed. It counts cudaMalloc, cudaMallocAsync, cudaMallocManaged and the like, and not arrays,
 * physical memory (cuMemCreate) or memory of other processes.
 *
 * Without room for an allocation it stops counting for good: a wrong number is worse than none.
 */
#ifndef OUTPUT_TIMELINE_LIVE_BYTES_H
#define OUTPUT_TIMELINE_LIVE_BYTES_H

#include "output/timeline/tracks.h"

#define LIVE_MAX 262144u   /* allocations of all processes */
#define COUNTERS_MAX 4096u /* pairs of a process and a device */

struct live_bytes;

/* Returns NULL if out of memory. Both must outlive it. */
struct live_bytes *live_bytes__new(struct timeline_tracks *tracks, struct timeline_form *form);
void live_bytes__free(struct live_bytes *live); /* NULL is fine */

/* Whether calls of this function allocate or free memory that is counted, or end all of it. */
bool live_bytes__concerns(const struct api_function *row);

/*
 * Call before each line with its time, and at the end with UINT64_MAX: counts the memory of calls
 * that have returned by then.
 */
void live_bytes__advance(struct live_bytes *live, uint64_t time_ns);

/* Takes a call that has returned and whose function concerns live memory. */
void live_bytes__take(struct live_bytes *live, struct timeline_process *process,
		      const struct timeline_call *call);

/* Whether it has stopped. */
bool live_bytes__is_full(const struct live_bytes *live);

#endif
