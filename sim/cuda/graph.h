/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files about graphs and captures: a graph is the list of its nodes, each of which
 * has its dependencies. driver.lock guards the lists.
 */
#ifndef SIM_CUDA_GRAPH_H
#define SIM_CUDA_GRAPH_H

#include "cuda/driver.h"

struct CUgraphNode_st {
	struct object object;
	uint64_t reserved;
	CUgraphNodeType type;
	bool owns_memory;		/* of its allocation: it is no clone */
	uint64_t id;			/* never reused */
	uint64_t kernels;		/* number of kernels that one execution of it runs */
	uint64_t bytes;			/* of a captured copy or memset */
	uint64_t device_ns;		/* of a captured graph launch: time by the device clock */
	struct CUgraph_st *graph;
	struct CUgraphNode_st *previous, *next;
	struct CUgraphNode_st *original;	/* for a clone: its original */
	struct CUgraphNode_st **from;	/* its dependencies */
	size_t nr_from;
	struct CUgraphNode_st *twin;	/* its clone, during cloning */
	union {
		CUDA_KERNEL_NODE_PARAMS kernel;
		CUDA_KERNEL_NODE_PARAMS_v1 first_form;	/* the same, as its beginning */
		CUDA_MEMCPY3D copy;
		CUDA_MEMSET_NODE_PARAMS set;
		CUDA_HOST_NODE_PARAMS host;
		CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
		CUDA_MEM_ALLOC_NODE_PARAMS allocation;
		CUevent event;
		CUdeviceptr address;
		struct CUgraph_st *child;	/* its own copy; NULL for a captured launch */
	};
};

struct CUgraph_st {
	struct object object;
	uint64_t reserved;
	uint64_t id;
	uint64_t capture_id;		/* of the capture in progress, 0 if there is none */
	CUstreamCaptureMode mode;	/* of that capture, and the thread that began it */
	const struct driver_thread *thread;
	bool anonymous;			/* the program gets its handle at the end of the capture */
	bool instantiated;		/* the addresses that it allocated are in use */
	size_t nr_nodes;
	struct CUgraphNode_st *first, *last;
};

struct CUgraph_st *graph__new(void);
void graph__free(struct CUgraph_st *graph);
/* Copies the graph and its child graphs, NULL if out of memory. */
struct CUgraph_st *graph__clone(const struct CUgraph_st *graph);
/* The graph behind a handle, NULL if it is invalid. */
struct CUgraph_st *graph__get(CUgraph graph);
/* The node behind a handle, NULL if it is invalid; the second also checks the type. */
struct CUgraphNode_st *node__get(CUgraphNode node);
struct CUgraphNode_st *node__get_typed(CUgraphNode node, CUgraphNodeType type);
/* Appends a node, NULL if out of memory. */
struct CUgraphNode_st *graph__add(struct CUgraph_st *graph, CUgraphNodeType type);
/* The same with its dependencies; returns 0 or an error. */
int graph__add_after(CUgraphNode *out, struct CUgraph_st *graph, CUgraphNodeType type,
		     const CUgraphNode *from, size_t count);
/* Returns 0 if a node with this kernel can be launched. */
int node__check_kernel(const CUDA_KERNEL_NODE_PARAMS *params);
/* Reserves addresses for an allocation node; returns 0 or an error. */
int node__reserve(struct CUgraphNode_st *node, size_t size, int device, CUdeviceptr *out);

/* Adds a node for work on a capturing stream; NULL if out of memory. */
struct CUgraphNode_st *capture__add(struct CUstream_st *stream, CUgraphNodeType type);

/* stream.c: run an event record node and, with the device clock, an event wait node. */
void event__record(CUevent event, struct CUstream_st *stream);
void event__await(CUevent event, struct CUstream_st *stream);

#endif
