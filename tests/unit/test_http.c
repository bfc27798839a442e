// SPDX-License-Identifier: BSD-2-Clause
// The HTTP server over loopback: its pages, what it refuses, and clients that
// stall. Client and loop take turns in one thread, so nothing depends on luck.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "serve/address.h"
#include "serve/http.h"
#include "serve/request.h"

/* Nothing that is meant to happen takes as long. */
#define PATIENCE_MS 5000
#define CONNECTIONS 8
/* The deadlines where a test waits for them. */
#define REQUEST_MS 300
#define IDLE_MS 600

struct fixture {
	struct event_base *base;
	struct http_server *server;
	int renders;
	size_t page_size;	/* of the metrics page; 0: a short one */
	unsigned int render_ms; /* how long it takes */
	int render_error;
};

static int render(void *arg, enum exposition form, FILE *out)
{
	struct fixture *f = arg;
	char *fill = malloc(f->page_size + 1);

	f->renders++;
	usleep(f->render_ms * 1000);
	fputs(form == EXPOSITION_OPENMETRICS ? "openmetrics\n" : "prometheus\n", out);
	memset(fill, 'x', f->page_size);
	fwrite(fill, 1, f->page_size, out);
	free(fill);
	return f->render_error;
}

static int set_up_with(void **state, unsigned int request_ms, unsigned int idle_ms)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct http_options options = {
		.address = "127.0.0.1:0",
		.version = "9.8.7",
		.render = render,
		.arg = f,
		.max_connections = CONNECTIONS,
		.request_ms = request_ms,
		.idle_ms = idle_ms,
	};
	struct error err;

	f->base = event_base_new();
	if (http_server__new(f->base, &options, &f->server, &err)) {
		print_error("%s\n", err.text);
		return -1;
	}
	*state = f;
	return 0;
}

/* With the deadlines of every day, which no test comes near. */
static int set_up(void **state)
{
	return set_up_with(state, 0, 0);
}

static int set_up_short(void **state)
{
	return set_up_with(state, REQUEST_MS, IDLE_MS);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	http_server__free(f->server);
	event_base_free(f->base);
	free(f);
	return 0;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void step(struct fixture *f)
{
	event_base_loop(f->base, EVLOOP_NONBLOCK);
	usleep(200);
}

static void steps(struct fixture *f, unsigned int ms)
{
	uint64_t end = now_ms() + ms;

	while (now_ms() < end)
		step(f);
}

/* A client of the server; what it sends and receives never blocks. */
static int dial(struct fixture *f)
{
	const char *address = http_server__address(f->server);
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1)),
		.sin_addr = {htonl(INADDR_LOOPBACK)},
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	step(f);
	return fd;
}

static void say_bytes(int fd, const void *data, size_t length)
{
	assert_int_equal(send(fd, data, length, MSG_NOSIGNAL), length);
}

static void say(int fd, const char *text)
{
	say_bytes(fd, text, strlen(text));
}

/* The end of what has been received: nothing more for now, closed, or reset. */
enum end {
	END_WAITING,
	END_CLOSED,
	END_RESET
};

struct answer {
	char data[65536];
	size_t length;
	enum end end;
};

/* Receives what there is. */
static void listen_to(int fd, struct answer *a)
{
	ssize_t n;

	do {
		assert_true(a->length + 1 < sizeof(a->data));
		n = recv(fd, a->data + a->length, sizeof(a->data) - 1 - a->length, 0);
		if (n > 0)
			a->length += (size_t)n;
	} while (n > 0);
	a->data[a->length] = '\0';
	if (n == 0)
		a->end = END_CLOSED;
	else
		a->end = errno == EAGAIN ? END_WAITING : END_RESET;
}

static const char *body_of(const struct answer *a)
{
	const char *body = strstr(a->data, "\r\n\r\n");

	return body ? body + 4 : NULL;
}

static size_t body_length(const struct answer *a)
{
	return a->length - (size_t)(body_of(a) - a->data);
}

static bool has_header(const struct answer *a, const char *line)
{
	const char *at = strstr(a->data, line);

	return at && at < body_of(a) && at[-1] == '\n' && at[strlen(line)] == '\r';
}

static bool is_whole(const struct answer *a, bool head_only)
{
	const char *length = strstr(a->data, "Content-Length: ");

	if (!body_of(a) || !length)
		return false;
	return head_only || body_length(a) >= strtoul(length + 16, NULL, 10);
}

/* Waits for one response. */
static void hear(struct fixture *f, int fd, bool head_only, struct answer *a)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	a->length = 0;
	a->end = END_WAITING;
	while (a->end == END_WAITING && now_ms() < end) {
		step(f);
		listen_to(fd, a);
		if (is_whole(a, head_only))
			return;
	}
	fail_msg("no whole response: '%s'", a->data);
}

/* Waits for the server to close the connection and returns after how many ms it did. */
static uint64_t hear_end(struct fixture *f, int fd, struct answer *a)
{
	uint64_t start = now_ms();

	a->length = 0;
	a->end = END_WAITING;
	while (a->end == END_WAITING) {
		if (now_ms() > start + PATIENCE_MS)
			fail_msg("the connection is still open");
		step(f);
		listen_to(fd, a);
	}
	return now_ms() - start;
}

/* Sends a request on a new connection; the response is in `a`. */
static int ask(struct fixture *f, const char *request, struct answer *a)
{
	int fd = dial(f);

	say(fd, request);
	hear(f, fd, !strncmp(request, "HEAD", 4), a);
	return fd;
}

static int status_of(const struct answer *a)
{
	int status = 0;

	sscanf(a->data, "HTTP/1.1 %d ", &status);
	return status;
}

/* Asks, expects the status, and whether the connection lives on. */
static void expect(struct fixture *f, const char *request, int status, bool open)
{
	struct answer a;
	int fd = ask(f, request, &a);

	if (status_of(&a) != status)
		fail_msg("'%.60s' is answered by '%.60s', not by %d", request, a.data, status);
	/* A client less quick to read might lose the response to a reset. */
	assert_int_not_equal(a.end, END_RESET);
	assert_true(has_header(&a, open ? "Connection: keep-alive" : "Connection: close"));
	if (!open) {
		hear_end(f, fd, &a);
		assert_int_equal(a.end, END_CLOSED);
	}
	close(fd);
	steps(f, 1);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static void serves_its_pages(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	close(ask(f, GET("/metrics"), &a));
	assert_int_equal(status_of(&a), 200);
	assert_string_equal(body_of(&a), "prometheus\n");
	assert_true(has_header(&a, "Content-Type: text/plain; version=0.0.4; charset=utf-8"));
	assert_true(has_header(&a, "Vary: Accept, Accept-Encoding"));
	assert_true(has_header(&a, "Content-Length: 11"));
	assert_null(strstr(a.data, "Content-Encoding"));
	assert_non_null(strstr(a.data, "\r\nDate: "));
	close(ask(f, GET("/"), &a));
	assert_int_equal(status_of(&a), 200);
	assert_true(has_header(&a, "Content-Type: text/html; charset=utf-8"));
	assert_non_null(strstr(a.data, "gpuprobe 9.8.7"));
	assert_non_null(strstr(a.data, "<a href=\"/metrics\">"));
	close(ask(f, GET("/healthz"), &a));
	assert_int_equal(status_of(&a), 200);
	assert_string_equal(body_of(&a), "ok\n");
	assert_int_equal(f->renders, 1);
}

static void negotiates(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	close(ask(f, "GET /metrics HTTP/1.1\r\nHost: x\r\n"
		     "Accept: text/plain;q=0.5\r\n"
		     "accept:  application/openmetrics-text; version=1.0.0 \r\n\r\n",
		  &a));
	assert_string_equal(body_of(&a), "openmetrics\n");
	assert_true(has_header(&a, "Content-Type: application/openmetrics-text; version=1.0.0;"
				   " charset=utf-8"));
}

static void inflate_body(const struct answer *a, char *text, size_t size)
{
	z_stream z = {
		.next_in = (Bytef *)body_of(a),
		.avail_in = (uInt)body_length(a),
		.next_out = (Bytef *)text,
		.avail_out = (uInt)size - 1,
	};

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	text[z.total_out] = '\0';
	inflateEnd(&z);
}

static void compresses(void **state)
{
	struct fixture *f = *state;
	char text[32768];
	struct answer a;

	f->page_size = 20000;
	close(ask(f, "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n", &a));
	assert_true(has_header(&a, "Content-Encoding: gzip"));
	assert_true(body_length(&a) < 1000);
	inflate_body(&a, text, sizeof(text));
	assert_int_equal(strlen(text), 20011);
	assert_int_equal(memcmp(text, "prometheus\nxxx", 14), 0);
	close(ask(f, "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip;q=0\r\n\r\n", &a));
	assert_null(strstr(a.data, "Content-Encoding"));
	assert_int_equal(body_length(&a), 20011);
}

static void answers_head_without_a_body(void **state)
{
	struct fixture *f = *state;
	struct answer a;
	int fd;

	fd = ask(f, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", &a);
	steps(f, 5);
	listen_to(fd, &a);
	assert_int_equal(status_of(&a), 200);
	assert_true(has_header(&a, "Content-Length: 11"));
	assert_string_equal(body_of(&a), "");
	/* The next response follows at once: nothing of a body was sent. */
	say(fd, GET("/healthz"));
	hear(f, fd, false, &a);
	assert_int_equal(status_of(&a), 200);
	close(fd);
}

static void keeps_connections_by_version(void **state)
{
	struct fixture *f = *state;

	expect(f, GET("/healthz"), 200, true);
	expect(f, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, false);
	expect(f, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n", 200, false);
	expect(f, "GET /healthz HTTP/1.0\r\n\r\n", 200, false);
	expect(f, "GET /healthz HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 200, true);
}

static void refuses_other_paths_and_methods(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	expect(f, GET("/metricsx"), 404, true);
	expect(f, GET("/metrics/"), 404, true);
	expect(f, GET("/../etc/passwd"), 404, true);
	expect(f, GET("/%6detrics"), 404, true);
	expect(f, "DELETE /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404, true);
	expect(f, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, true);
	expect(f, "get /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 405, true);
	expect(f, "AVERYLONGMETHODNAMETHATISCUT /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 405, true);
	close(ask(f, "PUT /metrics HTTP/1.1\r\nHost: x\r\n\r\n", &a));
	assert_int_equal(status_of(&a), 405);
	assert_true(has_header(&a, "Allow: GET, HEAD"));
	expect(f, "HEAD /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404, true);
	assert_int_equal(f->renders, 0);
}

static void reads_targets(void **state)
{
	struct fixture *f = *state;

	expect(f, GET("/healthz?a=/b"), 200, true);
	expect(f, GET("http://host:9000/healthz"), 200, true);
	expect(f, GET("HTTP://host"), 200, true);
	expect(f, GET("http://host/metrics?x"), 200, true);
	expect(f, "\r\n\r\n" GET("/healthz"), 200, true);
	expect(f, "GET /healthz HTTP/1.1\nHost: x\n\n", 200, true);
}

static void refuses_malformed_requests(void **state)
{
	static const char *const requests[] = {
		"GET\r\n\r\n",
		"GET /metrics\r\n\r\n",
		"GET  HTTP/1.1\r\nHost: x\r\n\r\n",
		" GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /met rics HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /metrics HTTP/1.1 \r\nHost: x\r\n\r\n",
		"GET /metrics HTTP/11\r\nHost: x\r\n\r\n",
		"GET /metrics http/1.1\r\nHost: x\r\n\r\n",
		"GET metrics HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT host:1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"G(T /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /metrics HTTP/1.1\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nnocolon\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost : x\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\n: empty\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nA: b\x01\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1a\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
		"\x16\x03\x01\x02\n\n", /* a TLS client */
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		expect(f, requests[i], 400, false);
	expect(f, "GET /metrics HTTP/2.0\r\nHost: x\r\n\r\n", 505, false);
	assert_int_equal(f->renders, 0);
}

static void refuses_a_nul_byte(void **state)
{
	static const char request[] = "GET /healthz\0 HTTP/1.1\r\nHost: x\r\n\r\n";
	struct fixture *f = *state;
	int fd = dial(f);
	struct answer a;

	say_bytes(fd, request, sizeof(request) - 1);
	hear(f, fd, false, &a);
	assert_int_equal(status_of(&a), 400);
	close(fd);
}

static void refuses_bodies(void **state)
{
	struct fixture *f = *state;

	expect(f, "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 200, true);
	expect(f, "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 413, false);
	expect(f, "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
	       413, false);
	expect(f, "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 413,
	       false);
	expect(f, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405, false);
}

/* A request that is `length` bytes long, by a header or by its path. */
static char *long_request(size_t length, bool by_path)
{
	static const char start[] = "GET /healthz", middle[] = " HTTP/1.1\r\nHost: x\r\nA: ";
	char *text = malloc(length + 1), *at = text;
	size_t fill = length - strlen(start) - strlen(middle) - 4;

	at = stpcpy(at, start);
	if (by_path) {
		memset(at, 'y', fill);
		at += fill;
	}
	at = stpcpy(at, middle);
	if (!by_path) {
		memset(at, 'z', fill);
		at += fill;
	}
	strcpy(at, "\r\n\r\n");
	assert_int_equal(strlen(text), length);
	return text;
}

static void expect_long(struct fixture *f, size_t length, bool by_path, int status)
{
	char *request = long_request(length, by_path);

	expect(f, request, status, status < 414);
	free(request);
}

static void refuses_long_heads(void **state)
{
	struct fixture *f = *state;

	expect_long(f, REQUEST_HEAD_MAX, false, 200);
	expect_long(f, REQUEST_HEAD_MAX, true, 404);
	expect_long(f, REQUEST_HEAD_MAX + 1, false, 431);
	/* Most of these is not read before the response. */
	expect_long(f, 60000, false, 431);
	expect_long(f, 60000, true, 414);
}

/* The server never has more in its buffer; another caller might. */
static void reads_no_further_than_a_head_may_be(void **state)
{
	struct request request;
	size_t used = 0;
	char *text;

	(void)state;
	text = long_request(REQUEST_HEAD_MAX, false);
	assert_int_equal(request__parse(text, strlen(text), &request, &used), REQUEST_COMPLETE);
	assert_int_equal(used, REQUEST_HEAD_MAX);
	assert_int_equal(request__parse(text, strlen(text) - 1, &request, &used),
			 REQUEST_INCOMPLETE);
	free(text);
	text = long_request(3 * REQUEST_HEAD_MAX, false);
	assert_int_equal(request__parse(text, strlen(text), &request, &used), 431);
	free(text);
}

static void tells_a_page_that_failed(void **state)
{
	struct fixture *f = *state;

	f->render_error = -ENOMEM;
	expect(f, GET("/metrics"), 500, true);
	f->render_error = 0;
	expect(f, GET("/metrics"), 200, true);
}

static void answers_requests_in_a_row(void **state)
{
	struct fixture *f = *state;
	int fd = dial(f), i;
	struct answer a;
	char *at;

	for (i = 0; i < 3; i++) {
		say(fd, GET("/healthz"));
		hear(f, fd, false, &a);
		assert_string_equal(body_of(&a), "ok\n");
	}
	/* All at once, the last one in two parts. */
	say(fd, GET("/healthz") GET("/nothing") "\r\nGET /metr");
	steps(f, 10);
	say(fd, "ics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	hear_end(f, fd, &a);
	assert_int_equal(a.end, END_CLOSED);
	at = strstr(a.data, "HTTP/1.1 200 ");
	assert_ptr_equal(at, a.data);
	at = strstr(at, "HTTP/1.1 404 ");
	assert_non_null(at);
	at = strstr(at, "HTTP/1.1 200 ");
	assert_non_null(at);
	assert_non_null(strstr(at, "\r\n\r\nprometheus\n"));
	close(fd);
}

static void takes_a_request_byte_by_byte(void **state)
{
	static const char request[] = GET("/healthz");
	struct fixture *f = *state;
	int fd = dial(f);
	struct answer a;
	size_t i;

	for (i = 0; i < sizeof(request) - 1; i++) {
		say_bytes(fd, request + i, 1);
		step(f);
	}
	hear(f, fd, false, &a);
	assert_int_equal(status_of(&a), 200);
	close(fd);
}

static void answers_a_client_that_closed_its_side(void **state)
{
	struct fixture *f = *state;
	int fd = dial(f);
	struct answer a;

	say(fd, GET("/healthz"));
	shutdown(fd, SHUT_WR);
	hear_end(f, fd, &a);
	assert_int_equal(a.end, END_CLOSED);
	assert_int_equal(status_of(&a), 200);
	close(fd);
}

static void assert_about(uint64_t took, uint64_t ms)
{
	/* A little early for the loop's cached clock; late for a busy machine. */
	assert_in_range(took, ms - 60, ms + 2000);
}

static void drops_a_silent_client(void **state)
{
	struct fixture *f = *state;
	int fd = dial(f);
	struct answer a;

	assert_about(hear_end(f, fd, &a), REQUEST_MS);
	assert_int_equal(a.length, 0);
	close(fd);
}

static void drops_a_client_that_trickles(void **state)
{
	struct fixture *f = *state;
	uint64_t start = now_ms();
	struct answer a = {.end = END_WAITING};
	int fd = dial(f);

	say(fd, "GET /");
	while (a.end == END_WAITING) {
		assert_true(now_ms() < start + PATIENCE_MS);
		send(fd, "x", 1, MSG_NOSIGNAL);
		steps(f, 20);
		listen_to(fd, &a);
	}
	assert_about(now_ms() - start, REQUEST_MS);
	assert_int_equal(a.length, 0);
	close(fd);
}

static void drops_a_client_that_does_not_read(void **state)
{
	struct fixture *f = *state;
	static char buffer[1 << 20];
	uint64_t start, total = 0;
	int fd = dial(f);
	ssize_t n;

	/* More than the sockets' buffers hold. */
	f->page_size = 40 << 20;
	say(fd, GET("/metrics"));
	while (!f->renders)
		step(f);
	start = now_ms();
	steps(f, REQUEST_MS + 200);
	while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		total += (uint64_t)n;
	/* What was on its way is there, and then the end. */
	assert_true(n == 0 || errno == ECONNRESET);
	assert_true(total < f->page_size);
	assert_true(now_ms() - start < PATIENCE_MS);
	close(fd);
}

static void drops_a_client_that_reads_too_slowly(void **state)
{
	struct fixture *f = *state;
	struct answer a = {.end = END_WAITING};
	uint64_t start = 0, total = 0;
	int fd = dial(f);

	f->page_size = 40 << 20;
	say(fd, GET("/metrics"));
	while (!f->renders)
		step(f);
	start = now_ms();
	/* Always some progress, never enough. */
	while (a.end == END_WAITING) {
		ssize_t n = recv(fd, a.data, 4096, 0);

		total += n > 0 ? (uint64_t)n : 0;
		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		assert_true(now_ms() < start + PATIENCE_MS);
		if (now_ms() < start + REQUEST_MS + 200)
			steps(f, 10);
	}
	assert_true(total < f->page_size);
	close(fd);
}

static void sends_a_long_page_to_one_that_reads(void **state)
{
	static char buffer[1 << 16];
	struct fixture *f = *state;
	uint64_t end = now_ms() + PATIENCE_MS;
	size_t total = 0;
	int fd = dial(f);
	ssize_t n;

	f->page_size = 10 << 20;
	say(fd, "GET /metrics HTTP/1.0\r\n\r\n");
	do {
		event_base_loop(f->base, EVLOOP_NONBLOCK);
		n = recv(fd, buffer, sizeof(buffer), 0);
		if (n > 0)
			total += (size_t)n;
	} while ((n > 0 || (n < 0 && errno == EAGAIN)) && now_ms() < end);
	assert_int_equal(n, 0);
	assert_true(total > f->page_size);
	assert_true(total < f->page_size + 1024);
	close(fd);
}

static void does_not_charge_the_client_for_a_slow_page(void **state)
{
	struct fixture *f;

	tear_down(state);
	set_up_with(state, 1000, 0);
	f = *state;
	f->render_ms = 1100;
	sends_a_long_page_to_one_that_reads(state);
}

static void closes_an_idle_connection(void **state)
{
	struct fixture *f = *state;
	struct answer a;
	int fd = ask(f, GET("/healthz"), &a);

	/* Longer than a request may take, but it has the time between requests. */
	assert_about(hear_end(f, fd, &a), IDLE_MS);
	assert_int_equal(a.end, END_CLOSED);
	close(fd);
	/* The next request has the time of a request again. */
	fd = ask(f, GET("/healthz"), &a);
	steps(f, IDLE_MS / 2);
	say(fd, "G");
	assert_about(hear_end(f, fd, &a), REQUEST_MS);
	close(fd);
}

static int socket_error(int fd)
{
	socklen_t length = sizeof(int);
	int error = 0;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
	return error;
}

static void does_not_wait_for_a_client_to_close(void **state)
{
	struct fixture *f = *state;
	struct answer a;
	int fd = ask(f, "GET /healthz HTTP/1.0\r\n\r\n", &a);
	int error = 0, i;

	/* For a while the server reads what was still on its way, so that nothing is reset. */
	for (i = 0; i < 5; i++) {
		say(fd, "x");
		steps(f, 5);
		assert_int_equal(socket_error(fd), 0);
	}
	/* After a second its side is gone for good. */
	steps(f, 1200);
	send(fd, "x", 1, MSG_NOSIGNAL);
	for (i = 0; i < 100 && !error; i++) {
		usleep(1000);
		error = socket_error(fd);
	}
	assert_true(error == ECONNRESET || error == EPIPE);
	close(fd);
}

static bool is_open(int fd)
{
	struct answer a = {.length = 0};

	listen_to(fd, &a);
	return a.end == END_WAITING;
}

static int count_open(const int *fds, int n)
{
	int open = 0, i;

	for (i = 0; i < n; i++)
		open += is_open(fds[i]);
	return open;
}

static void lets_a_scraper_in_past_stalled_clients(void **state)
{
	struct fixture *f = *state;
	int stalled[CONNECTIONS], i, fd;
	struct answer a;

	for (i = 0; i < CONNECTIONS; i++) {
		stalled[i] = dial(f);
		say(stalled[i], "GET /metrics HTTP/1.1\r\nHost:");
		steps(f, 2);
	}
	assert_int_equal(count_open(stalled, CONNECTIONS), CONNECTIONS);
	fd = ask(f, GET("/metrics"), &a);
	assert_int_equal(status_of(&a), 200);
	/* One had to go: the oldest. */
	assert_int_equal(count_open(stalled, CONNECTIONS), CONNECTIONS - 1);
	assert_false(is_open(stalled[0]));
	assert_true(is_open(fd));
	/* The next one takes the place of the scraper's, which is between two requests. */
	stalled[0] = dial(f);
	steps(f, 2);
	assert_int_equal(count_open(stalled, CONNECTIONS), CONNECTIONS);
	assert_false(is_open(fd));
	close(fd);
	for (i = 0; i < CONNECTIONS; i++)
		close(stalled[i]);
}

static void never_holds_more_connections(void **state)
{
	struct fixture *f = *state;
	int fds[4 * CONNECTIONS], i;

	for (i = 0; i < 4 * CONNECTIONS; i++) {
		fds[i] = dial(f);
		steps(f, 1);
		assert_true(count_open(fds, i + 1) <= CONNECTIONS);
	}
	assert_int_equal(count_open(fds, 4 * CONNECTIONS), CONNECTIONS);
	for (i = 0; i < 4 * CONNECTIONS; i++)
		close(fds[i]);
}

static void keeps_a_response_under_way_longest(void **state)
{
	struct fixture *f = *state;
	int fds[CONNECTIONS], i, extra;

	/* The first gets a long response and reads none of it; the others only came. */
	f->page_size = 40 << 20;
	fds[0] = dial(f);
	say(fds[0], GET("/metrics"));
	while (!f->renders)
		step(f);
	f->page_size = 0;
	for (i = 1; i < CONNECTIONS; i++)
		fds[i] = dial(f);
	extra = dial(f);
	steps(f, 2);
	assert_int_equal(count_open(fds + 1, CONNECTIONS - 1), CONNECTIONS - 2);
	close(extra);
	for (i = 0; i < CONNECTIONS; i++)
		close(fds[i]);
}

static void forgets_clients_that_left(void **state)
{
	struct fixture *f = *state;
	int i;

	for (i = 0; i < 20 * CONNECTIONS; i++) {
		int fd = dial(f);

		if (i % 3 == 0)
			say(fd, "GET /");
		if (i % 3 == 1)
			say(fd, GET("/metrics"));
		close(fd);
	}
	steps(f, 10);
	expect(f, GET("/healthz"), 200, true);
}

/* Writing to it raises SIGPIPE where that is not prevented, which ends the program. */
static void survives_a_client_that_leaves_in_the_middle(void **state)
{
	struct fixture *f = *state;
	int fd = dial(f);

	f->page_size = 40 << 20;
	say(fd, GET("/metrics"));
	shutdown(fd, SHUT_WR);
	while (!f->renders)
		step(f);
	steps(f, 20);
	close(fd);
	steps(f, 20);
	f->page_size = 0;
	expect(f, GET("/metrics"), 200, true);
}

static void ends_with_clients_connected(void **state)
{
	struct fixture *f = *state;
	int a = dial(f), b = dial(f);

	f->page_size = 40 << 20;
	say(a, GET("/metrics"));
	steps(f, 20);
	tear_down(state);
	set_up(state);
	assert_false(is_open(b));
	close(a);
	close(b);
}

static void tells_its_address(void **state)
{
	struct fixture *f = *state;
	const char *address = http_server__address(f->server);

	assert_int_equal(strncmp(address, "127.0.0.1:", 10), 0);
	assert_true(atoi(address + 10) > 0);
}

static void explains_a_port_in_use(void **state)
{
	struct fixture *f = *state;
	struct http_options options = {
		.address = http_server__address(f->server),
		.version = "1",
		.render = render,
	};
	struct http_server *server = NULL;
	struct error err = {""};

	assert_int_equal(http_server__new(f->base, &options, &server, &err), -EADDRINUSE);
	assert_null(server);
	assert_non_null(strstr(err.text, options.address));
	assert_non_null(strstr(err.text, "Address already in use"));
	assert_non_null(strstr(err.text, "--metrics-addr"));
	assert_null(strchr(err.text, '\n'));
	options.address = "192.0.2.1:0";
	assert_int_equal(http_server__new(f->base, &options, &server, &err), -EADDRNOTAVAIL);
	options.address = "9000";
	assert_int_equal(http_server__new(f->base, &options, &server, &err), -EINVAL);
	http_server__free(NULL);
}

static void splits_addresses(void **state)
{
	static const struct {
		const char *text, *host, *port;
	} good[] = {
		{"127.0.0.1:9000", "127.0.0.1", "9000"},
		{"localhost:1", "localhost", "1"},
		{"[::1]:65535", "::1", "65535"},
		{"[fe80::1%eth0]:9000", "fe80::1%eth0", "9000"},
		{":9000", "", "9000"},
		{"0.0.0.0:0", "0.0.0.0", "0"},
	};
	static const char *const bad[] = {
		"", "9000", ":", "localhost", "localhost:", "1.2.3.4:65536", "1.2.3.4:100000",
		"1.2.3.4:-1", "1.2.3.4:+1", "1.2.3.4: 1", "1.2.3.4:http", "::1:9000", "::1",
		"[::1]", "[::1:9000", "[]:9000", "[::1]9000", "[::1]:9000x", "[::1]x:9000"};
	char host[ADDRESS_HOST_MAX], port[ADDRESS_PORT_MAX], text[ADDRESS_HOST_MAX + 8];
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(address__split(good[i].text, host, port, NULL), 0);
		assert_string_equal(host, good[i].host);
		assert_string_equal(port, good[i].port);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		if (address__split(bad[i], host, port, &err) != -EINVAL)
			fail_msg("'%s' was taken for an address", bad[i]);
		assert_non_null(strstr(err.text, "127.0.0.1:9000"));
	}
	memset(text, 'h', ADDRESS_HOST_MAX);
	strcpy(text + ADDRESS_HOST_MAX, ":1");
	assert_int_equal(address__split(text, host, port, NULL), -EINVAL);
	strcpy(text + ADDRESS_HOST_MAX - 1, ":1");
	assert_int_equal(address__split(text, host, port, NULL), 0);
}

static void listens_on_every_kind_of_address(void **state)
{
	static const struct {
		const char *text, *bound;
	} cases[] = {
		{"localhost:0", NULL},
		{"0.0.0.0:0", "0.0.0.0:"},
		{":0", NULL},
		{"[::1]:0", "[::1]:"},
	};
	char bound[ADDRESS_TEXT_MAX];
	struct error err;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fd = address__listen(cases[i].text, &err);
		/* A machine may be without IPv6. */
		if (fd < 0 && cases[i].text[0] == '[')
			continue;
		assert_true(fd >= 0);
		assert_int_equal(address__of_socket(fd, bound, sizeof(bound)), 0);
		if (cases[i].bound)
			assert_int_equal(strncmp(bound, cases[i].bound, strlen(cases[i].bound)), 0);
		assert_true(atoi(strrchr(bound, ':') + 1) > 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
	}
}

#define server_test(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define deadline_test(test) cmocka_unit_test_setup_teardown(test, set_up_short, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(serves_its_pages),
		server_test(negotiates),
		server_test(compresses),
		server_test(answers_head_without_a_body),
		server_test(keeps_connections_by_version),
		server_test(refuses_other_paths_and_methods),
		server_test(reads_targets),
		server_test(refuses_malformed_requests),
		server_test(refuses_a_nul_byte),
		server_test(refuses_bodies),
		server_test(refuses_long_heads),
		cmocka_unit_test(reads_no_further_than_a_head_may_be),
		server_test(tells_a_page_that_failed),
		server_test(answers_requests_in_a_row),
		server_test(takes_a_request_byte_by_byte),
		server_test(answers_a_client_that_closed_its_side),
		deadline_test(drops_a_silent_client),
		deadline_test(drops_a_client_that_trickles),
		deadline_test(drops_a_client_that_does_not_read),
		deadline_test(drops_a_client_that_reads_too_slowly),
		server_test(sends_a_long_page_to_one_that_reads),
		server_test(does_not_charge_the_client_for_a_slow_page),
		deadline_test(closes_an_idle_connection),
		server_test(does_not_wait_for_a_client_to_close),
		server_test(lets_a_scraper_in_past_stalled_clients),
		server_test(never_holds_more_connections),
		server_test(keeps_a_response_under_way_longest),
		server_test(forgets_clients_that_left),
		server_test(survives_a_client_that_leaves_in_the_middle),
		server_test(ends_with_clients_connected),
		server_test(tells_its_address),
		server_test(explains_a_port_in_use),
		cmocka_unit_test(splits_addresses),
		cmocka_unit_test(listens_on_every_kind_of_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
