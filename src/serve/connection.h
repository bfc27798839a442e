/* SPDX-License-Identifier: BSD-2-Clause */
/* One client of the HTTP server: its bytes, its deadlines, its requests one at a time. */
#ifndef SERVE_CONNECTION_H
#define SERVE_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/http.h"

struct connection;

/* What it is doing; closing a connection in an earlier state loses less. */
enum connection_state {
	CONNECTION_LINGERING = 0, /* all is sent; the client has not closed its side yet */
	CONNECTION_IDLE,	  /* between requests */
	CONNECTION_READING,	  /* a request is expected or has begun */
	CONNECTION_WRITING,	  /* a response is being sent */
};

struct connection_options {
	struct event_base *base;
	const struct http_options *http; /* with defaults filled in; outlives the connection */
	struct pages *pages;		 /* outlives the connection */
	bool local;			 /* the client is on this machine */
	/* Called once when the connection is over; must free the connection. */
	void (*closed)(void *arg, struct connection *connection);
	/*
	 * Called when a response of this connection begins. It may close other connections, but not
	 * this one.
	 */
	void (*responds)(void *arg, const struct connection *connection);
	void *arg;
};

/*
 * Serves the non-blocking socket `fd` and takes ownership of it. Returns NULL if out of memory; the
 * socket is closed then.
 */
struct connection *connection__new(const struct connection_options *options, int fd);
void connection__free(struct connection *connection);

enum connection_state connection__state(const struct connection *connection);

/* Whether it is sending a body, which takes memory. */
bool connection__has_body(const struct connection *connection);

/* When it entered its state: CLOCK_MONOTONIC in ns. */
uint64_t connection__since(const struct connection *connection);

#endif
