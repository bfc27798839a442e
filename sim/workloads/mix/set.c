// SPDX-License-Identifier: BSD-2-Clause
/* Memsets of every width, one- and two-dimensional, synchronous and on streams. */
#include "mix.h"

#define MOST 4096u
#define SETTABLE (1u << HOLD_DEVICE | 1u << HOLD_POOL | 1u << HOLD_MANAGED)

struct set {
	CUdeviceptr address;
	size_t count, pitch, width, height;	/* count and width in units */
	CUstream stream;
};

#define SET_CASES(first, bits)									\
	case first:										\
		(void)cuMemsetD##bits##_v2(set->address, 1, set->count);			\
		return;										\
	case first + 1:										\
		(void)cuMemsetD##bits##_v2_ptds(set->address, 1, set->count);			\
		return;										\
	case first + 2:										\
		(void)cuMemsetD##bits##Async(set->address, 1, set->count, set->stream);		\
		return;										\
	case first + 3:										\
		(void)cuMemsetD##bits##Async_ptsz(set->address, 1, set->count, set->stream);	\
		return;										\
	case first + 4:										\
		(void)cuMemsetD2D##bits##_v2(set->address, set->pitch, 2, set->width,		\
					     set->height);					\
		return;										\
	case first + 5:										\
		(void)cuMemsetD2D##bits##_v2_ptds(set->address, set->pitch, 2, set->width,	\
						  set->height);					\
		return;										\
	case first + 6:										\
		(void)cuMemsetD2D##bits##Async(set->address, set->pitch, 2, set->width,		\
					       set->height, set->stream);			\
		return;										\
	case first + 7:										\
		(void)cuMemsetD2D##bits##Async_ptsz(set->address, set->pitch, 2, set->width,	\
						    set->height, set->stream);			\
		return

static void by_driver(const struct set *set, uint32_t which)
{
	switch (which) {
	SET_CASES(0, 8);
	SET_CASES(8, 16);
	SET_CASES(16, 32);
	}
}

static void by_runtime(const struct set *set, uint32_t which)
{
	void *address = (void *)(uintptr_t)set->address;
	cudaStream_t stream = (cudaStream_t)set->stream;

	switch (which % 8) {
	case 0:
		(void)cudaMemset(address, 1, set->count);
		return;
	case 1:
		(void)cudaMemset_ptds(address, 1, set->count);
		return;
	case 2:
		(void)cudaMemsetAsync(address, 1, set->count, stream);
		return;
	case 3:
		(void)cudaMemsetAsync_ptsz(address, 1, set->count, stream);
		return;
	case 4:
		(void)cudaMemset2D(address, set->pitch, 1, set->width, set->height);
		return;
	case 5:
		(void)cudaMemset2D_ptds(address, set->pitch, 1, set->width, set->height);
		return;
	case 6:
		(void)cudaMemset2DAsync(address, set->pitch, 1, set->width, set->height, stream);
		return;
	default:
		(void)cudaMemset2DAsync_ptsz(address, set->pitch, 1, set->width, set->height,
					     stream);
	}
}

void set__act(struct actor *actor)
{
	const struct holding *holding = memory__pick(actor, SETTABLE);
	struct set set = { .address = (uintptr_t)actor->buffer, .stream = stream__pick(actor) };
	size_t room = MOST;

	if (holding && !actor__chance(actor, 60)) {
		set.address = holding->address;
		room = holding->size < MOST ? holding->size : MOST;
	}
	room = room < 16 ? 16 : room;		/* too much for the smallest one, which fails */
	set.count = actor__chance(actor, 40) ? 0 : 1 + actor__below(actor, (uint32_t)room / 4);
	set.height = 1 + actor__below(actor, 3);
	set.pitch = (room / set.height) & ~(size_t)3;
	set.width = 1 + actor__below(actor, (uint32_t)(set.pitch / 4 ? set.pitch / 4 : 1));
	if (actor__at_runtime(actor))
		by_runtime(&set, actor__below(actor, 24));
	else
		by_driver(&set, actor__below(actor, 24));
}
