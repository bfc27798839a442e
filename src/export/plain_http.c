// SPDX-License-Identifier: BSD-2-Clause
// Sends requests by HTTP without TLS, see plain_http.h.
#include "export/plain_http.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define TRY_MS 500 /* to find out why there is no connection */

struct plain_http {
	const struct export_route *route;
	struct event_base *loop;
	struct event *stop, *deadline;
	struct evhttp_connection *connection; /* kept for the next request; NULL: none */

	/* the request in progress */
	struct export_reply *reply;
	bool done, stopped, timed_out;
	enum evhttp_request_error error;
	bool has_error;
};

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
	struct plain_http *http = arg;

	(void)fd, (void)what;
	http->stopped = true;
	event_base_loopbreak(http->loop);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct plain_http *http = arg;

	(void)fd, (void)what;
	http->timed_out = true;
	event_base_loopbreak(http->loop);
}

struct plain_http *plain_http__new(const struct export_route *route, int stop_fd)
{
	struct plain_http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->route = route;
	http->loop = event_base_new();
	if (http->loop) {
		http->stop = event_new(http->loop, stop_fd, EV_READ | EV_PERSIST, on_stop, http);
		http->deadline = evtimer_new(http->loop, on_deadline, http);
	}
	if (http->stop && http->deadline && !event_add(http->stop, NULL))
		return http;
	plain_http__free(http);
	return NULL;
}

static void disconnect(struct plain_http *http)
{
	if (http->connection)
		evhttp_connection_free(http->connection);
	http->connection = NULL;
}

void plain_http__free(struct plain_http *http)
{
	if (!http)
		return;
	disconnect(http);
	if (http->stop)
		event_free(http->stop);
	if (http->deadline)
		event_free(http->deadline);
	if (http->loop)
		event_base_free(http->loop);
	free(http);
}

/* --- an answer --- */

static void take_body(struct export_reply *reply, struct evhttp_request *request)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(request);
	size_t length = evbuffer_get_length(in);

	if (!length)
		return;
	reply->body = malloc(length);
	if (reply->body)
		reply->length = (size_t)evbuffer_remove(in, reply->body, length);
}

static void take_reply(struct export_reply *reply, struct evhttp_request *request)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
	const char *type = evhttp_find_header(headers, "Content-Type");
	const char *retry = evhttp_find_header(headers, "Retry-After");

	reply->status = evhttp_request_get_response_code(request);
	reply->is_text = !type || strncmp(type, "application/x-protobuf", 22) != 0;
	if (retry)
		snprintf(reply->retry_after, sizeof(reply->retry_after), "%s", retry);
	take_body(reply, request);
}

static const char *error_text(enum evhttp_request_error error)
{
	switch (error) {
	case EVREQ_HTTP_TIMEOUT: return "no answer in time";
	case EVREQ_HTTP_EOF: return "the connection was closed without an answer";
	case EVREQ_HTTP_INVALID_HEADER: return "the answer is no HTTP";
	case EVREQ_HTTP_BUFFER_ERROR: return "reading or writing failed";
	case EVREQ_HTTP_DATA_TOO_LONG: return "the answer is too long";
	default: return "cancelled";
	}
}

/* Connects and disconnects. Returns 0 or a negative errno. */
static int try_address(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd ready = {.fd = fd, .events = POLLOUT};
	socklen_t length = sizeof(int);
	int code = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS)
		code = errno;
	else if (poll(&ready, 1, TRY_MS) == 1)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length);
	else
		code = ETIMEDOUT;
	close(fd);
	return -code;
}

/*
 * libevent does not keep the reason why there is no connection, so it is found out by trying. NULL:
 * the address can be reached.
 */
static const char *why_unreachable(const struct export_endpoint *to)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *found;
	char port[8];
	int ret;

	snprintf(port, sizeof(port), "%u", to->port);
	ret = getaddrinfo(to->host, port, &hints, &found);
	if (ret)
		return gai_strerror(ret);
	ret = try_address(found);
	freeaddrinfo(found);
	return ret ? strerror(-ret) : NULL;
}

static void describe_failure(const struct plain_http *http)
{
	struct export_reply *reply = http->reply;
	const char *why = NULL;

	if (!http->has_error || http->error == EVREQ_HTTP_EOF)
		why = why_unreachable(&http->route->endpoint);
	if (!why)
		why = http->has_error ? error_text(http->error) : "no connection";
	snprintf(reply->failure, sizeof(reply->failure), "%s", why);
}

static void on_error(enum evhttp_request_error error, void *arg)
{
	struct plain_http *http = arg;

	http->error = error;
	http->has_error = true;
}

static void on_done(struct evhttp_request *request, void *arg)
{
	struct plain_http *http = arg;

	http->done = true;
	if (request && evhttp_request_get_response_code(request))
		take_reply(http->reply, request);
	else
		describe_failure(http);
	event_base_loopbreak(http->loop);
}

/* --- a request --- */

static bool connect_to(struct plain_http *http)
{
	const struct export_endpoint *to = &http->route->endpoint;

	if (http->connection)
		return true;
	http->connection = evhttp_connection_base_new(http->loop, NULL, to->host, to->port);
	if (!http->connection)
		return false;
	evhttp_connection_set_max_body_size(http->connection, EXPORT_REPLY_MAX);
	evhttp_connection_set_max_headers_size(http->connection, EXPORT_REPLY_MAX);
	return true;
}

static int add_headers(const struct export_route *route, struct evhttp_request *request)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	int ret = evhttp_add_header(headers, "Host", route->endpoint.authority);

	ret |= evhttp_add_header(headers, "User-Agent", "gpuprobe/" GPUPROBE_VERSION);
	ret |= evhttp_add_header(headers, "Content-Type", "application/x-protobuf");
	if (route->gzip)
		ret |= evhttp_add_header(headers, "Content-Encoding", "gzip");
	for (size_t i = 0; i < route->headers.count; i++)
		ret |= evhttp_add_header(headers, route->headers.items[i].name,
					 route->headers.items[i].value);
	return ret;
}

/* Returns whether the request is on its way. It belongs to the connection then. */
static bool start(struct plain_http *http, const void *data, size_t length)
{
	struct evhttp_request *request = evhttp_request_new(on_done, http);

	if (!request)
		return false;
	evhttp_request_set_error_cb(request, on_error);
	if (add_headers(http->route, request) ||
	    evbuffer_add(evhttp_request_get_output_buffer(request), data, length)) {
		evhttp_request_free(request);
		return false;
	}
	return !evhttp_make_request(http->connection, request, EVHTTP_REQ_POST,
				    http->route->endpoint.target);
}

void plain_http__post(struct plain_http *http, const void *data, size_t length,
		      struct export_reply *reply)
{
	const struct timeval limit = {.tv_sec = http->route->timeout_ms / 1000,
				      .tv_usec = http->route->timeout_ms % 1000 * 1000};

	http->reply = reply;
	http->done = http->stopped = http->timed_out = http->has_error = false;
	if (!connect_to(http) || event_add(http->deadline, &limit) || !start(http, data, length))
		snprintf(reply->failure, sizeof(reply->failure), "out of memory");
	else
		while (!http->done && !http->stopped && !http->timed_out &&
		       event_base_dispatch(http->loop) >= 0)
			;
	if (!http->done && http->timed_out)
		snprintf(reply->failure, sizeof(reply->failure), "no answer in time");
	else if (!http->done && http->stopped)
		snprintf(reply->failure, sizeof(reply->failure), "gpuprobe ended");
	event_del(http->deadline);
	/* Also cancels a request that is still in progress. */
	if (!reply->status)
		disconnect(http);
	http->reply = NULL;
}
