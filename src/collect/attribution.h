/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The owner, workload and GPUs of each process: /proc is read once, at the process's first call;
 * NVML is queried repeatedly, and names of pods until they are known.
 */
#ifndef COLLECT_ATTRIBUTION_H
#define COLLECT_ATTRIBUTION_H

#include "device/nvml_library.h"
#include "gpuprobe/state.h"
#include "model/model.h"
#include "target/memory_reader.h"
#include "target/pod_names.h"

struct attribution;

/* `memory`, and the texts of `logs`, must outlive the object. NULL when out of memory. */
struct attribution *attribution__new(struct memory_reader *memory, const struct pod_logs *logs);
/* Takes at most 100 ms, see nvml__free. */
void attribution__free(struct attribution *attribution);

/*
 * Has NVML loaded, and does not wait for it: a refresh that follows soon finds it at work. Has no
 * effect the second time.
 */
void attribution__begin(struct attribution *attribution);

/*
 * The model has the machine's GPUs, with their power and temperature, without a process, too. Call
 * it first.
 */
void attribution__watch_gpus(struct attribution *attribution);

/*
 * Fills in the identity of a process that was just added to the model. Facts stay unknown if /proc
 * no longer has them, or if the pid already belongs to another process.
 */
void attribution__learn(struct attribution *attribution, struct process *process,
			const struct process_record *record);

/*
 * Updates the model's GPUs and those of its live processes. Call it right after the tallies were
 * read, because NVML's numbers are compared with them. Queries NVML only for live processes, and
 * for those that ended before any reading saw them. Waits for NVML at most 50 ms.
 */
void attribution__refresh(struct attribution *attribution, struct model *model);

/* Queries NVML now, without waiting: a later refresh has the answer. See nvml__hurry. */
void attribution__hurry(struct attribution *attribution);

/*
 * NVML's latest answer, at most 2 s old if NVML answers within `wait_ms`; see nvml__wait. NULL:
 * there is none yet, and *failure says why there will be none, as nvml__failure.
 */
const struct gpu_snapshot *attribution__snapshot(struct attribution *attribution,
						 unsigned int wait_ms, int *failure);

#endif
