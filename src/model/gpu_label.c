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
