/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the judge of collectives is fed with: calls of NCCL, each with its begin and its end, and
 * waits for the GPU. The source does not matter: probes, a recording, the truth of simulated ranks.
 */
#ifndef NCCL_EVENT_H
#define NCCL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl/hash.h"

enum nccl_function {
	/* collectives: ranks of a communicator make the same ones in the same order */
	NCCL_ALL_REDUCE = 0,
	NCCL_BROADCAST,
	NCCL_REDUCE,
	NCCL_ALL_GATHER,
	NCCL_REDUCE_SCATTER,
	NCCL_ALL_TO_ALL,
	NCCL_GATHER,
	NCCL_SCATTER,
	NCCL_BCAST, /* calls ncclBroadcast inside; counts as it */
	NCCL_COLLECTIVES,
	/* point-to-point: pairs of ranks */
	NCCL_SEND = NCCL_COLLECTIVES,
	NCCL_RECV,
	/* calls that make a communicator */
	NCCL_INIT_RANK, /* also ncclCommInitRankConfig and ncclCommInitRankScalable */
	NCCL_INIT_ALL,	/* its communicators come as NCCL_FOUND, one for each device */
	NCCL_SPLIT,
	NCCL_SHRINK,
	NCCL_GROW,
	/* and that end one */
	NCCL_FINALIZE,
	NCCL_DESTROY,
	NCCL_ABORT,
	NCCL_GROUP_START,
	NCCL_GROUP_END,
	NCCL_GROUP_SIMULATE_END,
	NCCL_GET_ASYNC_ERROR,
	NCCL_OTHER, /* all others: no work */
	/*
	 * Not calls. NCCL_FOUND has an end only: a communicator that was there before, by its
	 * structure's members or RAS. NCCL_MADE has an end only: the address of a communicator that
	 * was not known when the call that makes it returned. NCCL_WAIT: the thread waits for work
	 * that its process gave to the GPU.
	 */
	NCCL_FOUND,
	NCCL_MADE,
	NCCL_WAIT,
	NCCL_FUNCTIONS,
};

enum nccl_phase {
	NCCL_BEGIN = 0,
	NCCL_END,
};

/* What was queued on the stream when a collective came. */
enum nccl_queue {
	NCCL_QUEUE_UNKNOWN = 0,
	NCCL_QUEUE_EMPTY, /* the GPU waits: a late call costs its lateness */
	NCCL_QUEUE_BUSY,  /* the host runs ahead: lateness of the call costs nothing */
};

#define NCCL_NO_COLOR (-1)
#define NCCL_RANK_UNKNOWN (-1)
#define NCCL_DEVICE_UNKNOWN (-1)
#define NCCL_SEQUENCE_UNKNOWN UINT64_MAX

/* Results: 0 is success. */
#define NCCL_IN_PROGRESS 7

struct nccl_process_key {
	int32_t pid;
	uint32_t uid; /* strangers of another user are not of the same job */
	uint64_t start_ns;
};

/* The operands that all ranks must agree on. */
struct nccl_operation {
	uint64_t count;
	int32_t datatype; /* ncclDataType_t */
	int32_t op;	  /* ncclRedOp_t; 0 where nothing is reduced */
	int32_t root;	  /* of the functions that have one, else 0; the peer of send and receive */
	uint32_t function; /* enum nccl_function */
};

struct nccl_event {
	uint64_t ns; /* CLOCK_BOOTTIME, in whatever order */
	struct nccl_process_key process;
	int32_t tid;
	enum nccl_phase phase;
	enum nccl_function function;
	/* the communicator's address; of those that make one: the parent's, or 0 */
	uint64_t comm;
	/* at the end of those that make one, and NCCL_FOUND, NCCL_MADE: the new address, or 0 */
	uint64_t made;
	/* of those that make one, and NCCL_MADE: where NCCL writes that address; 0: unknown */
	uint64_t made_at;
	struct nccl_operation operation; /* collectives, send, receive: at their begin */
	bool captured;			 /* into a graph: it runs with the graph's launches */
	enum nccl_queue queue;
	bool partial; /* NCCL_WAIT, at its end: other work of the process may not be done */
	/*
	 * NCCL_INIT_RANK at its begin, NCCL_FOUND: rank and size may be unknown (-1, 0), and the
	 * hash of NCCL_FOUND (0).
	 */
	uint64_t hash;
	int32_t rank, size;
	int32_t device;
	/* NCCL_INIT_RANK and NCCL_GROW at their begin: nccl_hash__magic of their id; 0: no id */
	uint64_t magic;
	const char *name; /* of the communicator, or NULL */
	bool nonblocking;
	uint64_t sequence; /* NCCL_FOUND: collectives so far, or NCCL_SEQUENCE_UNKNOWN */
	/* NCCL_SPLIT, NCCL_SHRINK, NCCL_GROW at their begin */
	enum nccl_hashing hashing;
	int32_t color, key;
	const int32_t *excluded; /* NCCL_SHRINK: ranks of the parent */
	size_t excluded_count;
	int32_t result; /* at the end */
	/* NCCL_GET_ASYNC_ERROR at its end: what it found */
	int32_t async_error;
};

/* "all_reduce"; static */
const char *nccl_function__word(enum nccl_function function);
/* "bf16"; NULL: unknown */
const char *nccl_datatype__word(int32_t datatype);
/* "sum"; those that a program makes: "own" */
const char *nccl_op__word(int32_t op);
/* "ncclInternalError"; NULL: unknown */
const char *nccl_result__word(int32_t result);

static inline bool nccl_function__is_collective(enum nccl_function function)
{
	return function < NCCL_COLLECTIVES;
}

/* Whether the operand `root` or `op` means something for a function. */
bool nccl_function__has_root(enum nccl_function function);
bool nccl_function__has_op(enum nccl_function function);
/* Whether `inner` in a thread that is in `outer` is a call that NCCL makes itself. */
bool nccl_function__nests(enum nccl_function outer, enum nccl_function inner);

/*
 * The bytes of a collective as NVIDIA's nccl-tests count them, for bandwidths: those of the whole
 * vector. `size` is the communicator's, 0 if unknown. Saturates. 0: unknown.
 */
uint64_t nccl_operation__bytes(const struct nccl_operation *operation, int32_t size);

/* Whether two plain operations agree. */
bool nccl_operation__equal(const struct nccl_operation *one, const struct nccl_operation *other);

/* As the operation with what has no meaning for its function set to 0; Bcast as Broadcast. */
struct nccl_operation nccl_operation__plain(const struct nccl_operation *operation);

#endif
