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

#include "nccl/ras_connector.h"
#include "nccl/ras_facts.h"
#include "target/memory_reader.h"

#define RAS_TIMEOUT_NS 5000000000ull /* of a question */
#define RAS_CONNECT_SECONDS 5	     /* the forked process may wait for a busy machine */

struct event_base;
struct ras;

/* All must outlive it. NULL without memory. */
struct ras *ras__new(struct event_base *loop, struct ras_connector *connector,
		     struct memory_reader *memory);
void ras__free(struct ras *ras); /* NULL ok */

/*
 * `ret` is 0 with an answer, which is valid during the call, or a negative errno with a message.
 * -EACCES: the port belongs to another user, who could say anything. The next question may begin
 * here.
 */
typedef void (*ras_fn)(void *arg, int ret, const struct ras_answer *answer,
		       const struct error *err);

/*
 * Asks the service of a process, one at a time. Calls `done` from the loop, once connecting and the
 * question have ended: the latter takes RAS_TIMEOUT_NS at most.
 */
void ras__ask(struct ras *ras, pid_t pid, ras_fn done, void *arg);
bool ras__is_busy(const struct ras *ras);

/*
 * Finds out by the answer of a process which communicators the unknown addresses of these processes
 * are, and feeds them to `jobs`. Call it while nothing is asked. Returns how many were found.
 */
size_t ras__identify(struct ras *ras, struct nccl_jobs *jobs, const struct nccl_process_key *asked,
		     const struct ras_answer *answer, const struct nccl_process_key *keys,
		     size_t count, uint64_t now_ns);

#endif
