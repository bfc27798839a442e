/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When `gpuprobe nccl --ras` asks NCCL's RAS service, and for what: communicators that nothing else
 * identifies, and a second opinion on hangs. A question may take seconds, in which gpuprobe does
 * nothing else, so each process and each hang is asked about once, and a service that does not
 * answer is the last one that is asked.
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
struct nccl_ras *nccl_ras__new(struct ras_connector *connector, struct memory_reader *memory,
			       struct nccl_jobs *jobs, const struct log *log);
void nccl_ras__free(struct nccl_ras *ras); /* NULL ok */

/* Feeds the jobs with what is unknown of processes that were not asked before. */
void nccl_ras__identify(struct nccl_ras *ras, uint64_t now_ns);

/* What NCCL says about a communicator that hangs; free(3). NULL: nothing, or no memory. */
struct ras_opinion *nccl_ras__opinion(struct nccl_ras *ras, const struct nccl_comm *comm);

#endif
