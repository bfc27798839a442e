// SPDX-License-Identifier: BSD-2-Clause
// Versions, unique ids and commHash. The hashes are gpuprobe's own (src/nccl/hash.c): they are
// checked against real NCCL, and a second copy would prove nothing.
#include "nccl/identity.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../src/nccl/hash.h"

#define USUAL_VERSION 22809

int identity__version(void)
{
	const char *version = getenv("CUDA_SIM_NCCL_VERSION");

	return version ? atoi(version) : USUAL_VERSION;
}

uint64_t identity__of_shrink(uint64_t parent)
{
	return nccl_hash__shrink(parent);
}

uint64_t identity__magic(const ncclUniqueId *id)
{
	return nccl_hash__magic((const uint8_t *)id->internal);
}

uint64_t identity__grown_magic(uint64_t parent_magic, int number)
{
	return nccl_hash__grown_magic(parent_magic, number);
}

uint64_t identity__of_grow(uint64_t grown_magic, int size)
{
	return nccl_hash__grow(grown_magic, size);
}

void identity__make_for(ncclUniqueId *id, uint64_t magic)
{
	identity__make(id);
	memcpy(id->internal, &magic, sizeof(magic));
}

void identity__make(ncclUniqueId *id)
{
	char *at = id->internal;
	size_t left = sizeof(id->internal);

	while (left) {
		ssize_t got = getrandom(at, left, 0);

		if (got > 0) {
			at += got;
			left -= (size_t)got;
		}
	}
}

uint64_t identity__of_id(const ncclUniqueId *id)
{
	return nccl_hash__id(nccl_hashing__of_version(identity__version()),
			     (const uint8_t *)id->internal);
}

uint64_t identity__of_split(uint64_t parent, int number, int color)
{
	return nccl_hash__split(nccl_hashing__of_version(identity__version()), parent, number,
				color);
}
