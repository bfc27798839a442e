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

/*
 * Finds the socket at which each thread of a process that listens has waited most, and what it is.
 * Reads /proc for new ones.
 */
void socket_waits__look(struct followed_list *list, const struct partners *partners,
			const struct limited_process *processes, size_t count);

#endif
