/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an answer of RAS adds to what the probes have seen: which communicator an unknown address
 * is, and how far the ranks of other nodes are.
 */
#ifndef NCCL_RAS_FACTS_H
#define NCCL_RAS_FACTS_H

#include "nccl/jobs.h"
#include "nccl/ras_answer.h"

/* A watched process of the network namespace that answered. */
struct ras_process {
	struct nccl_process_key key;
	int32_t inner_pid; /* in its own pid namespace, as RAS has it */
};

/* Whether an address is of this node. */
typedef bool (*ras_is_local_fn)(const char *host, void *arg);

/*
 * Feeds an NCCL_FOUND for each communicator whose address is known and whose identity is not, if
 * only one that RAS knows of fits: the only unknown one of its process, and the only one that RAS
 * lists for the process and that `jobs` lacks. Returns how many.
 */
size_t ras_facts__identify(struct nccl_jobs *jobs, const struct ras_answer *answer,
			   const struct ras_process *processes, size_t count,
			   ras_is_local_fn is_local, void *arg, uint64_t now_ns);

#define RAS_BLAMED 8

/* A second opinion on a communicator that hangs, with ranks of all nodes. */
struct ras_opinion {
	size_t ranks;	      /* that RAS knows */
	size_t answering;     /* of these */
	uint64_t collectives; /* the most of a rank; captured ones do not count */
	/* those that do not answer, then those with fewer collectives */
	struct ras_rank blamed[RAS_BLAMED];
	size_t blamed_count, blamed_total;
};

/* False: RAS does not know the communicator. */
bool ras_facts__judge(const struct ras_answer *answer, const struct nccl_comm *comm,
		      struct ras_opinion *opinion);

#endif
