/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HTTP server: /metrics, a page for a person at / with its files and data, /healthz. It runs on
 * the caller's event loop and blocks it only while it makes a page.
 *
 * Clients may be hostile. A request's head is at most 8 KiB and it has no body. A client has a
 * fixed time to send a request and a fixed time to receive the response, even if bytes trickle; a
 * client that is silent between two requests is dropped later. The number of connections is
 * limited. At the limit a new connection is accepted, and the one that has kept gpuprobe waiting
 * longest is closed: first one that is closing, then one between two requests, then one with half a
 * request, then one that does not read its response. Refusing the new connection, or letting it
 * wait for the others' deadlines, would let that many stalled clients lock the scraper out; this
 * way its next scrape always succeeds.
 *
 * Clients that request an expensive page within a short time share it. All pages that clients have
 * not received yet take at most 32 MiB besides the latest client's: beyond that, the connections
 * that have been receiving longest are closed.
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

/* What http_options.web says about what it has written. */
struct http_kind {
	const char *content_type; /* static */
	const char *policy;	  /* Content-Security-Policy; static */
};

/* Clients that http_options.web serves. */
enum http_audience {
	HTTP_LOCAL = 0, /* on this machine: their address is a loopback address */
	HTTP_ALL,
	HTTP_NOBODY,
	HTTP_AUDIENCES,
};

struct http_options {
	const char *address; /* ADDRESS:PORT, as serve/address.h reads it */
	const char *version; /* of gpuprobe */
	/*
	 * Writes the metrics page; returns 0, or a negative errno, for which the client gets a 500.
	 * `anew`: use a new reading; otherwise the latest one. Sets `*reading` to the number of
	 * that reading, which grows with each new one.
	 */
	int (*render)(void *arg, enum exposition form, bool anew, uint64_t *reading, FILE *out);
	/*
	 * Writes the page at / for clients that `web` does not serve, as HTML; returns like
	 * `render`. It limits by itself how often it makes a new reading. NULL: the page only has
	 * links.
	 */
	int (*landing)(void *arg, FILE *out);
	/*
	 * Writes what is at the path, "/" included, and sets all of `*kind`; returns like `render`,
	 * or -ENOENT if nothing is there. It limits by itself how often it makes a new reading.
	 * NULL: nobody is served.
	 */
	int (*web)(void *arg, const char *path, struct http_kind *kind, FILE *out);
	enum http_audience audience; /* of `web` */
	void *arg;
	/* 0 selects the default in parentheses */
	unsigned int max_connections; /* concurrent (64) */
	unsigned int request_ms;      /* for a request, and for its response (10 s each) */
	unsigned int idle_ms;	      /* between requests (30 s) */
};

/*
 * Listens, and serves whenever `base` runs; the caller frees the server before the base. Copies the
 * options; the strings in them must outlive the server. Returns a negative errno with `err` set:
 * -EADDRINUSE if the port is taken, -EINVAL if the address is malformed.
 */
int http_server__new(struct event_base *base, const struct http_options *options,
		     struct http_server **server, struct error *err);
void http_server__free(struct http_server *server);

/*
 * The address it listens on, with the actual port if 0 was requested; valid as long as the server.
 */
const char *http_server__address(const struct http_server *server);

#endif
