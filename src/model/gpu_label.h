/* SPDX-License-Identifier: BSD-2-Clause */
/* What a GPU is called in every form of output and in findings. */
#ifndef MODEL_GPU_LABEL_H
#define MODEL_GPU_LABEL_H

#include "model/model.h"

#define GPU_LABEL_SIZE 24

/* "0" as nvidia-smi counts, "0:1" for the instance 1 of a divided GPU. */
void gpu_label(const struct gpu *gpu, char text[GPU_LABEL_SIZE]);

/* The machine's GPU that is meant, or NULL when it is not known. */
const struct gpu *gpu_label__find(const struct model *model, const struct process_gpu *gpu);

#endif
