/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who uses the simulated devices: found in /proc by the page that each process
 * with a context holds open.
 */
#ifndef SIM_NVML_USAGE_H
#define SIM_NVML_USAGE_H

#include "cuda/usage.h"

#include <sys/types.h>

/*
 * Calls `found` for each process that shows its use and that the caller may look
 * into; true from it ends the search.
 */
void usage__for_each(int (*found)(pid_t pid, const struct usage *usage, void *context),
		     void *context);

#endif
