/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernels, how they are launched, and graphs. */
#ifndef GPUPROBE_STATE_KERNELS_H
#define GPUPROBE_STATE_KERNELS_H

#include <linux/types.h>

#define NAME_SIZE 4098	     /* a kernel name of 4,096 bytes, its NUL, and one more by which a longer one shows */
#define NAME_SHORT_SIZE 256  /* what most names fit in */
#define KERNEL_OTHER (~0ull) /* no kernel's handle: all those of a process that have no counter */

struct kernel_key {
	__u64 handle;
	__u32 slot;
	__u32 generation;
};

struct launch_key {
	struct kernel_key kernel;
	__u8 device;
	__u8 captured; /* put into a graph, not executed */
	__u8 pad[6];
};

#define DIMENSIONS 3

struct launch_shape {
	__u32 grid[DIMENSIONS], block[DIMENSIONS];
	__u64 shared_bytes; /* dynamic shared memory */
};

/* What sampled launches of a kernel looked like. */
struct shape_record {
	__u32 lock; /* taken by compare and swap; a sample that finds it taken is left out */
	__u32 samples;
	__u64 stream; /* of the latest */
	__u64 latest_ns;
	struct launch_shape latest;
	__u64 blocks_min, blocks_max;	/* in the grid */
	__u64 threads_min, threads_max; /* in a block */
	__u64 shared_min, shared_max;
	/* With a profile, of those that followed another launch of their thread: the time from its return to their entry */
	__u64 gaps, gap_ns, gap_min, gap_max;
};

struct graph_key {
	__u64 handle; /* of a graph, an executable graph or a node */
	__u32 slot;
	__u32 pad;
};

/*
 * A graph whose kernel nodes are known; one without a record is of unknown
 * size. A graph is open where it has nodes that were not seen added one by one
 * (captured, cloned, of a child graph). When a node goes that was not seen
 * added, that may be of any open graph: process_record.node_doubts is raised,
 * and the size of the open graphs from before is not known any more.
 */
struct graph_record {
	__u64 kernels;	/* one execution runs */
	__u64 start_ns; /* tells it from an earlier one of the same handle */
	__u64 capture;	/* in which it is made; 0: none */
	__u32 doubts;	/* process_record.node_doubts when it became known */
	__u8 unknown;
	__u8 open;
	__u8 embedded; /* in `node`, of another graph: what changes it changes that */
	__u8 leaving;  /* is being destroyed */
	__u64 node;
};

/* A node that was seen added. It goes with its graph. */
struct graph_node_record {
	__u64 graph;
	__u64 graph_start_ns;
	__u64 kernels;
	__u64 unknown;
};

/* An executable graph of known size. */
struct graph_exec_record {
	__u64 kernels; /* one launch runs */
	__u64 start_ns;
	__u64 leaving; /* is being destroyed */
};

/* A node that an executable graph leaves out; the value is graph_exec_record.start_ns. */
struct disabled_node_key {
	__u64 exec;
	__u64 node;
	__u32 slot;
	__u32 pad;
};

/* Executed graph launches by size. */
struct graph_run_key {
	__u64 kernels;
	__u32 slot;
	__u32 unknown; /* the size is not known */
};

#endif
