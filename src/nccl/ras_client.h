/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks NCCL's RAS service for the state of its job, over a connected socket. The other side is a
 * watched process: it may be slow, silent, cut its answer, or send without end.
 */
#ifndef NCCL_RAS_CLIENT_H
#define NCCL_RAS_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RAS_ANSWER_MAX ((size_t)32 << 20)

/*
 * Sets *text (malloc, for ras_answer__read) to the answer and *length to its bytes. Waits at most
 * `timeout_ns` in all, of which NCCL gets two thirds to ask the other nodes. `fd` stays open.
 * Returns 0, or with a message: -ETIMEDOUT, -EPROTO for something that is no RAS service,
 * -EOPNOTSUPP for one older than 2.28.7, which has no JSON, -EFBIG, or another negative errno.
 */
int ras_client__ask(int fd, uint64_t timeout_ns, char **text, size_t *length, struct error *err);

#endif
