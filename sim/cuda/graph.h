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
	bool owns_memory;		/* of its allocation: it is no clone */
	uint64_t id;			/* no other node ever has it */
	uint64_t kernels;		/* that one execution of it runs */
	uint64_t bytes;			/* of a captured copy or memset */
	uint64_t device_ns;		/* of a captured graph launch: what it takes by the clock */
	struct CUgraph_st *graph;
	struct CUgraphNode_st *previous, *next;
	struct CUgraphNode_st *original;	/* of a clone */
	struct CUgraphNode_st **from;	/* what it depends on */
	size_t nr_from;
	struct CUgraphNode_st *twin;	/* its clone, while a clone is made */
	union {
		CUDA_KERNEL_NODE_PARAMS kernel;
		CUDA_KERNEL_NODE_PARAMS_v1 first_form;	/* the same, as it begins */
		CUDA_MEMCPY3D copy;
		CUDA_MEMSET_NODE_PARAMS set;
		CUDA_HOST_NODE_PARAMS host;
		CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
		CUDA_MEM_ALLOC_NODE_PARAMS allocation;
		CUevent event;
		CUdeviceptr address;
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
	bool instantiated;		/* the addresses that it allocated are in use */
	size_t nr_nodes;
	struct CUgraphNode_st *first, *last;
};

struct CUgraph_st *graph__new(void);
void graph__free(struct CUgraph_st *graph);
/* A copy of the graph and of those in it, NULL without memory. */
struct CUgraph_st *graph__clone(const struct CUgraph_st *graph);
/* The graph behind a handle, NULL if it is none. */
struct CUgraph_st *graph__get(CUgraph graph);
/* The node behind a handle, NULL if it is none; of a type. */
struct CUgraphNode_st *node__get(CUgraphNode node);
struct CUgraphNode_st *node__get_typed(CUgraphNode node, CUgraphNodeType type);
/* A new last node, NULL without memory. */
struct CUgraphNode_st *graph__add(struct CUgraph_st *graph, CUgraphNodeType type);
/* The same with what it depends on; 0 or an error. */
int graph__add_after(CUgraphNode *out, struct CUgraph_st *graph, CUgraphNodeType type,
		     const CUgraphNode *from, size_t count);
/* 0 if a node of this kernel can be launched. */
int node__check_kernel(const CUDA_KERNEL_NODE_PARAMS *params);
/* Addresses for an allocation node; 0 or an error. */
int node__reserve(struct CUgraphNode_st *node, size_t size, int device, CUdeviceptr *out);

/* Adds what is put on a capturing stream; NULL without memory. */
struct CUgraphNode_st *capture__add(struct CUstream_st *stream, CUgraphNodeType type);

/* stream.c: an event record node runs, or by the clock an event wait node. */
void event__record(CUevent event, struct CUstream_st *stream);
void event__await(CUevent event, struct CUstream_st *stream);

#endif
