/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Communicators of the simulated libnccl. Ranks meet in a file of shared memory whose name follows
 * from the communicator's hash, whether they are processes or threads. There each rank counts the
 * collectives that it has launched, and its messages by peer; work is done when all have come.
 */
#ifndef SIM_NCCL_COMM_H
#define SIM_NCCL_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "nccl_api.h"

#define SIM_MOST_RANKS 64
#define SIM_SPLITS 16 /* of one parent that may be under way at once */

/* In shared memory. All members change atomically. */
struct shared {
	uint32_t size, joined, left;
	uint64_t collectives[SIM_MOST_RANKS];
	uint64_t sends[SIM_MOST_RANKS][SIM_MOST_RANKS]; /* from, to */
	uint64_t receives[SIM_MOST_RANKS][SIM_MOST_RANKS];
	struct {
		uint64_t number; /* of the rank's split here; 0: none */
		int32_t color, key;
	} splits[SIM_SPLITS][SIM_MOST_RANKS];
};

/*
 * The real structure is about as large, and its members lie where those of 2.28.9 do: readers of
 * the real one find rank, size and device here.
 */
struct ncclComm {
	uint64_t start_magic;
	char unused[0x1044c0 - 8];
	uint64_t magic;
	uint64_t hash;
	int32_t rank, size, device, nvml_device;
	/* from here on, the simulation's own */
	struct shared *shared;
	uint64_t place; /* of the shared memory: the hash, but for shrinks, which share theirs */
	uint32_t splits, shrinks; /* of it; grows count as splits */
	uint64_t launched; /* collectives of this rank */
	uint64_t sends[SIM_MOST_RANKS], receives[SIM_MOST_RANKS];
	bool nonblocking, aborted, ready;
	ncclResult_t error;
	char name[32];
	/* gates: what a peer must have sent or received */
	struct peer_gate {
		struct ncclComm *comm;
		int32_t peer;
		bool receives;
	} peers[2][SIM_MOST_RANKS];
	uint64_t end_magic; /* the last member, as in the real one */
};

#define SIM_NCCL_MAGIC 0x0280028002800280

/*
 * A rank of the communicator with this hash, whose ranks meet at this place. NULL without memory or
 * shared memory. Does not wait for the others.
 */
struct ncclComm *comm__open(uint64_t hash, uint64_t place, int rank, int size,
			    const ncclConfig_t *config);
/* Whether all ranks have joined. Then the file's name goes: killed ranks leave nothing behind. */
bool comm__has_met(struct ncclComm *comm);
/* Waits until all ranks have joined. */
ncclResult_t comm__meet(struct ncclComm *comm);
/* Closes it. The last rank removes the file if the ranks never met. */
void comm__close(struct ncclComm *comm);
/* Whether a handle is one of this library's. */
bool comm__is(const struct ncclComm *comm);

/* Launches a collective on the stream: it is done when all ranks have launched theirs. */
void comm__collective(struct ncclComm *comm, cudaStream_t stream);
/* Launches a send to, or a receive from, a peer. */
void comm__message(struct ncclComm *comm, bool receives, int peer, cudaStream_t stream);

/* Waits for the parent's other ranks. *child is NULL without a colour. */
ncclResult_t comm__split(struct ncclComm *parent, int color, int key, struct ncclComm **child,
			 const ncclConfig_t *config);

#endif
