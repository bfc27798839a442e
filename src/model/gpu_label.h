/* SPDX-License-Identifier: BSD-2-Clause */
/* The label of a GPU in all forms of output and in findings. */
#ifndef MODEL_GPU_LABEL_H
#define MODEL_GPU_LABEL_H

#include "model/model.h"

#define GPU_LABEL_SIZE 24

/* "0" as in nvidia-smi, "0:1" for MIG instance 1 of a divided GPU. */
void gpu_label(const struct gpu *gpu, char text[GPU_LABEL_SIZE]);

/* The machine's GPU that the process's GPU refers to; NULL if unknown. */
const struct gpu *gpu_label__find(const struct model *model, const struct process_gpu *gpu);

/*
 * Whether the process is known to use the GPU: by NVML, by its calls, or since it sees no other. A
 * process sees GPUs that it does not use.
 */
bool gpu_label__is_used(const struct process *process, const struct process_gpu *gpu);

/*
 * The process's GPU that has this number in the process. For DEVICE_UNKNOWN the only GPU that the
 * process can be on: it sees no other, or NVML sees the process on no other. NULL if unknown.
 */
const struct process_gpu *gpu_label__of_device(const struct process *process, int device);

#endif
