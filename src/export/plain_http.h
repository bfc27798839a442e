/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests by HTTP without TLS, with libevent's client. For a thread of its own: a request
 * waits for its answer, and looking a name up may take as long as the system's resolver does.
 */
#ifndef EXPORT_PLAIN_HTTP_H
#define EXPORT_PLAIN_HTTP_H

#include <stddef.h>

#include "export/reply.h"
#include "export/settings.h"

struct plain_http;

/*
 * `route` must outlive it. `stop_fd`: while it is readable, requests end without an answer. NULL
 * without memory.
 */
struct plain_http *plain_http__new(const struct export_route *route, int stop_fd);
void plain_http__free(struct plain_http *http); /* NULL ok */

/* Sends a request, and fills in the answer, which was clear. */
void plain_http__post(struct plain_http *http, const void *data, size_t length,
		      struct export_reply *reply);

#endif
