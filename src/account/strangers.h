/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that only NVML lists, such as those that have made no CUDA call since a recording
 * began: of them the pid and the memory on each GPU are known, at most GPU_STRANGERS of a GPU.
 */
#ifndef ACCOUNT_STRANGERS_H
#define ACCOUNT_STRANGERS_H

#include "model/model.h"

/*
 * Makes a model of those that NVML lists on GPUs of `model`, and that it does not have. Returns 0
 * or -ENOMEM. Release with model__clear in any case.
 */
int strangers__find(const struct model *model, struct model *strangers);

#endif
