/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins what several nodes have seen of a job. Each node has its own clock. Collectives that two
 * nodes share bound the difference: no rank can see a collective done before the last rank anywhere
 * has come to it.
 */
#ifndef NCCL_JOIN_H
#define NCCL_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A collective as one node has seen it, by that node's clock. */
struct nccl_arrival {
	uint64_t sequence;
	uint64_t first_ns, last_ns;
	uint64_t done_ns; /* 0: unknown */
};

struct nccl_node_rank {
	int32_t rank;
	int32_t pid, device;
	uint64_t sequence;
};

/* A communicator on a node. The arrays are the caller's. */
struct nccl_node_comm {
	uint64_t hash;
	int32_t size;
	const struct nccl_node_rank *ranks;
	size_t rank_count;
	const struct nccl_arrival *arrivals; /* by sequence, ascending */
	size_t arrival_count;
};

struct nccl_node {
	const char *name; /* escape it on output */
	const struct nccl_node_comm *comms;
	size_t comm_count;
};

/* What to add to a node's times to have those of the first node. */
struct nccl_offset {
	bool known;
	int64_t ns;
	/* the true value is no further away; UINT64_MAX: `ns` is a guess by arrivals */
	uint64_t error_ns;
	size_t collectives; /* that it comes from */
};

/* A rank of a joined communicator that is behind. */
struct nccl_behind {
	size_t node;
	struct nccl_node_rank rank;
};

#define NCCL_JOIN_BEHIND 8

struct nccl_joined {
	uint64_t hash;
	int32_t size;	   /* 0: unknown */
	size_t nodes;	   /* that have ranks of it */
	size_t seen;	   /* ranks, each once */
	size_t duplicates; /* ranks that two nodes claim */
	uint64_t sequence; /* greatest of a rank */
	/* the ranks that lack it */
	struct nccl_behind behind[NCCL_JOIN_BEHIND];
	size_t behind_count, behind_total;
};

/*
 * Sets offsets[i] for each node; that of the first one is 0. A node that shares no collective with
 * the first one is reached over others if possible.
 */
void nccl_join__offsets(const struct nccl_node *nodes, size_t count, struct nccl_offset *offsets);

/*
 * The communicators of all nodes by hash and size, in the order of their first node. Returns an
 * array (free(3)) and sets *joined_count; NULL without memory or without communicators.
 */
struct nccl_joined *nccl_join__comms(const struct nccl_node *nodes, size_t count,
				     size_t *joined_count);

#endif
