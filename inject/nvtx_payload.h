/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payloads of NVTX ranges and marks as text, "NAME=VALUE, NAME=VALUE". A program registers what its
 * payloads consist of, in a domain: schemas, and enumerations that members of these have. What is
 * registered stays, because other threads may use it.
 *
 * All pointers are the program's, as in any other NVTX tool: it is trusted with its own memory.
 */
#ifndef INJECT_NVTX_PAYLOAD_H
#define INJECT_NVTX_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/nvtx.h"

/* NVTX's structures: what is used of them. */
struct payload_data {
	uint64_t schema;
	size_t size; /* of `payload`; SIZE_MAX: unknown */
	const void *payload;
};

struct schema_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

struct schema_attributes {
	uint64_t mask; /* of the members that are set: bit k of member k, counted from 1 */
	const char *name;
	uint64_t type, flags;
	const struct schema_entry *entries;
	size_t count, static_size, alignment;
	uint64_t id;
	const void *extension;
};

struct enum_entry {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct enum_attributes {
	uint64_t mask;
	const char *name;
	const struct enum_entry *entries;
	size_t count, size;
	uint64_t id;
	const void *extension;
};

/* Each returns the id, the program's own or a new one; 0: there is no room. */
uint64_t nvtx_payload__add_schema(const void *domain, const struct schema_attributes *attributes);
uint64_t nvtx_payload__add_enum(const void *domain, const struct enum_attributes *attributes);

/*
 * Writes what the payloads contain, as far as there is room. Those of unknown schemas, and members
 * that are no numbers, are left out.
 */
void nvtx_payload__describe(const void *domain, const struct payload_data *payloads, size_t count,
			    char text[NVTX_PAYLOAD_SIZE]);

/* The name of the first payload's schema; "" if it is unknown. */
const char *nvtx_payload__name(const void *domain, const struct payload_data *payloads,
			       size_t count);

#endif
