/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks NCCL's RAS service for the state of its job, over a connected socket, while the event loop
 * runs. The other side is a watched process: it may be slow, silent, cut its answer, or send
 * without end.
 */
#ifndef NCCL_RAS_CLIENT_H
#define NCCL_RAS_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RAS_ANSWER_MAX ((size_t)32 << 20)

struct event_base;
struct ras_client;

/*
 * Called once, from the loop. `ret` is 0, and `text` (malloc, for ras_answer__read) the answer of
 * `length` bytes; or with a message: -ETIMEDOUT, -EPROTO for something that is no RAS service,
 * -EOPNOTSUPP for one older than 2.28.7, which has no JSON, -EFBIG, or another negative errno. It
 * must not free the client.
 */
typedef void (*ras_client_fn)(void *arg, int ret, char *text, size_t length,
			      const struct error *err);

/*
 * Starts to ask; takes `fd`, which is nonblocking. Waits at most `timeout_ns` in all, of which NCCL
 * gets two thirds to ask the other nodes. NULL without memory.
 */
struct ras_client *ras_client__new(struct event_base *loop, int fd, uint64_t timeout_ns,
				   ras_client_fn done, void *arg);
/* Also ends a question that goes on, without a call. NULL ok. */
void ras_client__free(struct ras_client *client);

#endif
