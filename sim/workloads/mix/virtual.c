// SPDX-License-Identifier: BSD-2-Clause
/*
 * Other kinds of memory: address ranges with physical memory mapped into them, pools created by the
 * program, and memory exported and opened again. Each action cleans up unless a call fails or is
 * left.
 */
#include "mix.h"

#define UNIT (2ull << 20)

static CUmemAllocationProp on_device(const struct actor *actor)
{
	return (CUmemAllocationProp){
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE,
			      actor->here.device >= 0 ? actor->here.device : 0 },
	};
}

/* Two mappings of one physical allocation, one through a retained handle. */
static void use_range(struct actor *actor, CUdeviceptr range, uint64_t units,
		      CUmemGenericAllocationHandle handle)
{
	CUmemAccessDesc access = { on_device(actor).location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUmemGenericAllocationHandle again;
	CUdeviceptr second = range + units * UNIT;

	if (cuMemMap(range, units * UNIT, 0, handle, 0))
		return;
	(void)cuMemSetAccess(range, units * UNIT, &access, 1);
	if (actor__chance(actor, 2) &&
	    !cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)range)) {
		if (!cuMemMap(second, units * UNIT, 0, again, 0) && !actor__chance(actor, 16))
			(void)cuMemUnmap(second, units * UNIT);
		if (!actor__chance(actor, 16))
			(void)cuMemRelease(again);
	}
	if (actor__chance(actor, 2))
		(void)cuMemsetD8(range, 1, 1 + actor__below(actor, 4096));
	if (!actor__chance(actor, 16))
		(void)cuMemUnmap(range, units * UNIT);
}

void virtual__act(struct actor *actor)
{
	CUmemAllocationProp wanted = on_device(actor);
	uint64_t units = 1 + actor__below(actor, 3);
	CUmemGenericAllocationHandle handle;
	CUdeviceptr range;

	if (cuMemAddressReserve(&range, 2 * units * UNIT, 0, 0, 0))
		return;
	if (!cuMemCreate(&handle, units * UNIT, &wanted, 0)) {
		use_range(actor, range, units, handle);
		if (!actor__chance(actor, 16))
			(void)cuMemRelease(handle);
	}
	/* Fails if something is still mapped. */
	(void)cuMemAddressFree(range, 2 * units * UNIT);
}

void ipc__act(struct actor *actor)
{
	struct holding *holding = memory__pick(actor, 1u << HOLD_DEVICE);
	void *pointer;
	union {
		CUipcMemHandle driver;
		cudaIpcMemHandle_t runtime;
	} handle;
	CUdeviceptr opened;

	if (!holding)
		return;
	if (actor__at_runtime(actor)) {
		if (cudaIpcGetMemHandle(&handle.runtime, (void *)(uintptr_t)holding->address))
			return;
		if (!cudaIpcOpenMemHandle(&pointer, handle.runtime, 1) && !actor__chance(actor, 32))
			(void)cudaIpcCloseMemHandle(pointer);
		return;
	}
	if (cuIpcGetMemHandle(&handle.driver, holding->address))
		return;
	if (!cuIpcOpenMemHandle(&opened, handle.driver, 1) && !actor__chance(actor, 32))
		(void)cuIpcCloseMemHandle(opened);
}

void pool__act(struct actor *actor)
{
	CUmemPoolProps wanted = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = on_device(actor).location,
	};
	uint64_t threshold = actor__chance(actor, 2) ? UINT64_MAX : 0;
	CUdeviceptr address;
	CUmemoryPool pool;

	if (cuMemPoolCreate(&pool, &wanted))
		return;
	(void)cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
	for (uint32_t i = actor__below(actor, 4); i; i--) {
		CUstream stream = stream__pick(actor);

		if (!cuMemAllocFromPoolAsync(&address, 1 + actor__below(actor, 100000), pool,
					     stream) &&
		    !actor__chance(actor, 32))
			(void)cuMemFreeAsync(address, stream);
	}
	if (actor__chance(actor, 2))
		(void)cuMemPoolTrimTo(pool, actor__below(actor, 100000));
	(void)cuMemPoolDestroy(pool);
}
