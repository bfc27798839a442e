/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes with ranks of NCCL are doing, for the judge and for people: whether they have
 * ended, are stopped or held by a debugger, and the stack of a rank that others wait for.
 */
#ifndef CLI_NCCL_LOOKS_H
#define CLI_NCCL_LOOKS_H

#include "cli/session/looker.h"
#include "nccl/intake.h"
#include "nccl/judge.h"

struct nccl_looks;

/* All must outlive it; `looker` may be NULL. NULL without memory. */
struct nccl_looks *nccl_looks__new(struct nccl_jobs *jobs, struct nccl_intake *intake,
				   struct looker *looker);
void nccl_looks__free(struct nccl_looks *looks); /* NULL ok */

/*
 * Tells the intake of processes that have ended. They are told a call later, so that all that they
 * called has been taken in. Call it every second. `final`: at once.
 */
void nccl_looks__find_ended(struct nccl_looks *looks, bool final);

/*
 * Looks at the processes of the ranks of these communicators that hang, and tells the jobs; not if
 * it did less than `least_ns` ago. Looks at ranks that come late often, at a moment when others
 * wait for them: about once a second, up to 60 times. Returns whether it looked: the findings have
 * to be judged anew.
 */
bool nccl_looks__look(struct nccl_looks *looks, const struct nccl_findings *findings,
		      uint64_t now_ns, uint64_t least_ns);

#endif
