/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When `gpuprobe nccl --ras` asks NCCL's RAS service, and for what: communicators that nothing else
 * identifies, and a second opinion on hangs. Questions take seconds, while the loop goes on. Each
 * process and each hang is asked about once, one after the other, since NCCL answers in a thread
 * of the watched process. A service that does not answer is the last one that is asked.
 */
#ifndef CLI_NCCL_RAS_H
#define CLI_NCCL_RAS_H

#include "base/log.h"
#include "nccl/judge.h"
#include "nccl/ras.h"

struct nccl_ras;

/*
 * Takes `connector`, also on failure; the others must outlive it, `log` NULL ok. NULL without
 * memory.
 */
struct nccl_ras *nccl_ras__new(struct event_base *loop, struct ras_connector *connector,
			       struct memory_reader *memory, struct nccl_jobs *jobs,
			       const struct log *log);
void nccl_ras__free(struct nccl_ras *ras); /* NULL ok */

/*
 * Asks about what is unknown of processes that were not asked before, and feeds the jobs with the
 * answers. Call it every second.
 */
void nccl_ras__identify(struct nccl_ras *ras);

/*
 * What NCCL says about this finding's communicator, which hangs; valid until nccl_ras__free. NULL:
 * nothing, or nothing yet. The first time, it is asked.
 */
const struct ras_opinion *nccl_ras__opinion(struct nccl_ras *ras,
					    const struct nccl_finding *finding);

#endif
