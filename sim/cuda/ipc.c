// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory and events of other processes. An opened handle gives a separate address or event; the
 * bytes and the progress behind them are not shared.
 */
#include "cuda/memory.h"

#include <string.h>

/* The contents of a handle. */
struct exported {
	uint64_t size;
	uint64_t address;
	uint32_t magic;
	uint32_t flags;
};

#define MEMORY_MAGIC 0x6d637069u
#define EVENT_MAGIC 0x65637069u

static int export_memory(CUipcMemHandle *out, CUdeviceptr address)
{
	struct exported exported = { .magic = MEMORY_MAGIC };
	struct block block;

	if (!out || !memory__find(address, &block) || block.kind != MEMORY_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	exported.size = block.size;
	exported.address = block.address;
	memset(out, 0, sizeof(*out));
	memcpy(out, &exported, sizeof(exported));
	return CUDA_SUCCESS;
}

static int open_memory(CUdeviceptr *out, const CUipcMemHandle *handle)
{
	struct block like = { .kind = MEMORY_IMPORTED };
	struct exported exported;
	uint64_t address;
	int result;

	memcpy(&exported, handle, sizeof(exported));
	if (!out || exported.magic != MEMORY_MAGIC)
		return CUDA_ERROR_INVALID_VALUE;
	like.size = exported.size;
	result = memory__allocate(&like, &address);
	if (!result)
		*out = address;
	return result;
}

static int export_event(CUipcEventHandle *out, CUevent event)
{
	struct exported exported = { .magic = EVENT_MAGIC };

	if (!out || !pool__holds(driver.events, event))
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	exported.flags = event->flags;
	memset(out, 0, sizeof(*out));
	memcpy(out, &exported, sizeof(exported));
	return CUDA_SUCCESS;
}

static int open_event(CUevent *out, const CUipcEventHandle *handle)
{
	struct exported exported;

	memcpy(&exported, handle, sizeof(exported));
	if (!out || exported.magic != EVENT_MAGIC)
		return CUDA_ERROR_INVALID_VALUE;
	*out = pool__take(driver.events);
	if (!*out)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*out)->context = driver__context();
	(*out)->flags = exported.flags;
	driver__created(SIM_EVENT);
	return CUDA_SUCCESS;
}

DRIVER(cuIpcGetMemHandle, SIM_OTHER, (CUipcMemHandle *out, CUdeviceptr address), 0,
       export_memory(out, address));
DRIVER(cuIpcOpenMemHandle, SIM_ALLOC, (CUdeviceptr *out, CUipcMemHandle handle,
				       unsigned int flags), 0,
       ((void)flags, open_memory(out, &handle)));
DRIVER(cuIpcOpenMemHandle_v2, SIM_ALLOC, (CUdeviceptr *out, CUipcMemHandle handle,
					  unsigned int flags), 0,
       ((void)flags, open_memory(out, &handle)));
DRIVER(cuIpcCloseMemHandle, SIM_FREE, (CUdeviceptr address), 0,
       memory__free(address, KIND(MEMORY_IMPORTED), NULL));
DRIVER(cuIpcGetEventHandle, SIM_OTHER, (CUipcEventHandle *out, CUevent event), 0,
       export_event(out, event));
DRIVER(cuIpcOpenEventHandle, SIM_OTHER, (CUevent *out, CUipcEventHandle handle), 0,
       open_event(out, &handle));
