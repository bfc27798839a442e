/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the judge share. */
#ifndef NCCL_JUDGE_PRIVATE_H
#define NCCL_JUDGE_PRIVATE_H

#include "nccl/judge.h"
#include "nccl/private.h"

struct judgement {
	struct nccl_patience patience;
	uint64_t now_ns;
	struct nccl_findings *findings;
};

/* Adds a finding about `comm`. NULL: no memory, or too many, which is counted. */
struct nccl_finding *nccl_judgement__add(struct judgement *judgement, enum nccl_verdict verdict,
					 enum nccl_cause cause, const struct comm *comm);
/* Lists a rank in a finding. */
void nccl_finding__blame(struct nccl_finding *finding, const struct rank *rank);

/* Each adds the findings of one communicator. */
void nccl_judge__missing(struct judgement *judgement, const struct comm *comm);
void nccl_judge__creation(struct judgement *judgement, const struct comm *comm);
void nccl_judge__pairs(struct judgement *judgement, const struct comm *comm);
/* After those above: ranks that they explain are left out. */
void nccl_judge__stuck(struct judgement *judgement, const struct comm *comm);
void nccl_judge__mismatch(struct judgement *judgement, const struct comm *comm);
void nccl_judge__times(struct judgement *judgement, const struct comm *comm);
void nccl_judge__errors(struct judgement *judgement, const struct comm *comm);

/* Ranks that wait for others that wait themselves: only the last ones are to blame. */
void nccl_judge__drop_consequences(struct nccl_jobs *jobs, struct nccl_findings *findings);

#endif
