/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call sites: what a process did from one place, told by the stack. There are
 * some only where stacks are taken (struct model's `stacks`).
 *
 * Ids of stacks become one site where their frames are the same.
 */
#ifndef MODEL_SITE_H
#define MODEL_SITE_H

#include <stdint.h>

#include "gpuprobe/stack.h"
#include "stack/stack.h"

#define SITE_MARKS 4 /* moments that sites may be counted from, see model/sites.h */

struct call_site {
	const struct stack *stack; /* NULL: could not be taken or kept */
	uint8_t kind;		   /* enum site_kind */
	uint16_t row;		   /* in api_functions; not of SITE_LAUNCH */
	int32_t code;		   /* of SITE_FAILURE */
	const char *kernel;	   /* of SITE_LAUNCH: its full name, NULL while unknown; the process's kernel table's */
	const char *kernel_short;
	uint64_t calls;
	uint64_t amount;		    /* SITE_ALLOCATION: bytes; SITE_WAIT, SITE_COPY: nanoseconds */
	uint64_t early_calls, early_amount; /* of these: before the steady time (model/steady.h), where that is known */
};

/* Live memory of all kinds that are counted as memory of devices (memory_kind__is_device), by site. */
struct live_site {
	const struct stack *stack; /* NULL: not known */
	uint64_t bytes, count;
	uint64_t oldest_ns, newest_ns; /* CLOCK_BOOTTIME of their calls */
};

/* Which live allocations are counted in live_site's. */
struct live_filter {
	uint64_t older_ns;  /* of at least this age; of processes that have ended of any */
	uint64_t min_bytes; /* each of at least this size */
	uint64_t max_bytes; /* and at most this; 0: any */
};

#endif
