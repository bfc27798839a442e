// SPDX-License-Identifier: BSD-2-Clause
// Names of GPUs in output, see gpu_label.h.
#include "model/gpu_label.h"

#include <stdio.h>

void gpu_label(const struct gpu *gpu, char text[GPU_LABEL_SIZE])
{
	if (gpu->mig == GPU_NONE)
		snprintf(text, GPU_LABEL_SIZE, "%u", gpu->index);
	else
		snprintf(text, GPU_LABEL_SIZE, "%u:%d", gpu->index, gpu->mig);
}

const struct gpu *gpu_label__find(const struct model *model, const struct process_gpu *gpu)
{
	if (gpu->gpu < 0 || (size_t)gpu->gpu >= model->gpu_count)
		return NULL;
	return &model->gpus[gpu->gpu];
}

bool gpu_label__is_used(const struct process *process, const struct process_gpu *gpu)
{
	if (gpu->used_bytes != GPU_UNKNOWN_BYTES)
		return true;
	for (size_t i = 0; i < process->device_count; i++)
		if (process->devices[i].device == gpu->ordinal)
			return true;
	return process->gpu_count == 1;
}

/* A process has its contexts on the GPUs on which NVML sees it. */
static const struct process_gpu *only_gpu(const struct process *process)
{
	const struct process_gpu *only = NULL;

	if (process->gpu_count == 1)
		return &process->gpus[0];
	for (size_t i = 0; i < process->gpu_count; i++) {
		if (process->gpus[i].used_bytes == GPU_UNKNOWN_BYTES)
			continue;
		if (only)
			return NULL;
		only = &process->gpus[i];
	}
	return only;
}

const struct process_gpu *gpu_label__of_device(const struct process *process, int device)
{
	if (device == DEVICE_UNKNOWN)
		return only_gpu(process);
	for (size_t i = 0; i < process->gpu_count; i++)
		if (process->gpus[i].ordinal == device)
			return &process->gpus[i];
	return NULL;
}
