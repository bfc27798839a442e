/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The structures that describe a copy in two or three dimensions: addresses, direction and number
 * of bytes.
 */
#ifndef TRACE_COPY_DESCRIPTOR_H
#define TRACE_COPY_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/function.h"

#define BOX_NONE 0xff

/* One side: offsets in the structure; BOX_NONE for a member that it does not have. */
struct copy_side {
	uint8_t type; /* CUmemorytype, which selects one of the following */
	uint8_t host;
	uint8_t device;
	uint8_t array; /* without a type: used if it is not null */
};

struct copy_layout {
	const char *type; /* without const and struct */
	uint8_t size;	  /* of the part that is read */
	bool narrow;	  /* sizes and device addresses have 32 bits */
	uint8_t kind;	  /* cudaMemcpyKind, or BOX_NONE */
	uint8_t extent;	  /* width in bytes, or elements if the runtime uses an array */
	uint8_t dimensions;
	struct copy_side dst, src;
};

/* The contents of such a structure. */
struct copy_descriptor {
	uint64_t dst, src; /* addresses, or handles of arrays */
	bool dst_array, src_array;
	bool has_bytes;
	uint64_t bytes;
	enum copy_kind kind; /* COPY_DEFAULT if it does not say */
};

/* Returns NULL for any other type. */
const struct copy_layout *copy_layout__find(const char *type);

/* `data` has layout->size bytes. */
void copy_descriptor__read(const struct copy_layout *layout, const uint8_t *data,
			   struct copy_descriptor *box);

#endif
