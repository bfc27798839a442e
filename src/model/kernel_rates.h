/* SPDX-License-Identifier: BSD-2-Clause */
/* How often one process has launched each of its kernels between the latest two readings. */
#ifndef MODEL_KERNEL_RATES_H
#define MODEL_KERNEL_RATES_H

#include "model/model.h"

#define KERNEL_RATE_UNKNOWN (-1.0)

struct kernel_rates;

/* NULL without memory. */
struct kernel_rates *kernel_rates__new(void);
void kernel_rates__free(struct kernel_rates *rates); /* NULL ok */

/*
 * Takes a reading of the process at `now_ns`. A reading of another process than before is a first
 * one, after which nothing is known. 0, or -ENOMEM: some kernels have no rates then.
 */
int kernel_rates__sample(struct kernel_rates *rates, const struct process *process,
			 uint64_t now_ns);

/* Launches per second; KERNEL_RATE_UNKNOWN before the second reading. */
double kernel_rates__of(const struct kernel_rates *rates, const struct kernel *kernel);

#endif
