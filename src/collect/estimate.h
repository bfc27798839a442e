/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the maps would have counted, had the probes of each family been in all
 * the time: where a family was sampled (`--max-overhead`, govern/governor.h), the
 * calls that a process is estimated to have made unseen are shared out among
 * what was seen of it meanwhile: kernels, and tallies of copies and waits
 * (calls, bytes and time).
 */
#ifndef COLLECT_ESTIMATE_H
#define COLLECT_ESTIMATE_H

#include <stdint.h>

#include "gpuprobe/rate.h"

/* Where estimates come from: the governor. */
struct estimate_source {
	/* Calls of the process in the slot that were missed so far. */
	uint64_t (*missed)(void *arg, uint32_t slot, enum rate_family family);
	void *arg;
};

#endif
