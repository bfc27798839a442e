/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels and graphs of a step, by handle: those that the thread of the steps launches in one
 * of them, and those that other threads launch in their own steps meanwhile.
 */
#ifndef MODEL_STEP_KERNELS_H
#define MODEL_STEP_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "model/steps.h"

struct step_kernel {
	uint64_t handle;
	double launches; /* per step */
};

/*
 * Sets *kernels to an array ordered by handle, which the caller releases with free(3); NULL and 0
 * if they are unknown: the thread's latest steps are not those of the summary. Returns 0 or
 * -ENOMEM.
 */
int step_kernels__list(const struct process_steps *steps, const struct step_summary *summary,
		       struct step_kernel **kernels, size_t *count);

#endif
