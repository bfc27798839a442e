/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests by HTTPS, with libcurl. For a thread of its own: a request waits for its answer.
 * libcurl uses the proxy of the variables HTTPS_PROXY and NO_PROXY, and checks certificates.
 */
#ifndef EXPORT_TLS_HTTP_H
#define EXPORT_TLS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "export/curl_library.h"
#include "export/reply.h"
#include "export/settings.h"

struct tls_http;

/*
 * `route` and `library` must outlive it. `stopped` is asked about once a second: whether the
 * request should end without an answer. NULL without memory.
 */
struct tls_http *tls_http__new(const struct export_route *route, const struct curl_library *library,
			       bool (*stopped)(void *arg), void *arg);
void tls_http__free(struct tls_http *http); /* NULL ok */

/* Sends a request, and fills in the answer, which was clear. */
void tls_http__post(struct tls_http *http, const void *data, size_t length,
		    struct export_reply *reply);

#endif
