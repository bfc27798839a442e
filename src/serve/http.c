// SPDX-License-Identifier: BSD-2-Clause
// The HTTP server: listening and limiting connections; see http.h.
#include "serve/http.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/address.h"
#include "serve/connection.h"
#include "serve/pages.h"

#define DEFAULT_CONNECTIONS 64
#define DEFAULT_REQUEST_MS 10000
#define DEFAULT_IDLE_MS 30000
/* For all pages that clients have not received yet, except the latest client's. */
#define PAGES_BYTES_MAX ((size_t)32 << 20)

struct http_server {
	struct http_options options;
	struct event_base *base;
	struct evconnlistener *listener;
	struct event *resume;
	struct pages *pages;
	struct connection **connections;
	unsigned int count;
	char address[ADDRESS_TEXT_MAX];
};

static void forget(struct http_server *s, struct connection *connection)
{
	unsigned int i;

	for (i = 0; i < s->count; i++) {
		if (s->connections[i] == connection) {
			s->connections[i] = s->connections[--s->count];
			break;
		}
	}
	connection__free(connection);
}

static void on_closed(void *arg, struct connection *connection)
{
	forget(arg, connection);
}

/* Whether to close `a` before `b` when room is needed. */
static bool goes_before(const struct connection *a, const struct connection *b)
{
	if (connection__state(a) != connection__state(b))
		return connection__state(a) < connection__state(b);
	return connection__since(a) < connection__since(b);
}

static void make_room(struct http_server *s)
{
	struct connection *victim;
	unsigned int i;

	if (s->count < s->options.max_connections)
		return;
	victim = s->connections[0];
	for (i = 1; i < s->count; i++) {
		if (goes_before(s->connections[i], victim))
			victim = s->connections[i];
	}
	forget(s, victim);
}

/* The client that has been receiving a page longest, except `latest`; NULL if there is none. */
static struct connection *slowest_reader(const struct http_server *s,
					 const struct connection *latest)
{
	struct connection *slowest = NULL;

	for (unsigned int i = 0; i < s->count; i++) {
		struct connection *c = s->connections[i];

		if (c != latest && connection__has_body(c) &&
		    (!slowest || connection__since(c) < connection__since(slowest)))
			slowest = c;
	}
	return slowest;
}

/*
 * Clients that do not read may hold a page each: closes the slowest ones if those pages take too
 * much memory.
 */
static void on_response(void *arg, const struct connection *latest)
{
	struct http_server *s = arg;
	struct connection *slowest;

	while (*pages__total(s->pages) > PAGES_BYTES_MAX && (slowest = slowest_reader(s, latest)))
		forget(s, slowest);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *peer,
		      int peer_length, void *arg)
{
	struct http_server *s = arg;
	struct connection_options options = {
		.base = s->base,
		.http = &s->options,
		.pages = s->pages,
		.local = address__is_loopback(peer),
		.closed = on_closed,
		.responds = on_response,
		.arg = s,
	};
	struct connection *c;

	(void)listener;
	(void)peer_length;
	make_room(s);
	c = connection__new(&options, fd);
	if (c)
		s->connections[s->count++] = c;
}

/*
 * accept failed, most likely for lack of file descriptors. The socket stays readable, so retrying
 * at once would burn the CPU: waits a second.
 */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct http_server *s = arg;
	struct timeval second = {1, 0};

	if (evtimer_add(s->resume, &second) == 0)
		evconnlistener_disable(listener);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct http_server *s = arg;

	(void)fd;
	(void)what;
	evconnlistener_enable(s->listener);
}

static void fill_options(struct http_options *options)
{
	if (!options->max_connections)
		options->max_connections = DEFAULT_CONNECTIONS;
	if (!options->request_ms)
		options->request_ms = DEFAULT_REQUEST_MS;
	if (!options->idle_ms)
		options->idle_ms = DEFAULT_IDLE_MS;
}

static int start_listening(struct http_server *s, struct error *err)
{
	int fd, code;

	fd = address__listen(s->options.address, err);
	if (fd < 0)
		return fd;
	code = address__of_socket(fd, s->address, sizeof(s->address));
	if (code) {
		close(fd);
		return error__set(err, code, "cannot read the address that %s listens on: %s",
				  s->options.address, strerror(-code));
	}
	s->listener = evconnlistener_new(s->base, on_accept, s,
					 LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!s->listener) {
		close(fd);
		return error__set(err, -ENOMEM, "cannot serve metrics on %s: out of memory",
				  s->options.address);
	}
	evconnlistener_set_error_cb(s->listener, on_accept_error);
	return 0;
}

int http_server__new(struct event_base *base, const struct http_options *options,
		     struct http_server **server, struct error *err)
{
	struct http_server *s = calloc(1, sizeof(*s));
	int code = -ENOMEM;

	if (!s)
		goto out_of_memory;
	s->options = *options;
	fill_options(&s->options);
	s->base = base;
	s->connections = calloc(s->options.max_connections, sizeof(struct connection *));
	s->resume = evtimer_new(base, on_resume, s);
	s->pages = pages__new(base);
	if (!s->connections || !s->resume || !s->pages)
		goto out_of_memory;
	code = start_listening(s, err);
	if (code) {
		http_server__free(s);
		return code;
	}
	*server = s;
	return 0;
out_of_memory:
	http_server__free(s);
	return error__set(err, -ENOMEM, "cannot serve metrics on %s: out of memory",
			  options->address);
}

void http_server__free(struct http_server *server)
{
	if (!server)
		return;
	/* If the list could not be allocated, no client was accepted and the count is 0. */
	while (server->count)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		forget(server, server->connections[server->count - 1]);
	if (server->listener)
		evconnlistener_free(server->listener);
	if (server->resume)
		event_free(server->resume);
	pages__free(server->pages);
	free(server->connections);
	free(server);
}

const char *http_server__address(const struct http_server *server)
{
	return server->address;
}
