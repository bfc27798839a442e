// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The parameter structures of copies: how many bytes they move, and which
 * way. Where their members are is in gpuprobe/copy_params.h.
 */
#ifndef BPF_PARAMS_H
#define BPF_PARAMS_H

#include "call.h"
#include "gpuprobe/copy_params.h"

#define BATCH_MAX 1024 /* elements of a batch that are summed up; more are a counted loss */

/* CUmemorytype */
#define TYPE_HOST 1
#define TYPE_DEVICE 2
#define TYPE_ARRAY 3
/* cudaMemcpy3DOperandType is 1 for a pointer, 2 for an array */
#define OPERAND_ARRAY_BIT 1

struct extent {
	u64 width, height, depth;
};

static __always_inline bool read_at(void *to, u32 size, u64 base, u64 offset)
{
	if (!bpf_probe_read_user(to, size, (void *)(base + offset)))
		return true;
	lose(LOSS_UNREADABLE);
	return false;
}

/* The way between two sides that CUmemorytype names; unified addresses do not tell. */
static __always_inline u8 kind_between(u32 from, u32 to)
{
	bool from_host = from == TYPE_HOST, to_host = to == TYPE_HOST;

	if ((!from_host && from != TYPE_DEVICE && from != TYPE_ARRAY) ||
	    (!to_host && to != TYPE_DEVICE && to != TYPE_ARRAY))
		return COPY_DEFAULT;
	if (from_host)
		return to_host ? COPY_H2H : COPY_H2D;
	return to_host ? COPY_D2H : COPY_D2D;
}

static __always_inline u64 driver_box(u64 params, bool three, u8 *kind)
{
	struct extent box = {.depth = 1};
	u32 from = 0, to = 0;

	read_at(&from, sizeof(from), params, three ? MEMCPY3D_SRC_TYPE : MEMCPY2D_SRC_TYPE);
	read_at(&to, sizeof(to), params, three ? MEMCPY3D_DST_TYPE : MEMCPY2D_DST_TYPE);
	if (!read_at(&box, three ? 24 : 16, params, three ? MEMCPY3D_WIDTH : MEMCPY2D_WIDTH))
		return 0;
	*kind = kind_between(from, to);
	return box.width * box.height * box.depth;
}

/* Global, as the next: the verifier goes through their loops once, not for each way to them. */
__noinline u64 sum_sizes(u64 sizes, u64 count)
{
	u64 bytes = 0, size;

	for (u32 i = 0; i < BATCH_MAX && i < count; i++) {
		if (!read_at(&size, sizeof(size), sizes, i * 8))
			break;
		bytes += size;
	}
	if (count > BATCH_MAX)
		lose(LOSS_BATCH_TOO_LONG);
	return bytes;
}

/*
 * The extent of an operation is in elements: of one byte, unless an array takes
 * part. Read at once and without branches, which each of the loop's rounds
 * would cost the verifier anew.
 */
__noinline u64 sum_boxes(u64 operations, u64 count)
{
	u64 operation[BATCH_OP_SIZE / 8], bytes = 0, arrays = 0, plain;

	for (u32 i = 0; i < BATCH_MAX && i < count; i++) {
		if (!read_at(operation, sizeof(operation), operations, i * BATCH_OP_SIZE))
			break;
		/* The types' second bit is set for an array, and for nothing else. */
		plain = ~(operation[BATCH_OP_SRC_TYPE / 8] | operation[BATCH_OP_DST_TYPE / 8]) >>
				OPERAND_ARRAY_BIT & 1;
		arrays += 1 - plain;
		bytes += plain * operation[BATCH_OP_EXTENT_AT / 8] *
			 operation[BATCH_OP_EXTENT_AT / 8 + 1] *
			 operation[BATCH_OP_EXTENT_AT / 8 + 2];
	}
	if (arrays)
		lose(LOSS_ARRAY_ELEMENTS);
	if (count > BATCH_MAX)
		lose(LOSS_BATCH_TOO_LONG);
	return bytes;
}

/* Of the runtime's structures; where an array takes part, the width is in elements of unknown size. */
static __always_inline u64 runtime_box(u64 params, bool peer, u8 *kind)
{
	u64 source = 0, destination = 0;
	struct extent box = {};
	u32 given = COPY_DEFAULT;

	if (!peer && read_at(&given, sizeof(given), params, PARMS_KIND))
		*kind = given <= COPY_DEFAULT ? given : COPY_DEFAULT;
	read_at(&source, sizeof(source), params, PARMS_SRC_ARRAY);
	read_at(&destination, sizeof(destination), params, peer ? PEER_DST_ARRAY : PARMS_DST_ARRAY);
	if (source || destination) {
		lose(LOSS_ARRAY_ELEMENTS);
		return 0;
	}
	if (!read_at(&box, sizeof(box), params, peer ? PEER_EXTENT_AT : PARMS_EXTENT_AT))
		return 0;
	return box.width * box.height * box.depth;
}

/* The bytes of a call whose row has copy_params; *kind is set where they tell it. */
static __noinline u64 bytes_of_params(struct pt_regs *ctx, const volatile struct function_desc *function, u8 *kind)
{
	u64 params, elements;
	struct extent box = {};

	if (!function || !kind)
		return 0;
	params = argument(ctx, function, ROLE_PARAMS);
	elements = argument(ctx, function, ROLE_ELEMENTS);
	switch (function->params) {
	case PARAMS_MEMCPY2D:
		return driver_box(params, false, kind);
	case PARAMS_MEMCPY3D:
		return driver_box(params, true, kind);
	case PARAMS_MEMCPY3D_PEER:
		return driver_box(params, true, kind);
	case PARAMS_3D:
		return runtime_box(params, false, kind);
	case PARAMS_3D_PEER:
		return runtime_box(params, true, kind);
	case PARAMS_SIZES:
		return sum_sizes(params, elements);
	case PARAMS_3D_BATCH:
		return sum_boxes(params, elements);
	case PARAMS_EXTENT:
		if (!read_at(&box, sizeof(box), stack_address(ctx, function, ROLE_EXTENT), 0))
			return 0;
		return box.width * box.height * box.depth;
	}
	return 0;
}

#endif
