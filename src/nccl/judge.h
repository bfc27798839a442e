/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is wrong with the collectives, and which rank it is: a hang, ranks that call different
 * things, ranks that come late, uneven loads, errors. Judged from calls alone, and from what
 * processes do if somebody has said so (nccl_jobs__set_activity).
 *
 * Ranks without work are no hang: a server that waits for requests, a checkpoint being written, a
 * job that is stopped or held by a debugger, the first minutes of a communicator.
 */
#ifndef NCCL_JUDGE_H
#define NCCL_JUDGE_H

#include "nccl/jobs.h"

enum nccl_verdict {
	NCCL_HANG = 0,
	NCCL_MISMATCH,
	NCCL_STRAGGLER,
	NCCL_IMBALANCE,
	NCCL_ERROR,
	NCCL_VERDICTS,
};

enum nccl_cause {
	NCCL_CAUSE_NONE = 0,
	/* hang */
	NCCL_RANK_MISSING, /* the ranks listed have not come, the others wait */
	NCCL_RANK_EXTRA,   /* the ranks listed wait in a collective that the others do not make */
	NCCL_STUCK_INIT,   /* ranks listed: dead ones, else those that wait */
	NCCL_STUCK_CALL,   /* the call itself does not return in the ranks listed */
	NCCL_ALL_HERE,	   /* all ranks here have come and wait */
	NCCL_PEER_MISSING, /* a send or receive without its partner: the rank listed has not come */
	/* mismatch */
	NCCL_DIFFERENT,	     /* the operands differ */
	NCCL_SKIPPED,	     /* the ranks listed left out this collective */
	NCCL_INSERTED,	     /* the ranks listed made one more before this one */
	NCCL_SWAPPED,	     /* the ranks listed made this one and the next in the other order */
	NCCL_DIFFERENT_PAIR, /* send and receive of a pair differ in bytes */
	/* imbalance */
	NCCL_UNEVEN_TIMES,
	NCCL_UNEVEN_BYTES, /* the rank listed receives the most */
};

#define NCCL_BLAMED 8

struct nccl_finding {
	enum nccl_verdict verdict;
	enum nccl_cause cause;
	const struct nccl_comm *comm;
	uint64_t sequence;		 /* of the collective, or of the pair's call; 0: none */
	struct nccl_operation operation; /* as most ranks call it */
	struct nccl_operation other;	 /* mismatch: as the ranks listed call it */
	uint64_t ns; /* hang: for how long; straggler: mean lateness when late; imbalance: mean */
	size_t waiting;				    /* hang: ranks that have come */
	const struct nccl_rank *ranks[NCCL_BLAMED]; /* whose fault it is, as far as known */
	size_t rank_count;			    /* of these */
	size_t blamed;				    /* all, also those without a place above */
	/* stuck in init: ranks that nobody here has, the first of them */
	int32_t absent[NCCL_BLAMED];
	size_t absent_count;
	const struct nccl_pair *pair; /* of send and receive */
	uint64_t late, compared;      /* straggler: collectives */
	double share; /* straggler: late ones; imbalance: of the time, or the excess */
	int32_t error;
	const struct ras_opinion *opinion; /* the caller's, from NCCL itself; NULL: none */
};

/* Which finding it is: equal for the same one at another time. */
struct nccl_finding_key {
	uint32_t comm; /* its number */
	uint32_t verdict, cause;
	uint64_t sequence; /* 0 for those of a whole communicator */
};

struct nccl_finding_key nccl_finding__key(const struct nccl_finding *finding);
bool nccl_finding_key__equal(const struct nccl_finding_key *one,
			     const struct nccl_finding_key *other);

/* Zeros take the defaults in brackets. */
struct nccl_patience {
	uint64_t hang_ns;  /* [10 s] */
	uint64_t init_ns;  /* creation of a communicator [60 s, or hang_ns if that is more] */
	uint64_t first_ns; /* the first collective connects the ranks [5 min, or hang_ns] */
	uint64_t times_ns; /* lateness is judged once ranks have been compared for so long [0] */
};

struct nccl_findings {
	struct nccl_finding *items;
	size_t count;
	size_t left_out; /* above the maximum of 256 */
};

/*
 * Judges everything at this time. The worst comes first. Returns 0 or -ENOMEM. Its pointers are
 * valid until the next event. Release with nccl_findings__free, also after an error.
 */
int nccl_jobs__judge(struct nccl_jobs *jobs, const struct nccl_patience *patience, uint64_t now_ns,
		     struct nccl_findings *findings);
void nccl_findings__free(struct nccl_findings *findings);

/* "nccl-hang" */
const char *nccl_verdict__word(enum nccl_verdict verdict);
/* "rank-missing"; NULL: none */
const char *nccl_cause__word(enum nccl_cause cause);
/* "critical" for hangs and mismatches, "warning" for the others */
const char *nccl_verdict__severity(enum nccl_verdict verdict);

#endif
