/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells the simulated CUPTI of the work of the device clock, as it is submitted: begin and end are
 * known then.
 */
#ifndef SIM_CUDA_LISTENER_H
#define SIM_CUDA_LISTENER_H

#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

enum sim_work_kind { SIM_WORK_KERNEL, SIM_WORK_COPY, SIM_WORK_SET, SIM_WORK_GRAPH };

struct sim_work {
	enum sim_work_kind kind;
	int device;
	uint32_t stream;	/* unique in the process */
	uint64_t begin, end;	/* ns, CLOCK_MONOTONIC */
	uint64_t bytes;		/* of copies and sets */
	const char *name;	/* of kernels */
	enum sim_copy_kind copy;
	bool in_graph;		/* a node of a graph, which was told of as a whole */
};

typedef void (*sim_work_fn)(const struct sim_work *work);

/* Exported by libcuda: `fn` is called for each piece of work from now on. */
SIM_EXPORT void cuda_sim_listen(sim_work_fn fn);

#endif
