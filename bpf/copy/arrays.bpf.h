// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An array's size in bytes, from the descriptor it is created with: elements times bits, summed
 * over its mipmap levels. The padding of rows and levels that the driver adds is unknown. Offsets
 * and values are facts of cuda.h and driver_types.h of CUDA 13.0.
 */
#ifndef BPF_COPY_ARRAYS_BPF_H
#define BPF_COPY_ARRAYS_BPF_H

#include "call/call.bpf.h"
#include "copy/params.bpf.h"

/*
 * CUDA_ARRAY3D_LAYERED and _CUBEMAP: the depth is the number of layers; _SPARSE and deferred
 * mapping: no memory
 */
#define ARRAY_IN_LAYERS 0x05
#define ARRAY_WITHOUT_MEMORY 0xc0
#define ARRAY_LEVELS 32

/* Unknown sizes, counted as a loss once the call has succeeded. */
#define SIZE_UNREADABLE (~0ull)
#define SIZE_OF_UNKNOWN_FORMAT (~0ull - 1)

/* CUarray_format */
#define FORMAT_BC1 0x91
#define FORMAT_BC2 0x93
#define FORMAT_BC4 0x97
#define FORMAT_BC5 0x99
#define FORMAT_BC7_SRGB 0x9e
#define FORMAT_NV12 0xb0
/* cudaChannelFormatKind */
#define KIND_NV12 4
#define KIND_BC1 17
#define KIND_BC2 19
#define KIND_BC4 23
#define KIND_BC5 25
#define KIND_BC7_SRGB 30

/* How a call describes its array. */
struct array_request {
	u64 desc;   /* address of the descriptor */
	u64 extent; /* address of a cudaExtent; 0: width and height apply */
	u64 width, height;
	u32 params; /* enum copy_params */
	u32 levels;
	u32 flags; /* with PARAMS_CHANNELS */
	u32 pad;
};

struct array_shape {
	struct extent extent;
	u32 bits; /* bits per element; 0: unknown */
	u32 flags;
	u32 in_blocks; /* compressed, in blocks of 4 x 4 elements */
	bool unreadable;
};

static __always_inline bool read_of_shape(struct array_shape *shape, void *to, u32 size,
					  u64 address)
{
	shape->unreadable = bpf_probe_read_user(to, size, (void *)address);
	return !shape->unreadable;
}

/* Bits of one channel of a plain format. */
static __always_inline u32 bits_of_format(u32 format)
{
	switch (format) {
	case 0x01: /* UNSIGNED_INT8 */
	case 0x08: /* SIGNED_INT8 */
	case 0xc0: /* UNORM_INT8X1, X2, X4 */
	case 0xc1:
	case 0xc2:
	case 0xc6: /* SNORM_INT8X1, X2, X4 */
	case 0xc7:
	case 0xc8: return 8;
	case 0x02: /* UNSIGNED_INT16 */
	case 0x09: /* SIGNED_INT16 */
	case 0x10: /* HALF */
	case 0xc3: /* UNORM_INT16X1, X2, X4 */
	case 0xc4:
	case 0xc5:
	case 0xc9: /* SNORM_INT16X1, X2, X4 */
	case 0xca:
	case 0xcb: return 16;
	case 0x03: /* UNSIGNED_INT32 */
	case 0x0a: /* SIGNED_INT32 */
	case 0x20: /* FLOAT */ return 32;
	default: return 0;
	}
}

static __always_inline void set_format(struct array_shape *shape, u32 format, u32 channels)
{
	shape->in_blocks = format >= FORMAT_BC1 && format <= FORMAT_BC7_SRGB;
	if (shape->in_blocks)
		shape->bits = format < FORMAT_BC2 || (format >= FORMAT_BC4 && format < FORMAT_BC5) ?
				      4 :
				      8;
	else if (format == FORMAT_NV12)
		shape->bits = 12;
	else
		shape->bits = bits_of_format(format) * channels;
}

/* cudaChannelFormatDesc: bits of x, y, z, w, and a kind. */
static __always_inline void set_channels(struct array_shape *shape, u64 desc)
{
	u32 channel[5] = {};
	u32 kind;

	if (!read_of_shape(shape, channel, sizeof(channel), desc))
		return;
	kind = channel[4];
	shape->in_blocks = kind >= KIND_BC1 && kind <= KIND_BC7_SRGB;
	if (shape->in_blocks)
		shape->bits = kind < KIND_BC2 || (kind >= KIND_BC4 && kind < KIND_BC5) ? 4 : 8;
	else if (kind == KIND_NV12)
		shape->bits = 12;
	else
		shape->bits = channel[0] + channel[1] + channel[2] + channel[3];
}

/*
 * Reads a descriptor with 64-bit or 32-bit numbers: width, height, depth if three-dimensional; then
 * format, channels, flags.
 */
static __always_inline void read_descriptor(struct array_shape *shape, u64 desc, bool has_depth,
					    bool narrow)
{
	u32 dimensions = has_depth ? 3 : 2, numbers[3] = {}, small[3] = {};

	if (narrow) {
		if (!read_of_shape(shape, small, sizeof(u32) * dimensions, desc))
			return;
		shape->extent.width = small[0];
		shape->extent.height = small[1];
		shape->extent.depth = small[2];
	} else if (!read_of_shape(shape, &shape->extent, sizeof(u64) * dimensions, desc)) {
		return;
	}
	/* Only three-dimensional descriptors have flags. */
	desc += dimensions * (narrow ? sizeof(u32) : sizeof(u64));
	if (!read_of_shape(shape, numbers, sizeof(u32) * dimensions, desc))
		return;
	set_format(shape, numbers[0], numbers[1]);
	shape->flags = numbers[2];
}

static __always_inline void read_channels(struct array_shape *shape,
					  const struct array_request *request)
{
	shape->extent.width = request->width;
	shape->extent.height = request->height;
	if (request->extent &&
	    !read_of_shape(shape, &shape->extent, sizeof(shape->extent), request->extent))
		return;
	shape->flags = request->flags;
	set_channels(shape, request->desc);
}

static __always_inline u64 at_least_one(u64 number)
{
	return number ? number : 1;
}

/*
 * `bytes` and the bytes of a level. A height or depth of 0 means that the array has fewer
 * dimensions. Global: the verifier goes through it once, not for each level.
 */
__noinline u64 with_level(const struct array_shape *shape, u32 level, u64 bytes)
{
	u64 width, height, depth;

	if (!shape)
		return bytes;
	width = at_least_one(shape->extent.width >> (level & 63));
	height = at_least_one(shape->extent.height >> (level & 63));
	depth = at_least_one(shape->flags & ARRAY_IN_LAYERS ? shape->extent.depth :
							      shape->extent.depth >> (level & 63));
	if (shape->in_blocks) {
		width = (width + 3) & ~3ull;
		height = (height + 3) & ~3ull;
	}
	return sum_of(bytes,
		      product_of(product_of(product_of(width, height), depth), shape->bits) / 8);
}

/*
 * The level with a single element is the last one. Global: the verifier goes through it once, not
 * for each way to read the shape.
 */
__noinline u64 sum_levels(const struct array_shape *shape, u32 levels)
{
	u64 longest, bytes = 0;

	if (!shape)
		return 0;
	longest = shape->extent.width;
	if (shape->extent.height > longest)
		longest = shape->extent.height;
	if (!(shape->flags & ARRAY_IN_LAYERS) && shape->extent.depth > longest)
		longest = shape->extent.depth;
	for (u32 level = 0; level < ARRAY_LEVELS && level < levels; level++) {
		if (level && !(longest >> level))
			break;
		bytes = with_level(shape, level, bytes);
	}
	return bytes;
}

/* The array's size in bytes, or SIZE_*. */
__noinline u64 array_bytes(const struct array_request *request)
{
	struct array_shape shape = {};

	if (!request)
		return SIZE_UNREADABLE;
	if (request->params == PARAMS_CHANNELS)
		read_channels(&shape, request);
	else
		read_descriptor(
			&shape, request->desc,
			request->params == PARAMS_ARRAY3D || request->params == PARAMS_ARRAY3D_V1,
			request->params == PARAMS_ARRAY_V1 || request->params == PARAMS_ARRAY3D_V1);
	if (shape.unreadable)
		return SIZE_UNREADABLE;
	if (shape.flags & ARRAY_WITHOUT_MEMORY)
		return 0;
	if (!shape.bits)
		return SIZE_OF_UNKNOWN_FORMAT;
	return sum_levels(&shape, request->levels);
}

/* The size that a call requests for an array, from its arguments at entry. */
static __always_inline u64 requested_array_bytes(struct pt_regs *ctx,
						 const volatile struct function_desc *function)
{
	struct array_request request = {.params = function->params, .levels = 1};

	request.desc = argument(ctx, function, ROLE_PARAMS);
	if (has_role(function, ROLE_ELEMENTS))
		request.levels = at_least_one((u32)argument(ctx, function, ROLE_ELEMENTS));
	if (request.params != PARAMS_CHANNELS)
		return array_bytes(&request);
	request.flags = argument(ctx, function, ROLE_FLAGS);
	if (has_role(function, ROLE_EXTENT)) {
		request.extent = stack_address(ctx, function, ROLE_EXTENT);
	} else {
		request.width = argument(ctx, function, ROLE_WIDTH);
		request.height = argument(ctx, function, ROLE_HEIGHT);
	}
	return array_bytes(&request);
}

#endif
