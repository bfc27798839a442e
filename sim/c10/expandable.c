// SPDX-License-Identifier: BSD-2-Clause
// Memory that grows in place, see expandable.h.
#include "c10/expandable.h"

#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"

#define PIECE (20u << 20)

struct expandable {
	CUdeviceptr address;
	int device;
	size_t count, room; /* of pieces */
	CUmemGenericAllocationHandle pieces[];
};

bool expandable__is_wanted(void)
{
	const char *conf = getenv("PYTORCH_CUDA_ALLOC_CONF");

	return conf && strstr(conf, "expandable_segments:True");
}

struct expandable *expandable__new(int device)
{
	struct expandable *memory;
	size_t available, total, room;

	if (cudaMemGetInfo(&available, &total))
		return NULL;
	room = (total + total / 8) / PIECE;
	memory = calloc(1, sizeof(*memory) + room * sizeof(*memory->pieces));
	if (!memory || cuMemAddressReserve(&memory->address, room * PIECE, 0, 0, 0)) {
		free(memory);
		return NULL;
	}
	memory->device = device;
	memory->room = room;
	return memory;
}

char *expandable__address(const struct expandable *memory)
{
	return (char *)(uintptr_t)memory->address;
}

static bool map(const struct expandable *memory, size_t first, size_t count)
{
	const CUmemAccessDesc access = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = memory->device},
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};

	for (size_t i = first; i < first + count; i++)
		if (cuMemMap(memory->address + i * PIECE, PIECE, 0, memory->pieces[i], 0))
			return false;
	return !cuMemSetAccess(memory->address + first * PIECE, count * PIECE, &access, 1);
}

size_t expandable__grow(struct expandable *memory, size_t bytes)
{
	const CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = memory->device},
	};
	size_t first = memory->count, count = (bytes + PIECE - 1) / PIECE, made = 0;

	/* PyTorch, too, takes what it can before it finds that there are too few addresses. */
	while (made < count && first + made < memory->room &&
	       !cuMemCreate(&memory->pieces[first + made], PIECE, &prop, 0))
		made++;
	if (made < count || !map(memory, first, count)) {
		while (made)
			cuMemRelease(memory->pieces[first + --made]);
		return 0;
	}
	memory->count += count;
	return count * PIECE;
}

size_t expandable__shrink(struct expandable *memory, size_t bytes)
{
	size_t count = bytes / PIECE;

	if (!count)
		return 0;
	memory->count -= count;
	cuMemUnmap(memory->address + memory->count * PIECE, count * PIECE);
	for (size_t i = 0; i < count; i++)
		cuMemRelease(memory->pieces[memory->count + i]);
	return count * PIECE;
}
