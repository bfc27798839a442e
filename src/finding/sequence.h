/* SPDX-License-Identifier: BSD-2-Clause */
/* The sequence of launches that a thread repeats, by the handles of one of its steps (model/steps.h). */
#ifndef FINDING_SEQUENCE_H
#define FINDING_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/profile.h"
#include "model/model.h"

struct sequence {
	size_t period;		 /* launches of one round; 0: nothing repeats, as far as is known */
	double share;		 /* of the time since its first step: in its steps; of the launches that were seen, where they are sampled */
	const uint64_t *handles; /* of one round, in its order; where a round begins is a matter of choice. The process's */
};

/* Of a thread of the process. */
void sequence__find(const struct process *process, const struct thread_profile *thread, struct sequence *out);

/* The short name of the kernel behind a handle, "(unnamed)" while it has none; NULL where it is a graph's. */
const char *sequence__kernel(const struct process *process, uint64_t handle);

/*
 * "12 launches: gemm, bias, relu x2, ...", at most eight names, each of at most 48 bytes.
 * malloc; NULL without memory. Names come from the process: to be escaped.
 */
char *sequence__text(const struct sequence *sequence, const struct process *process);

#endif
