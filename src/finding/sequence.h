/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sequence of launches that a thread repeats, as the handles of one of its steps
 * (model/steps.h).
 */
#ifndef FINDING_SEQUENCE_H
#define FINDING_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/profile.h"
#include "model/model.h"

struct sequence {
	size_t period; /* launches per step; 0: no repetition known */
	/*
	 * share of the time since its first step spent in its steps; if launches are sampled, share
	 * of the launches seen
	 */
	double share;
	/* of one step, in order; the starting point is arbitrary. Owned by the process */
	const uint64_t *handles;
};

/* For a thread of the process. */
void sequence__find(const struct process *process, const struct thread_profile *thread,
		    struct sequence *out);

/*
 * The label of the kernel with this handle, "(unnamed)" if it has none; NULL if it is a graph.
 */
const char *sequence__kernel(const struct process *process, uint64_t handle);

/*
 * "12 launches: gemm, bias, relu x2, ...": at most eight labels, or whole names (`full_names`).
 * malloc; NULL without memory. Names come from the process: escape them.
 */
char *sequence__text(const struct sequence *sequence, const struct process *process,
		     bool full_names);

#endif
