/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What NCCL's RAS service says about a job: its communicators and their ranks on all nodes, from
 * the JSON of `VERBOSE STATUS` (NCCL 2.28.7 and newer). The text comes from a watched process and
 * may be hostile: members are checked, and what has no sense is left out and counted.
 */
#ifndef NCCL_RAS_ANSWER_H
#define NCCL_RAS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RAS_COMMS_MAX 65536
#define RAS_RANKS_MAX 262144 /* of all communicators */

enum ras_state {
	RAS_ANSWERS = 0,
	RAS_UNRESPONSIVE, /* its process did not answer the others */
	RAS_DEAD,	  /* the others have given its process up */
	RAS_ABSENT,	  /* its process answers, and does not have it */
};

struct ras_rank {
	int32_t rank;
	const char *host; /* a numeric address, or "unknown"; escape it on output */
	int32_t pid;	  /* in the process's own pid namespace; 0: unknown */
	int32_t device;	  /* NCCL_DEVICE_UNKNOWN */
	enum ras_state state;
	/* of those that answer */
	int32_t async_error; /* ncclResult_t */
	bool finalized, destroyed, aborted;
	uint64_t collectives; /* enqueued, without captured ones */
};

struct ras_comm {
	uint64_t hash;
	int32_t size;
	const struct ras_rank *ranks; /* by rank, ascending; more than one may claim a number */
	size_t rank_count;
};

struct ras_answer;

/*
 * Reads an answer. Takes `text`, allocated with malloc(3), of `length` bytes and a writable one
 * behind them, also on failure. Returns 0, -EINVAL with a message if it is no such answer, or
 * -ENOMEM.
 */
int ras_answer__read(char *text, size_t length, struct ras_answer **out, struct error *err);
void ras_answer__free(struct ras_answer *answer); /* NULL ok */

/* By hash and size, ascending. */
const struct ras_comm *ras_answer__comms(const struct ras_answer *answer, size_t *count);
/* NULL: the job does not have it. */
const struct ras_comm *ras_answer__find(const struct ras_answer *answer, uint64_t hash,
					int32_t size);
/* Entries that make no sense, or are too many. */
size_t ras_answer__left_out(const struct ras_answer *answer);

#endif
