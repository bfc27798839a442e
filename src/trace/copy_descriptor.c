// SPDX-License-Identifier: BSD-2-Clause
// The structures of copies; see copy_descriptor.h.
#include "trace/copy_descriptor.h"

#include <string.h>

#include "gpuprobe/copy_params.h"

/* CUmemorytype */
#define TYPE_HOST 1
#define TYPE_DEVICE 2
#define TYPE_ARRAY 3

/* The driver's sides: type, host, device and array follow each other. */
/* clang-format off */
#define SIDE(type) \
	{type, (type) + MEMCPY_HOST_AFTER_TYPE, (type) + MEMCPY_DEVICE_AFTER_TYPE, \
	 (type) + MEMCPY_DEVICE_AFTER_TYPE + 8}
#define SIDE_V1(type, host, device) {type, host, device, (device) + 8}
#define POINTER_SIDE(array, pointer) {BOX_NONE, BOX_NONE, pointer, array}
/* clang-format on */

static const struct copy_layout layouts[] = {
	{"CUDA_MEMCPY2D", MEMCPY2D_WIDTH + 16, false, BOX_NONE, MEMCPY2D_WIDTH, 2,
	 SIDE(MEMCPY2D_DST_TYPE), SIDE(MEMCPY2D_SRC_TYPE)},
	{"CUDA_MEMCPY3D", MEMCPY3D_WIDTH + 24, false, BOX_NONE, MEMCPY3D_WIDTH, 3,
	 SIDE(MEMCPY3D_DST_TYPE), SIDE(MEMCPY3D_SRC_TYPE)},
	{"CUDA_MEMCPY3D_PEER", MEMCPY3D_WIDTH + 24, false, BOX_NONE, MEMCPY3D_WIDTH, 3,
	 SIDE(MEMCPY3D_DST_TYPE), SIDE(MEMCPY3D_SRC_TYPE)},
	{"CUDA_MEMCPY2D_v1", MEMCPY2D_V1_WIDTH + 8, true, BOX_NONE, MEMCPY2D_V1_WIDTH, 2,
	 SIDE_V1(MEMCPY2D_V1_DST_TYPE, MEMCPY2D_V1_DST_HOST, MEMCPY2D_V1_DST_DEVICE),
	 SIDE_V1(MEMCPY2D_V1_SRC_TYPE, MEMCPY2D_V1_SRC_HOST, MEMCPY2D_V1_SRC_DEVICE)},
	{"CUDA_MEMCPY3D_v1", MEMCPY3D_V1_WIDTH + 12, true, BOX_NONE, MEMCPY3D_V1_WIDTH, 3,
	 SIDE_V1(MEMCPY3D_V1_DST_TYPE, MEMCPY3D_V1_DST_HOST, MEMCPY3D_V1_DST_DEVICE),
	 SIDE_V1(MEMCPY3D_V1_SRC_TYPE, MEMCPY3D_V1_SRC_HOST, MEMCPY3D_V1_SRC_DEVICE)},
	{"cudaMemcpy3DParms", PARMS_KIND + 4, false, PARMS_KIND, PARMS_EXTENT_AT, 3,
	 POINTER_SIDE(PARMS_DST_ARRAY, PARMS_DST_PTR),
	 POINTER_SIDE(PARMS_SRC_ARRAY, PARMS_SRC_PTR)},
	{"cudaMemcpy3DPeerParms", PEER_EXTENT_AT + 24, false, BOX_NONE, PEER_EXTENT_AT, 3,
	 POINTER_SIDE(PEER_DST_ARRAY, PEER_DST_PTR), POINTER_SIDE(PARMS_SRC_ARRAY, PARMS_SRC_PTR)},
};

const struct copy_layout *copy_layout__find(const char *type)
{
	size_t i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (strcmp(layouts[i].type, type) == 0)
			return &layouts[i];
	}
	return NULL;
}

static uint64_t number_at(const uint8_t *data, uint8_t offset, bool narrow)
{
	uint64_t wide = 0;
	uint32_t half;

	if (!narrow) {
		memcpy(&wide, data + offset, sizeof(wide));
		return wide;
	}
	memcpy(&half, data + offset, sizeof(half));
	return half;
}

/* Reads the address of a side, or its array. Returns its CUmemorytype, 0 if it has none. */
static uint32_t read_side(const struct copy_layout *layout, const struct copy_side *side,
			  const uint8_t *data, uint64_t *address, bool *array)
{
	uint32_t type = 0;

	if (side->type != BOX_NONE)
		memcpy(&type, data + side->type, sizeof(type));
	*array = type == TYPE_ARRAY;
	if (side->type == BOX_NONE)
		*array = number_at(data, side->array, false) != 0;
	if (*array)
		*address = number_at(data, side->array, false);
	else if (type == TYPE_HOST)
		*address = number_at(data, side->host, false);
	else
		*address = number_at(data, side->device, layout->narrow);
	return type;
}

/* The direction between two sides of these CUmemorytypes; unknown for unified addresses. */
static enum copy_kind kind_between(uint32_t from, uint32_t to)
{
	bool from_host = from == TYPE_HOST, to_host = to == TYPE_HOST;

	if ((!from_host && from != TYPE_DEVICE && from != TYPE_ARRAY) ||
	    (!to_host && to != TYPE_DEVICE && to != TYPE_ARRAY))
		return COPY_DEFAULT;
	if (from_host)
		return to_host ? COPY_H2H : COPY_H2D;
	return to_host ? COPY_D2H : COPY_D2D;
}

void copy_descriptor__read(const struct copy_layout *layout, const uint8_t *data,
			   struct copy_descriptor *box)
{
	uint32_t from, to, kind;
	uint8_t i;

	to = read_side(layout, &layout->dst, data, &box->dst, &box->dst_array);
	from = read_side(layout, &layout->src, data, &box->src, &box->src_array);
	box->kind = kind_between(from, to);
	if (layout->kind != BOX_NONE) {
		memcpy(&kind, data + layout->kind, sizeof(kind));
		box->kind = kind <= COPY_DEFAULT ? (enum copy_kind)kind : COPY_DEFAULT;
	}
	/*
	 * The runtime counts the width in elements if an array takes part, and their size is
	 * unknown.
	 */
	box->has_bytes = layout->src.type != BOX_NONE || (!box->dst_array && !box->src_array);
	box->bytes = 1;
	for (i = 0; i < layout->dimensions; i++)
		box->bytes *= number_at(data, layout->extent + i * (layout->narrow ? 4 : 8),
					layout->narrow);
}
