/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of a process whose probes cost more than others, because the kernel must single-step the
 * probed instruction.
 */
#ifndef MODEL_SLOW_CALLS_H
#define MODEL_SLOW_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

#define SLOW_PROBE_NS 14000 /* cost of such a probe, measured on Linux 6.18 (docs/performance.md) */

struct slow_calls {
	uint64_t calls;	      /* calls of all such functions, failed ones included */
	const char *function; /* the one with the most calls; NULL: none */
	size_t functions;
};

/* Sums them up, without nested calls that are the same act. */
void slow_calls__sum(const struct model *model, const struct process *process,
		     struct slow_calls *sums);

#endif
