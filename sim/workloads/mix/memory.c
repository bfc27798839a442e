// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocations of each kind and their frees: by the actor that made them or by another one, of NULL,
 * of addresses that were never allocated, and of freed memory.
 */
#include "mix.h"

#include <stdlib.h>
#include <string.h>

#define BOGUS 0xdead0000ull
#define LARGEST (200u << 10)
/* Sizes that no other actor and no other kind of call uses: see free_twice(). */
#define OWN_SIZE(index) ((600u + (index)) * 512u)

typedef int (*allocate_fn)(struct actor *actor, void **out, size_t size);

static int allocate_device(struct actor *actor, void **out, size_t size)
{
	return actor__at_runtime(actor) ? (int)cudaMalloc(out, size) :
					  (int)cuMemAlloc((CUdeviceptr *)out, size);
}

/* Only the first row of pitched memory is used. */
static int allocate_pitched(struct actor *actor, void **out, size_t size)
{
	struct cudaPitchedPtr pitched;
	size_t pitch, rows = 1 + actor__below(actor, 5);
	int result;

	if (!actor__at_runtime(actor))
		return (int)cuMemAllocPitch((CUdeviceptr *)out, &pitch, size, rows,
					    4u << actor__below(actor, 3));
	if (actor__chance(actor, 2))
		return (int)cudaMallocPitch(out, &pitch, size, rows);
	result = (int)cudaMalloc3D(&pitched, (struct cudaExtent){ size, rows,
								  1 + actor__below(actor, 3) });
	if (!result)
		*out = pitched.ptr;
	return result;
}

static int allocate_managed(struct actor *actor, void **out, size_t size)
{
	return actor__at_runtime(actor) ?
		       (int)cudaMallocManaged(out, size, cudaMemAttachGlobal) :
		       (int)cuMemAllocManaged((CUdeviceptr *)out, size, CU_MEM_ATTACH_GLOBAL);
}

static int allocate_pool(struct actor *actor, void **out, size_t size)
{
	CUstream stream = stream__pick(actor);
	CUdeviceptr *address = (CUdeviceptr *)out;
	CUmemoryPool pool = NULL;
	int device = actor->here.device >= 0 ? actor->here.device : 0;
	bool per_thread = actor__chance(actor, 2);

	if (actor__chance(actor, 2)) {
		if (!actor__at_runtime(actor))
			return per_thread ? (int)cuMemAllocAsync_ptsz(address, size, stream) :
					    (int)cuMemAllocAsync(address, size, stream);
		return per_thread ? (int)cudaMallocAsync_ptsz(out, size, (cudaStream_t)stream) :
				    (int)cudaMallocAsync(out, size, (cudaStream_t)stream);
	}
	if (cuDeviceGetDefaultMemPool(&pool, device))
		return 1;
	if (!actor__at_runtime(actor))
		return per_thread ?
			       (int)cuMemAllocFromPoolAsync_ptsz(address, size, pool, stream) :
			       (int)cuMemAllocFromPoolAsync(address, size, pool, stream);
	return per_thread ? (int)cudaMallocFromPoolAsync_ptsz(out, size, (cudaMemPool_t)pool,
							      (cudaStream_t)stream) :
			    (int)cudaMallocFromPoolAsync(out, size, (cudaMemPool_t)pool,
							 (cudaStream_t)stream);
}

static int allocate_pinned(struct actor *actor, void **out, size_t size)
{
	bool plain = actor__chance(actor, 2);

	if (actor__at_runtime(actor))
		return plain ? (int)cudaMallocHost(out, size) :
			       (int)cudaHostAlloc(out, size, actor__below(actor, 8));
	return plain ? (int)cuMemAllocHost(out, size) :
		       (int)cuMemHostAlloc(out, size, actor__below(actor, 8));
}

static int allocate_registered(struct actor *actor, void **out, size_t size)
{
	void *memory = NULL;
	int result;

	if (posix_memalign(&memory, 4096, (size + 4095) & ~(size_t)4095))
		give_up("no memory");
	result = actor__at_runtime(actor) ?
			 (int)cudaHostRegister(memory, size, 0) :
			 (int)cuMemHostRegister(memory, size, 0);
	if (result)
		free(memory);
	else
		*out = memory;
	return result;
}

static int allocate_array_at_runtime(struct actor *actor, void **out, size_t width, size_t height)
{
	struct cudaChannelFormatDesc channels = { 8, 8, 0, 0, cudaChannelFormatKindUnsigned };

	if (actor__chance(actor, 2))
		return (int)cudaMallocArray((cudaArray_t *)out, &channels, width, height, 0);
	return (int)cudaMalloc3DArray((cudaArray_t *)out, &channels,
				      (struct cudaExtent){ width, height, 0 }, 0);
}

static int allocate_array(struct actor *actor, void **out, size_t size)
{
	static const CUarray_format formats[] = {
		CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_FLOAT,
	};
	CUDA_ARRAY3D_DESCRIPTOR solid = {
		.Width = 64 + size % 512, .Height = actor__below(actor, 20),
		.Format = PICK(actor, formats), .NumChannels = 1u << actor__below(actor, 3),
	};
	CUDA_ARRAY_DESCRIPTOR flat = {
		.Width = solid.Width, .Height = solid.Height, .Format = solid.Format,
		.NumChannels = solid.NumChannels,
	};

	if (actor__at_runtime(actor))
		return allocate_array_at_runtime(actor, out, solid.Width, solid.Height);
	if (actor__chance(actor, 2))
		return (int)cuArrayCreate((CUarray *)out, &flat);
	if (solid.Height)
		solid.Depth = actor__below(actor, 4);
	return (int)cuArray3DCreate((CUarray *)out, &solid);
}

static int allocate_mipmaps(struct actor *actor, void **out, size_t size)
{
	struct cudaChannelFormatDesc channels = { 32, 0, 0, 0, cudaChannelFormatKindFloat };
	uint32_t levels = 1 + actor__below(actor, 4);
	CUDA_ARRAY3D_DESCRIPTOR shape = {
		.Width = 16 + size % 100, .Height = 16, .Format = CU_AD_FORMAT_FLOAT,
		.NumChannels = 2,
	};

	if (actor__at_runtime(actor))
		return (int)cudaMallocMipmappedArray((cudaMipmappedArray_t *)out, &channels,
						     (struct cudaExtent){ shape.Width, 16, 0 },
						     levels, 0);
	return (int)cuMipmappedArrayCreate((CUmipmappedArray *)out, &shape, levels);
}

static const struct {
	allocate_fn allocate;
	enum holding_kind kind;
	bool flat;
} ways[] = {
	{ allocate_device, HOLD_DEVICE, true },
	{ allocate_device, HOLD_DEVICE, true },
	{ allocate_pitched, HOLD_DEVICE, true },
	{ allocate_managed, HOLD_MANAGED, true },
	{ allocate_pool, HOLD_POOL, true },
	{ allocate_pinned, HOLD_PINNED, true },
	{ allocate_registered, HOLD_REGISTERED, true },
	{ allocate_array, HOLD_ARRAY, false },
	{ allocate_mipmaps, HOLD_MIPMAPS, false },
};

static void hold(struct actor *actor, const struct holding *holding)
{
	actor->held[actor->nr_held++] = *holding;
}

void memory__allocate(struct actor *actor)
{
	uint32_t way = actor__below(actor, sizeof(ways) / sizeof(*ways));
	struct holding holding = {
		.kind = ways[way].kind, .flat = ways[way].flat,
		.size = 1 + actor__below(actor, actor__chance(actor, 4) ? LARGEST : 4096),
	};
	void *address = NULL;

	if (actor->nr_held == MIX_HOLDINGS)
		return;
	if (actor__chance(actor, 64)) {		/* too much, or nothing */
		size_t size = actor__chance(actor, 2) ? 0 : 1ull << 60;

		(void)(actor__at_runtime(actor) ? (int)cudaMalloc(&address, size) :
						  (int)cuMemAlloc((CUdeviceptr *)&address, size));
		return;
	}
	if (ways[way].allocate(actor, &address, holding.size) || !address)
		return;
	if (actor->here.device < 0)
		actor__find_here(actor);
	holding.address = (uintptr_t)address;
	holding.home = actor->here;
	if (holding.kind == HOLD_POOL)
		holding.home.device = -1;	/* outlives its context */
	hold(actor, &holding);
}

static int release(struct actor *actor, const struct holding *holding)
{
	bool runtime = actor__at_runtime(actor);
	void *pointer = (void *)(uintptr_t)holding->address;
	CUstream stream;

	switch (holding->kind) {
	case HOLD_POOL:
		if (!actor__chance(actor, 4)) {
			stream = stream__pick(actor);
			if (runtime)
				return (int)cudaFreeAsync(pointer, (cudaStream_t)stream);
			return actor__chance(actor, 2) ?
				       (int)cuMemFreeAsync(holding->address, stream) :
				       (int)cuMemFreeAsync_ptsz(holding->address, stream);
		}
		/* fall through */
	case HOLD_DEVICE:
	case HOLD_MANAGED:
		return runtime ? (int)cudaFree(pointer) : (int)cuMemFree(holding->address);
	case HOLD_PINNED:
		return runtime ? (int)cudaFreeHost(pointer) : (int)cuMemFreeHost(pointer);
	case HOLD_REGISTERED:
		return runtime ? (int)cudaHostUnregister(pointer) :
				 (int)cuMemHostUnregister(pointer);
	case HOLD_ARRAY:
		return runtime ? (int)cudaFreeArray((cudaArray_t)pointer) :
				 (int)cuArrayDestroy((CUarray)pointer);
	case HOLD_MIPMAPS:
		return runtime ? (int)cudaFreeMipmappedArray((cudaMipmappedArray_t)pointer) :
				 (int)cuMipmappedArrayDestroy((CUmipmappedArray)pointer);
	default:
		return 0;
	}
}

void memory__forget(const struct holding *holding)
{
	if (holding->kind == HOLD_REGISTERED)
		free((void *)(uintptr_t)holding->address);
}

static void free_one(struct actor *actor)
{
	struct holding *holding;

	if (!actor->nr_held)
		return;
	holding = &actor->held[actor__below(actor, actor->nr_held)];
	if (release(actor, holding))
		return;
	memory__forget(holding);
	*holding = actor->held[--actor->nr_held];
}

/* Frees NULL, and addresses that are no allocations. */
static void free_wrongly(struct actor *actor)
{
	uint64_t address = actor__chance(actor, 2) ? 0 :
			   BOGUS + actor__below(actor, 4096) * 4096ull;
	void *pointer = (void *)(uintptr_t)address;

	switch (actor__below(actor, 4)) {
	case 0:
		(void)(actor__at_runtime(actor) ? (int)cudaFree(pointer) :
						  (int)cuMemFree(address));
		return;
	case 1:
		(void)(actor__at_runtime(actor) ? (int)cudaFreeHost(pointer) :
						  (int)cuMemFreeHost(pointer));
		return;
	case 2:
		(void)(actor__at_runtime(actor) ? (int)cudaFreeAsync(pointer, NULL) :
						  (int)cuMemFreeAsync(address, NULL));
		return;
	default:
		(void)(actor__at_runtime(actor) ? (int)cudaHostUnregister(pointer) :
						  (int)cuMemHostUnregister(pointer));
	}
}

/*
 * A second free must not hit memory that another thread got at the same address meanwhile, so only
 * this actor allocates this size.
 */
static void free_twice(struct actor *actor)
{
	CUdeviceptr address;

	if (cuMemAlloc(&address, OWN_SIZE(actor->index)))
		return;
	for (int tries = 0; tries < 100; tries++) {
		int result = actor__at_runtime(actor) ?
				     (int)cudaFree((void *)(uintptr_t)address) :
				     (int)cuMemFree(address);

		if (result)
			continue;
		(void)(actor__at_runtime(actor) ? (int)cudaFree((void *)(uintptr_t)address) :
						  (int)cuMemFree(address));
		return;
	}
}

/* Passes a thing on for any other actor, or takes one. */
static void hand_over(struct actor *actor)
{
	struct mix *mix = actor->mix;
	struct holding *holding;

	pthread_mutex_lock(&mix->lock);
	if (actor__chance(actor, 2)) {
		if (mix->nr_shared && actor->nr_held < MIX_HOLDINGS) {
			holding = &mix->shared[actor__below(actor, mix->nr_shared)];
			hold(actor, holding);
			*holding = mix->shared[--mix->nr_shared];
		}
	} else if (actor->nr_held && mix->nr_shared < MIX_SHARED) {
		holding = &actor->held[actor__below(actor, actor->nr_held)];
		if (!holding->home.context || holding->kind == HOLD_POOL) {
			mix->shared[mix->nr_shared++] = *holding;
			*holding = actor->held[--actor->nr_held];
		}
	}
	pthread_mutex_unlock(&mix->lock);
	actor__forget_gone(actor);
}

struct holding *memory__pick(struct actor *actor, uint32_t kinds)
{
	uint32_t start;

	if (!actor->nr_held)
		return NULL;
	start = actor__below(actor, actor->nr_held);
	for (uint32_t i = 0; i < actor->nr_held; i++) {
		struct holding *holding = &actor->held[(start + i) % actor->nr_held];

		if (1u << holding->kind & kinds)
			return holding;
	}
	return NULL;
}

void memory__act(struct actor *actor)
{
	uint32_t what = actor__below(actor, 100);

	if (what < 50 && actor->nr_held < MIX_HOLDINGS)
		memory__allocate(actor);
	else if (what < 85)
		free_one(actor);
	else if (what < 92)
		hand_over(actor);
	else if (what < 97)
		free_wrongly(actor);
	else
		free_twice(actor);
}
