/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call sites: what a process did at one location in its code, identified by the stack. They exist
 * only if stacks are taken (struct model's `stacks`).
 *
 * Stack ids with the same frames become one site.
 */
#ifndef MODEL_SITE_H
#define MODEL_SITE_H

#include <stdint.h>

#include "gpuprobe/stack.h"
#include "stack/stack.h"

#define SITE_MARKS 4 /* moments from which sites can be counted, see model/sites.h */

struct call_site {
	const struct stack *stack; /* NULL: it could not be taken or kept */
	uint8_t kind;		   /* enum site_kind */
	uint16_t row;		   /* in api_functions; not for SITE_LAUNCH */
	int32_t code;		   /* SITE_FAILURE only */
	/* SITE_LAUNCH: its full name, NULL while unknown; owned by the process's kernel table */
	const char *kernel;
	const char *kernel_short, *kernel_label;
	uint64_t calls;
	uint64_t amount; /* SITE_ALLOCATION: bytes; SITE_WAIT, SITE_COPY: nanoseconds */
	/* part of these from before the steady time (model/steady.h), if that is known */
	uint64_t early_calls, early_amount;
};

/* Live memory by site, for all kinds that count as device memory (memory_kind__is_device). */
struct live_site {
	const struct stack *stack; /* NULL: unknown */
	uint64_t bytes, count;
	uint64_t oldest_ns, newest_ns; /* CLOCK_BOOTTIME of the allocating calls */
};

/* Which live allocations struct live_site counts. */
struct live_filter {
	uint64_t older_ns;  /* minimum age; 0 applies to ended processes */
	uint64_t min_bytes; /* minimum size of each */
	uint64_t max_bytes; /* maximum size; 0: none */
};

#endif
