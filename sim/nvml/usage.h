/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the users of the simulated devices in /proc, by the page that each process with a context
 * keeps open.
 */
#ifndef SIM_NVML_USAGE_H
#define SIM_NVML_USAGE_H

#include "cuda/usage.h"

#include <sys/types.h>

/*
 * Calls `found` for each process that publishes its use and that the caller may inspect; a true
 * result ends the search.
 */
void usage__for_each(int (*found)(pid_t pid, const struct usage *usage, void *context),
		     void *context);

#endif
