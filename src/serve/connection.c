// SPDX-License-Identifier: BSD-2-Clause
// One client of the HTTP server; see connection.h.
#include "serve/connection.h"

#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/page.h"

/* Time for the client to close its side after the last response. */
#define LINGER_MS 1000

struct connection {
	struct connection_options options;
	int fd;
	enum connection_state state;
	uint64_t since_ns;
	struct event *readable, *writable, *deadline;
	/* The response being sent */
	char *head;
	size_t head_length, sent; /* bytes sent of head and body together */
	struct body *body;	  /* NULL if there is none to send */
	bool close_after;
	size_t in_length;
	char in[REQUEST_HEAD_MAX];
};

static void close_connection(struct connection *c)
{
	c->options.closed(c->options.arg, c);
}

static unsigned int allowance_ms(const struct connection *c)
{
	switch (c->state) {
	case CONNECTION_LINGERING: return LINGER_MS;
	case CONNECTION_IDLE: return c->options.http->idle_ms;
	default: return c->options.http->request_ms;
	}
}

/* Enters a state. Its deadline starts now; bytes that trickle in or out do not extend it. */
static int enter(struct connection *c, enum connection_state state)
{
	struct timeval allowance;
	unsigned int ms;
	int err;

	c->state = state;
	c->since_ns = clock__monotonic_ns();
	ms = allowance_ms(c);
	/*
	 * The loop's cached time is from before the page was made; the client's allowance must not
	 * start that early.
	 */
	event_base_update_cache_time(c->options.base);
	allowance.tv_sec = ms / 1000;
	allowance.tv_usec = (suseconds_t)(ms % 1000) * 1000;
	err = evtimer_add(c->deadline, &allowance);
	if (state == CONNECTION_WRITING)
		err |= event_del(c->readable) | event_add(c->writable, NULL);
	else
		err |= event_del(c->writable) | event_add(c->readable, NULL);
	return err ? -ENOMEM : 0;
}

static int respond(struct connection *c, struct response *response)
{
	int err;

	c->close_after = response->close;
	c->sent = 0;
	err = response__build_head(response, c->options.http->version, &c->head, &c->head_length);
	if (err)
		return err;
	c->body = response->head_only ? NULL : body__share(response->body);
	err = enter(c, CONNECTION_WRITING);
	if (!err)
		c->options.responds(c->options.arg, c);
	return err;
}

static int respond_to_error(struct connection *c, int status)
{
	struct response response;
	int err;

	err = response__status(&response, status, pages__total(c->options.pages));
	response.close = true;
	if (!err)
		err = respond(c, &response);
	response__clear(&response);
	return err;
}

static int respond_to_request(struct connection *c, const struct request *request)
{
	struct response response;
	int err;

	err = page__respond(c->options.http, c->options.pages, request, c->options.local,
			    &response);
	if (!err)
		err = respond(c, &response);
	response__clear(&response);
	return err;
}

/* Answers the request in the buffer once it is complete. */
static int advance(struct connection *c)
{
	struct request request;
	size_t used = 0;
	int status;

	status = request__parse(c->in, c->in_length, &request, &used);
	if (status == REQUEST_INCOMPLETE)
		return 0;
	if (status != REQUEST_COMPLETE)
		return respond_to_error(c, status);
	c->in_length -= used;
	memmove(c->in, c->in + used, c->in_length);
	return respond_to_request(c, &request);
}

static void forget_response(struct connection *c)
{
	free(c->head);
	c->head = NULL;
	body__release(c->body);
	c->body = NULL;
}

/* The response is sent: waits for the client to close, or for its next request. */
static int finish_response(struct connection *c)
{
	int err;

	forget_response(c);
	if (c->close_after) {
		/*
		 * Closing with unread bytes would reset the connection, and the client might lose
		 * the response. Close only the sending side, and read to the end.
		 */
		if (shutdown(c->fd, SHUT_WR))
			return -errno;
		return enter(c, CONNECTION_LINGERING);
	}
	err = enter(c, c->in_length ? CONNECTION_READING : CONNECTION_IDLE);
	return err ? err : advance(c);
}

/* Whether recv or send failed only because it must wait. */
static bool must_wait(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int discard(struct connection *c)
{
	ssize_t n = recv(c->fd, c->in, sizeof(c->in), 0);

	return n > 0 || (n < 0 && must_wait()) ? 0 : -ECONNRESET;
}

static int receive(struct connection *c)
{
	ssize_t n;
	int err;

	/* There is always room: a full buffer is either a request or an error. */
	n = recv(c->fd, c->in + c->in_length, sizeof(c->in) - c->in_length, 0);
	if (n < 0 && must_wait())
		return 0;
	if (n <= 0)
		return -ECONNRESET;
	c->in_length += (size_t)n;
	if (c->state == CONNECTION_IDLE) {
		err = enter(c, CONNECTION_READING);
		if (err)
			return err;
	}
	return advance(c);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct connection *c = arg;

	(void)fd;
	(void)what;
	if (c->state == CONNECTION_LINGERING ? discard(c) : receive(c))
		close_connection(c);
}

/* Sends the rest of the head and of the body in one call. */
static ssize_t send_rest(const struct connection *c)
{
	size_t of_head = c->sent < c->head_length ? c->sent : c->head_length,
	       of_body = c->sent - of_head;
	struct iovec parts[2] = {
		{.iov_base = c->head + of_head, .iov_len = c->head_length - of_head}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 1};

	if (c->body)
		parts[message.msg_iovlen++] = (struct iovec){.iov_base = c->body->text + of_body,
							     .iov_len = c->body->length - of_body};
	return sendmsg(c->fd, &message, MSG_NOSIGNAL);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct connection *c = arg;
	ssize_t n = send_rest(c);

	(void)fd;
	(void)what;
	if (n < 0) {
		if (!must_wait())
			close_connection(c);
		return;
	}
	c->sent += (size_t)n;
	if (c->sent == c->head_length + (c->body ? c->body->length : 0) && finish_response(c))
		close_connection(c);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	close_connection(arg);
}

struct connection *connection__new(const struct connection_options *options, int fd)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return NULL;
	}
	c->options = *options;
	c->fd = fd;
	c->readable = event_new(options->base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(options->base, fd, EV_WRITE | EV_PERSIST, on_writable, c);
	c->deadline = evtimer_new(options->base, on_deadline, c);
	if (!c->readable || !c->writable || !c->deadline || enter(c, CONNECTION_READING)) {
		connection__free(c);
		return NULL;
	}
	return c;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

void connection__free(struct connection *connection)
{
	if (!connection)
		return;
	free_event(connection->readable);
	free_event(connection->writable);
	free_event(connection->deadline);
	close(connection->fd);
	forget_response(connection);
	free(connection);
}

enum connection_state connection__state(const struct connection *connection)
{
	return connection->state;
}

uint64_t connection__since(const struct connection *connection)
{
	return connection->since_ns;
}

bool connection__has_body(const struct connection *connection)
{
	return connection->body;
}
