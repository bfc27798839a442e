/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HTTP server: /metrics, a landing page at /, /healthz. It lives on the
 * caller's event loop and never blocks it but to make a page.
 *
 * A client may be hostile. A request's head is at most 8 KiB and it has no
 * body. A client gets so long to send a request, and so long to take the
 * response, however it trickles; one that is silent between two requests is
 * dropped later. Connections are limited. When one more comes, it is let in and
 * the one that keeps gpuprobe waiting longest is closed: first one that is
 * closing, then one between two requests, then one with half a request, then
 * one that does not take its response. To refuse the new one, or to leave it
 * waiting for the deadline of the others, would let as many stalled clients shut
 * the scraper out; so its next scrape always succeeds.
 *
 * A page that took long to be made is shared by those who ask soon after. All pages
 * that clients have not taken yet take 32 MiB at most beside the latest client's: the
 * connections of those who have been at it for longest are closed.
 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "output/metrics/exposition.h"

struct event_base;
struct http_server;

struct http_options {
	const char *address; /* ADDRESS:PORT, as serve/address.h reads it */
	const char *version; /* of gpuprobe */
	/*
	 * Writes the metrics page; 0 or a negative errno, then the client gets a 500. `anew`: of a new reading, else of the
	 * latest one. Sets `*reading` to that one's number: more for a later one.
	 */
	int (*render)(void *arg, enum exposition form, bool anew, uint64_t *reading, FILE *out);
	void *arg;
	/* 0 for the defaults in parentheses */
	unsigned int max_connections; /* at a time (64) */
	unsigned int request_ms;      /* for a request, and again for its response (10 s) */
	unsigned int idle_ms;	      /* between requests (30 s) */
};

/*
 * Listens and serves whenever `base` runs; the caller frees the server before
 * the base. The options are copied, the strings in them must outlive the
 * server. Negative errno with `err` set: -EADDRINUSE where the port is taken,
 * -EINVAL where the address is malformed.
 */
int http_server__new(struct event_base *base, const struct http_options *options,
		     struct http_server **server, struct error *err);
void http_server__free(struct http_server *server);

/* Where it listens, with the real port where 0 was asked for; valid as long as the server. */
const char *http_server__address(const struct http_server *server);

#endif
