// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sides of batched copies. A batch counts as one call of one kind, so it has a direction, or a
 * pinned host side, only if all its parts share it. In long batches the first parts are not assumed
 * to represent the rest.
 */
#ifndef BPF_COPY_BATCH_BPF_H
#define BPF_COPY_BATCH_BPF_H

#include "copy/params.bpf.h"
#include "copy/sides.bpf.h"

#define BATCH_SIDES_MAX 32 /* longest batch whose sides are looked up */
#define OPERAND_ARRAY 2	   /* CUmemcpy3DOperandType, cudaMemcpy3DOperandType */

static __always_inline int side_of_part(u32 slot, u64 addresses, u32 index)
{
	u64 address = 0;

	if (!read_at(&address, sizeof(address), addresses, index * 8))
		return SIDE_UNKNOWN;
	return side_of(slot, address);
}

static __always_inline int side_of_operand(u32 slot, u64 operand)
{
	u64 address = 0;
	u32 type = 0;

	if (!read_at(&type, sizeof(type), operand, 0))
		return SIDE_UNKNOWN;
	if (type == OPERAND_ARRAY)
		return SIDE_DEVICE | DEVICE_UNKNOWN << SIDE_DEVICE_SHIFT;
	if (!read_at(&address, sizeof(address), operand, BATCH_PTR_AFTER_TYPE))
		return SIDE_UNKNOWN;
	return side_of(slot, address);
}

/* The kind of one part, with the TALLY_* flag of its host side above it. */
static __always_inline u32 part_of_sides(int from, int to)
{
	u8 kind = kind_of_sides(from, to);
	int host = (kind == COPY_H2D ? from : to) & SIDE_MASK;

	if (kind != COPY_H2D && kind != COPY_D2H)
		return kind;
	return kind | (host == SIDE_PINNED ? TALLY_PINNED : TALLY_PAGEABLE) << 8;
}

/* Where a batch's parts are described. */
struct batch {
	u64 params, elements;
	u64 sources, destinations; /* arrays of addresses; boxes have theirs in `params` */
	u64 boxes;
};

/* The kind of a batch's part, with the TALLY_* flag of its host side above it. */
__noinline int batch_part(u32 slot, const struct batch *batch, u32 index)
{
	u64 operation;

	if (!batch)
		return COPY_DEFAULT;
	operation = batch->params + (u64)index * BATCH_OP_SIZE;
	if (batch->boxes)
		return part_of_sides(side_of_operand(slot, operation + BATCH_OP_SRC_TYPE),
				     side_of_operand(slot, operation + BATCH_OP_DST_TYPE));
	return part_of_sides(side_of_part(slot, batch->sources, index),
			     side_of_part(slot, batch->destinations, index));
}

/* Sets the plan's kind. Returns the TALLY_* flag of its host side, or 0. */
__noinline int batch_sides(u32 slot, const struct batch *batch, struct copy_plan *plan)
{
	u32 all, differ = 0;

	if (!batch || !plan || !batch->elements || batch->elements > BATCH_SIDES_MAX)
		return 0;
	all = batch_part(slot, batch, 0);
	for (u32 i = 1; i < BATCH_SIDES_MAX && i < batch->elements; i++)
		differ |= all ^ batch_part(slot, batch, i);
	if (differ & 0xff)
		return 0;
	plan->kind = all & 0xff;
	/*
	 * All parts have one direction, but the host side may be pinned in some and pageable in
	 * others.
	 */
	return differ ? 0 : all >> 8;
}

/* The same for the entering call. */
static __always_inline int find_batch_sides(struct pt_regs *ctx,
					    const volatile struct function_desc *function, u32 slot,
					    struct copy_plan *plan)
{
	struct batch batch = {
		.params = argument(ctx, function, ROLE_PARAMS),
		.elements = argument(ctx, function, ROLE_ELEMENTS),
		.sources = argument(ctx, function, ROLE_SRC),
		.destinations = argument(ctx, function, ROLE_DST),
		.boxes = function->params == PARAMS_3D_BATCH,
	};

	return batch_sides(slot, &batch, plan);
}

#endif
