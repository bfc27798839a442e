/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of a graph as they were when it was instantiated. Those of child graphs are in the same
 * list as the others.
 */
#ifndef SIM_CUDA_STEP_H
#define SIM_CUDA_STEP_H

#include "cuda/graph.h"

struct step {
	const struct CUgraphNode_st *node;
	uint64_t id;
	uint64_t kernels;
	uint64_t device_ns;	/* with the device clock */
	uint64_t amount;	/* what the work of its kind is counted in */
	enum sim_copy_kind copy;
	CUgraphNodeType type;
	bool enabled;
	CUDA_HOST_NODE_PARAMS host;
	CUevent event;		/* the event that it records */
	CUevent awaited;	/* the event that it waits for */
	uint64_t allocates;	/* the address at which it allocates */
};

/* Makes the steps of a graph, NULL if out of memory. The caller frees them. */
struct step *steps__new(struct CUgraph_st *graph, size_t *count);

/* Another kernel runs in this step: sets its time with the device clock. */
void step__set_kernel(struct step *step, const CUDA_KERNEL_NODE_PARAMS *params);

/* The simulated CUPTI learns of the steps, which run one after the other from `begin` on. */
void steps__tell(const struct step *steps, size_t count, const struct CUstream_st *stream,
		 uint64_t begin);

#endif
