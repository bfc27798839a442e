/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose a process is and which GPUs it has: what /proc tells once, at its
 * first call, and what NVML tells again and again.
 */
#ifndef COLLECT_ATTRIBUTION_H
#define COLLECT_ATTRIBUTION_H

#include "gpuprobe/state.h"
#include "model/model.h"
#include "target/memory_reader.h"

struct attribution;

/* `memory` must outlive it. NULL when out of memory. */
struct attribution *attribution__new(struct memory_reader *memory);
/* Takes 100 ms at most, see nvml__free. */
void attribution__free(struct attribution *attribution);

/*
 * Fills in who a process is that has just been added to the model. What /proc
 * cannot tell any more, or tells of another process by now, stays unknown.
 */
void attribution__learn(struct attribution *attribution, struct process *process,
			const struct process_record *record);

/* A call told the UUID of the process's device `ordinal`. Returns 0 or -ENOMEM. */
int attribution__report_uuid(struct process *process, int ordinal, const uint8_t uuid[16]);

/*
 * Brings the model's GPUs, and those of its live processes, up to date. Without
 * a live process, or one that ended unseen, NVML is not asked. Waits for NVML 50 ms at most. To be called when
 * the tallies have just been read: what NVML counts is compared with them.
 */
void attribution__refresh(struct attribution *attribution, struct model *model);

/*
 * The bytes that NVML counts for a process on a GPU and no allocation seen
 * accounts for; GPU_UNKNOWN_BYTES where either is unknown, or where the
 * allocations are more than NVML counts: the two were not of one moment.
 */
uint64_t attribution__untracked(uint64_t nvml_used, uint64_t tracked);

#endif
