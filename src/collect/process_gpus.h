/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the machine's GPUs a process has, by its environment, its calls and NVML, and how much
 * memory it has there that no call allocated.
 */
#ifndef COLLECT_PROCESS_GPUS_H
#define COLLECT_PROCESS_GPUS_H

#include "device/nvml_library.h"
#include "model/model.h"

/* What NVML has answered. */
struct gpu_reading {
	const struct gpu_snapshot *snapshot;
	bool is_new;	       /* this reading brought the snapshot */
	uint64_t requested_ns; /* when NVML was asked for the next one */
};

/* A call reported the UUID of the process's device `ordinal`. Returns 0 or -ENOMEM. */
int process_gpus__report_uuid(struct process *process, int ordinal, const uint8_t uuid[16]);

/*
 * Rebuilds the process's list: GPUs by the environment, then those reported by calls, then others
 * that NVML sees. Without memory the list stays.
 */
void process_gpus__list(const struct gpu_reading *reading, const struct model *model,
			struct process *process);

#endif
