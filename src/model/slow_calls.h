/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of a process whose probes cost it more than others, since the kernel must single-step the first instruction there. */
#ifndef MODEL_SLOW_CALLS_H
#define MODEL_SLOW_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

#define SLOW_PROBE_NS 14000 /* what such a probe takes, measured on Linux 6.18 (docs/performance.md) */

struct slow_calls {
	uint64_t calls;	      /* of all such functions, failed ones included */
	const char *function; /* the one with the most; NULL: there are none */
	size_t functions;
};

/* Sums them up. Calls within others that are the same act are not among them. */
void slow_calls__sum(const struct model *model, const struct process *process, struct slow_calls *sums);

#endif
