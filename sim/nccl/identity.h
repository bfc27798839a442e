/* SPDX-License-Identifier: BSD-2-Clause */
/* Versions, unique ids and commHash of the simulated libnccl. */
#ifndef SIM_NCCL_IDENTITY_H
#define SIM_NCCL_IDENTITY_H

#include <stdint.h>

#include "nccl_api.h"

/* CUDA_SIM_NCCL_VERSION, such as 22501 [22809]. */
int identity__version(void);
/* A new id. */
void identity__make(ncclUniqueId *id);
/* As that version of NCCL computes them. */
uint64_t identity__of_id(const ncclUniqueId *id);
uint64_t identity__of_split(uint64_t parent, int number, int color);

#endif
