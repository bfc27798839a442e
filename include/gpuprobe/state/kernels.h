/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernels, their launches, and graphs. */
#ifndef GPUPROBE_STATE_KERNELS_H
#define GPUPROBE_STATE_KERNELS_H

#include <linux/types.h>

/* a 4,096-byte kernel name, its NUL, and one byte more to detect longer names */
#define NAME_SIZE 4098
#define NAME_SHORT_SIZE 256 /* enough for most names */
/* not a handle: stands for all kernels of a process that have no counter of their own */
#define KERNEL_OTHER (~0ull)

struct kernel_key {
	__u64 handle;
	__u32 slot;
	__u32 generation;
};

struct launch_key {
	struct kernel_key kernel;
	__u8 device;
	__u8 captured; /* captured into a graph, not executed */
	__u8 pad[6];
};

#define DIMENSIONS 3

struct launch_shape {
	__u32 grid[DIMENSIONS], block[DIMENSIONS];
	__u64 shared_bytes; /* dynamic shared memory */
};

/* Shapes of a kernel's sampled launches. */
struct shape_record {
	__u32 lock; /* taken by compare and swap; a sample that finds it taken is dropped */
	__u32 samples;
	__u64 stream; /* of the latest sample */
	__u64 latest_ns;
	struct launch_shape latest;
	__u64 blocks_min, blocks_max;	/* in the grid */
	__u64 threads_min, threads_max; /* in a block */
	__u64 shared_min, shared_max;
	/*
	 * Profile only: time from the return of the thread's previous launch to the entry of this
	 * one
	 */
	__u64 gaps, gap_ns, gap_min, gap_max;
};

struct graph_key {
	__u64 handle; /* a graph, executable graph or node */
	__u32 slot;
	__u32 pad;
};

/*
 * A graph whose kernel nodes are known. A graph without a record has an unknown size. A graph is
 * open if it has nodes whose addition was not seen (captured, cloned, or in a child graph).
 * Removing a node whose addition was not seen may shrink any open graph: it raises
 * process_record.node_doubts, and the sizes of all graphs that were open before are unknown from
 * then on.
 */
struct graph_record {
	__u64 kernels;	/* kernels in one execution */
	__u64 start_ns; /* distinguishes it from an earlier graph with the same handle */
	__u64 capture;	/* the capture that is building it; 0: none */
	__u32 doubts;	/* process_record.node_doubts when the size became known */
	__u8 unknown;
	__u8 open;
	__u8 embedded; /* it is inside `node` of another graph: a change to it changes that graph */
	__u8 leaving;  /* its destruction has begun */
	__u64 node;
};

/* A node whose addition was seen. It ends with its graph. */
struct graph_node_record {
	__u64 graph;
	__u64 graph_start_ns;
	__u64 kernels;
	__u64 unknown;
};

/* An executable graph of known size. */
struct graph_exec_record {
	__u64 kernels; /* kernels in one launch */
	__u64 start_ns;
	__u64 leaving; /* its destruction has begun */
};

/* A node that is disabled in an executable graph; the value is graph_exec_record.start_ns. */
struct disabled_node_key {
	__u64 exec;
	__u64 node;
	__u32 slot;
	__u32 pad;
};

/* Executed graph launches, by size. */
struct graph_run_key {
	__u64 kernels;
	__u32 slot;
	__u32 unknown; /* the size is unknown */
};

#endif
