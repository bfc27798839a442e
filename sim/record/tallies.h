/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread did at the driver, by device, by kind of object and by the addresses of its copies.
 * All members are 64-bit counters, so that the tallies of threads can be summed as arrays. The
 * names are those of the truth file.
 */
#ifndef SIM_RECORD_TALLIES_H
#define SIM_RECORD_TALLIES_H

#include <stdint.h>

#define SIM_MAX_DEVICES 16
/* Index for calls made without a current context. */
#define SIM_NO_DEVICE SIM_MAX_DEVICES

enum sim_object {
	SIM_STREAM,
	SIM_EVENT,
	SIM_CONTEXT,
	SIM_PRIMARY_CONTEXT,
	SIM_GREEN_CONTEXT,
	SIM_MODULE,
	SIM_LIBRARY,
	SIM_GRAPH,
	SIM_GRAPH_EXEC,
	SIM_POOL,
	/* handles of libraries above CUDA, sim/libraries */
	SIM_CUBLAS,
	SIM_CUDNN,
	SIM_CUFFT,
	SIM_NCCL,
	SIM_OBJECTS,
};

enum sim_direction { SIM_TO_DEVICE, SIM_TO_HOST, SIM_ON_DEVICE, SIM_ON_HOST, SIM_DIRECTIONS };
enum sim_host_side { SIM_PINNED, SIM_PAGEABLE, SIM_MANAGED, SIM_HOST_SIDES };

/* Copies or memsets: all calls, their results, and the bytes of those executed at once. */
struct sim_moves {
	uint64_t calls;
	uint64_t failures;
	uint64_t captured;
	uint64_t bytes;
};

struct sim_device_tally {
	uint64_t launches;		/* calls, including failed and captured ones */
	uint64_t failed;
	uint64_t captured;
	uint64_t abandoned;		/* not in `launches` */
	uint64_t graph_launches;	/* executed ones */
	struct sim_moves copies;
	struct sim_moves sets;
};

struct sim_calls_bytes {
	uint64_t calls;
	uint64_t bytes;
};

struct sim_object_tally {
	uint64_t created;
	uint64_t destroyed;
	uint64_t with_context;		/* destroyed with their context */
};

struct sim_tallies {
	struct sim_device_tally devices[SIM_MAX_DEVICES + 1];
	struct {
		uint64_t launches;
		uint64_t graph_launches;
		uint64_t allocations;
		uint64_t frees;
		struct sim_calls_bytes copies;
		struct sim_calls_bytes sets;
	} captured;
	struct {
		uint64_t launches;
		uint64_t kernels;
	} graphs;
	struct sim_object_tally objects[SIM_OBJECTS];
	struct sim_calls_bytes sides[SIM_DIRECTIONS][SIM_HOST_SIDES];
	/* those of batches */
	struct sim_calls_bytes batch_sides[SIM_DIRECTIONS][SIM_HOST_SIDES];
};

/* The sum over all threads, including ended ones. */
void sim_tallies__fold(struct sim_tallies *sum);

#endif
