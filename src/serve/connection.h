/* SPDX-License-Identifier: BSD-2-Clause */
/* One client of the HTTP server: its bytes, its deadlines, its requests one by one. */
#ifndef SERVE_CONNECTION_H
#define SERVE_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/http.h"

struct connection;

/* What it is busy with; the earlier, the less is lost when it is closed. */
enum connection_state {
	CONNECTION_LINGERING = 0, /* all is sent, the client has not closed its side yet */
	CONNECTION_IDLE,	  /* between requests */
	CONNECTION_READING,	  /* a request is expected or has begun */
	CONNECTION_WRITING,	  /* a response is on its way */
};

struct connection_options {
	struct event_base *base;
	const struct http_options *http; /* with the defaults filled in; outlives the connection */
	struct pages *pages;		 /* outlives it as well */
	/* Called once when the connection is over; it frees the connection. */
	void (*closed)(void *arg, struct connection *connection);
	/* Called when a response of this connection begins: others may have to go for it, not this one. */
	void (*responds)(void *arg, const struct connection *connection);
	void *arg;
};

/* Serves the socket `fd`, which is non-blocking and now the connection's. NULL: no memory; the
 * socket is closed then. */
struct connection *connection__new(const struct connection_options *options, int fd);
void connection__free(struct connection *connection);

enum connection_state connection__state(const struct connection *connection);

/* Whether it has a body to send, which takes memory. */
bool connection__has_body(const struct connection *connection);

/* CLOCK_MONOTONIC in ns when it came into its state. */
uint64_t connection__since(const struct connection *connection);

#endif
