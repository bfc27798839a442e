// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The parameter structures of copies: how many bytes they move, in which direction, and between
 * which addresses. gpuprobe/copy_params.h has the offsets of their members.
 */
#ifndef BPF_COPY_PARAMS_BPF_H
#define BPF_COPY_PARAMS_BPF_H

#include "call/call.bpf.h"
#include "gpuprobe/copy_params.h"
#include "core/sum.bpf.h"

/* What a call copies, according to its arguments and structures. */
struct copy_plan {
	u64 bytes;
	u64 from, to; /* addresses; 0: unknown or none */
	u32 kind;
	u8 from_array, to_array; /* device memory without an address */
	u8 pad[2];
};

#define BATCH_MAX 1024 /* most batch elements that are summed; more are a counted loss */

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

static __always_inline u64 bytes_of_box(const struct extent *box)
{
	return product_of(product_of(box->width, box->height), box->depth);
}

/* The direction between two sides of type CUmemorytype; unified addresses do not determine it. */
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

/* The address of one side of a driver structure; its memory type selects the member. */
static __always_inline u64 driver_address(u64 params, u32 type, u32 type_offset)
{
	u64 address = 0;

	if (type == TYPE_ARRAY)
		return 0;
	read_at(&address, sizeof(address), params,
		type_offset +
			(type == TYPE_HOST ? MEMCPY_HOST_AFTER_TYPE : MEMCPY_DEVICE_AFTER_TYPE));
	return address;
}

__noinline int driver_box(u64 params, bool three, struct copy_plan *plan)
{
	u32 from_at = three ? MEMCPY3D_SRC_TYPE : MEMCPY2D_SRC_TYPE;
	u32 to_at = three ? MEMCPY3D_DST_TYPE : MEMCPY2D_DST_TYPE;
	struct extent box = {.depth = 1};
	u32 from = 0, to = 0;

	if (!plan)
		return 0;
	read_at(&from, sizeof(from), params, from_at);
	read_at(&to, sizeof(to), params, to_at);
	plan->kind = kind_between(from, to);
	plan->from = driver_address(params, from, from_at);
	plan->to = driver_address(params, to, to_at);
	plan->from_array = from == TYPE_ARRAY;
	plan->to_array = to == TYPE_ARRAY;
	if (read_at(&box, three ? 24 : 16, params, three ? MEMCPY3D_WIDTH : MEMCPY2D_WIDTH))
		plan->bytes = bytes_of_box(&box);
	return 0;
}

/* The running sum of a batch, and the address of its next part. */
struct batch_sum {
	u64 at;
	u64 bytes, arrays;
};

static long add_size(u64 index __attribute__((unused)), struct batch_sum *sum)
{
	u64 size;

	if (!read_at(&size, sizeof(size), sum->at, 0))
		return 1;
	sum->at += sizeof(size);
	sum->bytes = sum_of(sum->bytes, size);
	return 0;
}

/* The extent of an operation is in elements, which are single bytes unless an array is involved. */
static long add_box(u64 index __attribute__((unused)), struct batch_sum *sum)
{
	u64 operation[BATCH_OP_SIZE / 8], plain;
	struct extent box;

	if (!read_at(operation, sizeof(operation), sum->at, 0))
		return 1;
	sum->at += sizeof(operation);
	/* The second bit of the types is set only for an array. */
	plain = ~(operation[BATCH_OP_SRC_TYPE / 8] | operation[BATCH_OP_DST_TYPE / 8]) >>
			OPERAND_ARRAY_BIT &
		1;
	sum->arrays += 1 - plain;
	box.width = operation[BATCH_OP_EXTENT_AT / 8];
	box.height = operation[BATCH_OP_EXTENT_AT / 8 + 1];
	box.depth = operation[BATCH_OP_EXTENT_AT / 8 + 2];
	if (plain)
		sum->bytes = sum_of(sum->bytes, bytes_of_box(&box));
	return 0;
}

static __always_inline u32 parts_summed(u64 count)
{
	if (count <= BATCH_MAX)
		return count;
	lose(LOSS_BATCH_TOO_LONG);
	return BATCH_MAX;
}

/* In the _v1 structures, device addresses have 32 bits. */
static __always_inline u64 first_form_address(u64 params, u32 type, u32 host_at, u32 device_at)
{
	u64 address = 0;
	u32 device = 0;

	if (type == TYPE_HOST)
		read_at(&address, sizeof(address), params, host_at);
	else if (type != TYPE_ARRAY && read_at(&device, sizeof(device), params, device_at))
		address = device;
	return address;
}

__noinline int first_form_box(u64 params, bool three, struct copy_plan *plan)
{
	u32 from = 0, to = 0, box[3] = {0, 0, 1};

	if (!plan)
		return 0;
	read_at(&from, sizeof(from), params, three ? MEMCPY3D_V1_SRC_TYPE : MEMCPY2D_V1_SRC_TYPE);
	read_at(&to, sizeof(to), params, three ? MEMCPY3D_V1_DST_TYPE : MEMCPY2D_V1_DST_TYPE);
	plan->kind = kind_between(from, to);
	plan->from = first_form_address(params, from,
					three ? MEMCPY3D_V1_SRC_HOST : MEMCPY2D_V1_SRC_HOST,
					three ? MEMCPY3D_V1_SRC_DEVICE : MEMCPY2D_V1_SRC_DEVICE);
	plan->to =
		first_form_address(params, to, three ? MEMCPY3D_V1_DST_HOST : MEMCPY2D_V1_DST_HOST,
				   three ? MEMCPY3D_V1_DST_DEVICE : MEMCPY2D_V1_DST_DEVICE);
	plan->from_array = from == TYPE_ARRAY;
	plan->to_array = to == TYPE_ARRAY;
	if (read_at(box, three ? 12 : 8, params, three ? MEMCPY3D_V1_WIDTH : MEMCPY2D_V1_WIDTH))
		plan->bytes = product_of((u64)box[0] * box[1], box[2]);
	return 0;
}

/* Global, as the next function: the verifier goes through each once, not for each path to it. */
__noinline u64 sum_sizes(u64 sizes, u64 count)
{
	struct batch_sum sum = {.at = sizes};

	bpf_loop(parts_summed(count), add_size, &sum, 0);
	return sum.bytes;
}

__noinline u64 sum_boxes(u64 operations, u64 count)
{
	struct batch_sum sum = {.at = operations};

	bpf_loop(parts_summed(count), add_box, &sum, 0);
	if (sum.arrays)
		lose(LOSS_ARRAY_ELEMENTS);
	return sum.bytes;
}

/*
 * For the runtime's structures. If an array is involved, the width is in elements of unknown size.
 */
__noinline int runtime_box(u64 params, bool peer, struct copy_plan *plan)
{
	u64 source = 0, destination = 0;
	struct extent box = {};
	u32 given = COPY_DEFAULT;

	if (!plan)
		return 0;
	if (!peer && read_at(&given, sizeof(given), params, PARMS_KIND))
		plan->kind = given <= COPY_DEFAULT ? given : COPY_DEFAULT;
	read_at(&source, sizeof(source), params, PARMS_SRC_ARRAY);
	read_at(&destination, sizeof(destination), params, peer ? PEER_DST_ARRAY : PARMS_DST_ARRAY);
	plan->from_array = source != 0;
	plan->to_array = destination != 0;
	if (!peer && !source)
		read_at(&plan->from, sizeof(plan->from), params, PARMS_SRC_PTR);
	if (!peer && !destination)
		read_at(&plan->to, sizeof(plan->to), params, PARMS_DST_PTR);
	if (source || destination)
		lose(LOSS_ARRAY_ELEMENTS);
	else if (read_at(&box, sizeof(box), params, peer ? PEER_EXTENT_AT : PARMS_EXTENT_AT))
		plan->bytes = bytes_of_box(&box);
	return 0;
}

/* Fills the plan of a call whose row has copy_params. */
static __noinline int plan_by_params(struct pt_regs *ctx,
				     const volatile struct function_desc *function,
				     struct copy_plan *plan)
{
	u64 params, elements;
	struct extent box = {};

	if (!function || !plan)
		return 0;
	params = argument(ctx, function, ROLE_PARAMS);
	elements = argument(ctx, function, ROLE_ELEMENTS);
	switch (function->params) {
	case PARAMS_MEMCPY2D: return driver_box(params, false, plan);
	case PARAMS_MEMCPY3D:
	case PARAMS_MEMCPY3D_PEER: return driver_box(params, true, plan);
	case PARAMS_MEMCPY2D_V1: return first_form_box(params, false, plan);
	case PARAMS_MEMCPY3D_V1: return first_form_box(params, true, plan);
	case PARAMS_3D: return runtime_box(params, false, plan);
	case PARAMS_3D_PEER: return runtime_box(params, true, plan);
	case PARAMS_SIZES: plan->bytes = sum_sizes(params, elements); return 0;
	case PARAMS_3D_BATCH: plan->bytes = sum_boxes(params, elements); return 0;
	case PARAMS_EXTENT:
		if (read_at(&box, sizeof(box), stack_address(ctx, function, ROLE_EXTENT), 0))
			plan->bytes = bytes_of_box(&box);
		return 0;
	}
	return 0;
}

#endif
