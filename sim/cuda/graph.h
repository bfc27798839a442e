/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files about graphs and captures share: a graph is the list of its
 * nodes, each of which knows what it depends on. driver.lock guards the lists.
 */
#ifndef SIM_CUDA_GRAPH_H
#define SIM_CUDA_GRAPH_H

#include "cuda/driver.h"

struct CUgraphNode_st {
	struct object object;
	uint64_t reserved;
	CUgraphNodeType type;
	uint64_t id;			/* no other node ever has it */
	uint64_t kernels;		/* that one execution of it runs */
	struct CUgraph_st *graph;
	struct CUgraphNode_st *previous, *next;
	union {
		CUDA_KERNEL_NODE_PARAMS kernel;
		CUDA_HOST_NODE_PARAMS host;
		struct CUgraph_st *child;	/* its own copy; NULL of a captured launch */
	};
};

struct CUgraph_st {
	struct object object;
	uint64_t reserved;
	uint64_t id;
	uint64_t capture_id;		/* of the capture in progress, 0 if there is none */
	CUstreamCaptureMode mode;	/* of that capture, and who began it */
	const struct driver_thread *thread;
	bool anonymous;			/* the program has no handle of it before the end */
	size_t nr_nodes;
	struct CUgraphNode_st *first, *last;
};

struct CUgraph_st *graph__new(void);
void graph__free(struct CUgraph_st *graph);
/* The graph behind a handle, NULL if it is none. */
struct CUgraph_st *graph__get(CUgraph graph);
/* The node behind a handle, NULL if it is none. */
struct CUgraphNode_st *node__get(CUgraphNode node);
/* A new last node, NULL without memory. */
struct CUgraphNode_st *graph__add(struct CUgraph_st *graph, CUgraphNodeType type);

/* Adds what is put on a capturing stream; NULL without memory. */
struct CUgraphNode_st *capture__add(struct CUstream_st *stream, CUgraphNodeType type);

#endif
