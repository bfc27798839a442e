// SPDX-License-Identifier: BSD-2-Clause
// What a stranger sends to the metrics page: a connection's bytes in pieces through a socket, and
// the header parser by itself. The first two bytes give the length of a piece,
// and whether the client is on this machine.
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "serve/connection.h"
#include "serve/negotiate.h"
#include "serve/pages.h"
#include "serve/request.h"

static bool closed;

static void on_closed(void *arg, struct connection *connection)
{
	(void)arg;
	closed = true;
	connection__free(connection);
}

static void responds(void *arg, const struct connection *connection)
{
	(void)arg;
	MUST(!closed && connection__state(connection) == CONNECTION_WRITING);
}

static int render(void *arg, enum exposition form, bool anew, uint64_t *reading, FILE *out)
{
	(void)arg;
	*reading = anew;
	fprintf(out, "form %d\n", (int)form);
	return 0;
}

static int web(void *arg, const char *path, struct http_kind *kind, FILE *out)
{
	(void)arg;
	if (strcmp(path, "/") != 0 && strncmp(path, "/api/v1/processes/", 18) != 0)
		return -ENOENT;
	*kind = (struct http_kind){"application/json", "default-src 'none'"};
	fputs(path, out);
	return 0;
}

static void drain(int fd)
{
	char buffer[4096];
	bool first = true;
	ssize_t n;

	while ((n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0) {
		MUST(!first || n < 9 || memcmp(buffer, "HTTP/1.1 ", 9) == 0);
		first = false;
	}
}

static void converse(struct input input)
{
	static const struct http_options http = {
		.address = "",
		.version = "0",
		.render = render,
		.web = web,
		.max_connections = 4,
		.request_ms = 1000,
		.idle_ms = 1000,
	};
	static struct event_base *base;
	struct connection_options options = {
		.closed = on_closed, .responds = responds, .http = &http};
	unsigned int first = (unsigned int)input__number(&input, 2);
	size_t piece = 1 + first % 1024, n;
	struct connection *connection;
	const uint8_t *bytes;
	int ends[2];

	if (!base)
		base = event_base_new();
	options.base = base;
	options.local = first & 0x8000;
	options.pages = base ? pages__new(base) : NULL;
	MUST(options.pages && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
	closed = false;
	connection = connection__new(&options, ends[0]);
	MUST(connection);
	for (int i = 0; !closed && i < 64 && (n = input__bytes(&input, piece, &bytes)); i++) {
		if (send(ends[1], bytes, n, MSG_NOSIGNAL) < 0)
			break;
		for (int j = 0; j < 4; j++)
			event_base_loop(base, EVLOOP_NONBLOCK);
		drain(ends[1]);
	}
	close(ends[1]);
	if (!closed)
		connection__free(connection);
	pages__free(options.pages);
}

static void parse(const struct input *input)
{
	struct request *request = calloc(1, sizeof(*request));
	char *head = malloc(input->left ? input->left : 1);
	const char *content_type;
	size_t used = 0;
	int status;

	MUST(request && head);
	memcpy(head, input->at, input->left);
	status = request__parse(head, input->left, request, &used);
	if (status == REQUEST_COMPLETE) {
		MUST(used <= input->left);
		negotiate__exposition(request->has_accept ? request->accept : NULL, &content_type);
		negotiate__gzip(request->accept_encoding);
	}
	free(head);
	free(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	if (size < 2)
		return 0;
	converse(input);
	input__number(&input, 2);
	parse(&input);
	return 0;
}
