/* SPDX-License-Identifier: BSD-2-Clause */
/* The sequence of launches that a thread repeats, by the handles of its latest ones. */
#ifndef FINDING_SEQUENCE_H
#define FINDING_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/account.h"
#include "model/model.h"

struct sequence {
	size_t period; /* launches of one round; 0: nothing repeats */
	double share;  /* of the launches that were kept and could repeat one before: those that do */
	/* of one round; where a round begins is not known */
	uint64_t handles[SEQUENCE_KEPT / 2];
};

/*
 * The smallest number of launches after which all that is kept repeats, at least twice; where
 * something comes in between now and then, the one after which most does, if that are at
 * least four of five and it comes twice in a row.
 */
void sequence__find(const struct thread_account *thread, struct sequence *out);

/* The short name of the kernel behind a handle, "(unnamed)" while it has none; NULL where it is a graph's. */
const char *sequence__kernel(const struct process *process, uint64_t handle);

/*
 * "12 launches: gemm, bias, relu x2, ...", at most eight names, each of at most 48 bytes.
 * malloc; NULL without memory. Names come from the process: to be escaped.
 */
char *sequence__text(const struct sequence *sequence, const struct process *process);

#endif
