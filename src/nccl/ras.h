/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `--ras`: what NCCL itself says about its jobs, asked over the network sockets of watched
 * processes, and only if the user wants that. NCCL's own thread answers, and asks all other
 * processes of the job, also those on other nodes.
 *
 * All processes of a user in a network namespace share one port, and the kernel chooses which one
 * answers, for its own job only. So gpuprobe asks again for processes that an answer does not have.
 */
#ifndef NCCL_RAS_H
#define NCCL_RAS_H

#include "base/log.h"
#include "nccl/ras_connector.h"
#include "nccl/ras_facts.h"
#include "target/memory_reader.h"

#define RAS_TIMEOUT_NS 5000000000ull /* of a question */
#define RAS_QUESTIONS_MAX 8	     /* for ras__identify: NCCL is asked no more often */

struct ras;

/* All must outlive it; `log` may be NULL. NULL without memory. */
struct ras *ras__new(struct ras_connector *connector, struct memory_reader *memory,
		     const struct log *log);
void ras__free(struct ras *ras); /* NULL ok */

/*
 * Asks the service of a process, for at most RAS_TIMEOUT_NS and two seconds. The caller frees
 * *answer. Returns 0, or a negative errno with a message. -EACCES: the port belongs to another
 * user, who could say anything.
 */
int ras__ask(struct ras *ras, pid_t pid, struct ras_answer **answer, struct error *err);

/*
 * Finds out which communicators the unknown addresses of these processes are, and feeds them to
 * `jobs`. Warns of a process that cannot be asked; one that does not answer in time is the last
 * one. Returns how many were found.
 */
size_t ras__identify(struct ras *ras, struct nccl_jobs *jobs, const struct nccl_process_key *keys,
		     size_t count, uint64_t now_ns);

#endif
