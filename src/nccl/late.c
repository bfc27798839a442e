// SPDX-License-Identifier: BSD-2-Clause
// Which communicators were looked at, see late.h.
#include "nccl/late.h"

bool nccl_late__takes(struct nccl_late *late, uint64_t handle)
{
	if (late->count == NCCL_LATE_MOST)
		return false;
	for (size_t i = 0; i < NCCL_LATE_KEPT; i++)
		if (late->looked[i] == handle)
			return false;
	late->looked[late->count++ % NCCL_LATE_KEPT] = handle;
	return true;
}

void nccl_late__forget(struct nccl_late *late, uint64_t handle)
{
	for (size_t i = 0; i < NCCL_LATE_KEPT; i++)
		if (late->looked[i] == handle)
			late->looked[i] = 0;
}
