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
	size_t ranks;	  /* of the node, that have come */
};

struct nccl_node_rank {
	int32_t rank; /* 0 or greater */
	int32_t pid, device;
	uint64_t sequence;
	const char *state; /* as in JSON: "live"; NULL: unknown */
	const char *where; /* what its thread is in; NULL: unknown; escape it on output */
};

/* A communicator on a node. The arrays are the caller's. */
struct nccl_node_comm {
	uint64_t hash;
	int32_t size;
	const char *name; /* NULL: none; escape it on output */
	bool aligned;	  /* sequence numbers count from the communicator's start */
	const struct nccl_node_rank *ranks; /* by rank, ascending, each once */
	size_t rank_count;
	const struct nccl_arrival *arrivals; /* by sequence, ascending, each once */
	size_t arrival_count;
};

/* By hash and size, for qsort(3). */
int nccl_node_comm__order(const void *left, const void *right);

struct nccl_node {
	const char *name;		    /* escape it on output */
	uint64_t end_ns;		    /* when this was seen; 0: unknown */
	const struct nccl_node_comm *comms; /* by hash and size, ascending, each once */
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

/* A rank that has not come to a collective which another node's ranks have long been in. */
struct nccl_behind {
	size_t node;
	struct nccl_node_rank rank;
	uint64_t waited_ns; /* how long the first rank had waited for it when its node was seen */
};

#define NCCL_JOIN_BEHIND 8

struct nccl_joined {
	uint64_t hash;
	int32_t size; /* 0: unknown */
	const char *name;
	bool aligned;	   /* else numbers of different nodes do not compare */
	size_t nodes;	   /* that have ranks of it */
	size_t seen;	   /* ranks, each once */
	size_t duplicates; /* ranks that two nodes claim */
	uint64_t sequence; /* greatest of a rank */
	struct nccl_behind behind[NCCL_JOIN_BEHIND];
	size_t behind_count, behind_total;
	/* the node that most often comes last, if clocks are known well enough to say so */
	size_t compared; /* collectives that all its nodes have seen; 0: unknown */
	size_t late_node, late;
	uint64_t late_ns; /* after the second last node, in these */
};

/*
 * Sets offsets[i] for each node; that of the first one is 0. A node that shares no collective with
 * the first one is reached over others if possible. Returns 0 or -ENOMEM.
 */
int nccl_join__offsets(const struct nccl_node *nodes, size_t count, struct nccl_offset *offsets);

/*
 * The communicators of all nodes by hash and size, the largest first. A rank is behind if another
 * one has waited longer for it than `patience_ns`. Returns 0 and an array (free(3)), or -ENOMEM.
 */
int nccl_join__comms(const struct nccl_node *nodes, size_t count, const struct nccl_offset *offsets,
		     uint64_t patience_ns, struct nccl_joined **joined, size_t *joined_count);

#endif
