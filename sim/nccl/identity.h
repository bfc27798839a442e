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
/* One that leads to a grown communicator with this magic. */
void identity__make_for(ncclUniqueId *id, uint64_t magic);
uint64_t identity__magic(const ncclUniqueId *id);
/* As that version of NCCL computes them; src/nccl/hash.h explains numbers and magic. */
uint64_t identity__of_id(const ncclUniqueId *id);
uint64_t identity__of_split(uint64_t parent, int number, int color);
uint64_t identity__of_shrink(uint64_t parent);
uint64_t identity__grown_magic(uint64_t parent_magic, int number);
uint64_t identity__of_grow(uint64_t grown_magic, int size);

#endif
