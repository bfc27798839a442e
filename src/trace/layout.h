/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets of the printed members of the API's structures, whether passed by value or by address.
 * Those of copies are in trace/copy_descriptor.h.
 */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct trace_member {
	const char *name;
	const char *type;
	uint8_t offset;
};

struct trace_layout {
	const char *type; /* without const and struct */
	uint8_t size;	  /* up to the end of the last listed member */
	uint8_t count;
	const struct trace_member *members;
};

/* Returns NULL for a type that is no structure, or whose members are not printed. */
const struct trace_layout *trace_layout__find(const char *type);

#endif
