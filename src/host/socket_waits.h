/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether followed threads of servers wait for requests or, at a socket that their process
 * connected, for an answer: a training that listens for another reason is no idle server.
 */
#ifndef HOST_SOCKET_WAITS_H
#define HOST_SOCKET_WAITS_H

#include "host/followed.h"
#include "host/partners.h"
#include "host/result.h"
#include "target/memory_reader.h"

/* Processes whose threads submit; only those that listen for connections are looked at. */
struct socket_waiters {
	const struct limited_process *processes;
	size_t count;
};

/*
 * Finds the socket at which each of their threads has waited most, and what it is. If the thread
 * waits in poll or select, it is the socket at which it waits now. Reads /proc for new ones, and by
 * `memory` what poll and select got.
 */
void socket_waits__look(struct followed_list *list, const struct partners *partners,
			const struct socket_waiters *waiters, struct memory_reader *memory);

#endif
