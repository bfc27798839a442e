/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HTTP server over loopback, and its clients. Client and loop take turns in one thread, and the
 * test advances the time that the server's deadlines use: nothing depends on luck, or on the load
 * of the machine. The test waits for the kernel's part between the two.
 */
#ifndef TESTS_HTTP_CLIENT_H
#define TESTS_HTTP_CLIENT_H

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fake_clock.h"
#include "serve/http.h"

/* Nothing that should happen takes this long, on any machine. */
#define PATIENCE_S 60
#define CONNECTIONS 8
/* The deadlines in tests that wait for them. */
#define REQUEST_MS 300
#define IDLE_MS 600

static inline uint64_t now_ms(void)
{
	return atomic_load(&fake_now_ns) / 1000000;
}

/*
 * How often the server has tried to accept a connection, and when the last descriptor was closed.
 */
static unsigned int accepts;
static uint64_t closed_ms;

/* In place of libc's. */
int accept4(int fd, struct sockaddr *peer, socklen_t *length, int flags)
{
	accepts++;
	return (int)syscall(SYS_accept4, fd, peer, length, flags);
}

int close(int fd)
{
	closed_ms = now_ms();
	return (int)syscall(SYS_close, fd);
}

struct fixture {
	struct event_base *base;
	struct http_server *server;
	int renders;
	size_t page_size;	/* of the metrics page; 0: a short one */
	unsigned int render_ms; /* duration of a rendering */
	unsigned int render_cpu_ms;
	int render_error;
	unsigned int reading; /* the latest reading, which the page contains */
	bool reports_reading;
};

static inline int render(void *arg, enum exposition form, bool anew, uint64_t *reading, FILE *out)
{
	struct fixture *f = arg;
	char *fill = malloc(f->page_size + 1);

	f->renders++;
	pass_ms(f->render_ms);
	fake_thread_ns += f->render_cpu_ms * 1000000ull;
	f->reading += anew;
	*reading = f->reading;
	fputs(form == EXPOSITION_OPENMETRICS ? "openmetrics\n" : "prometheus\n", out);
	if (f->reports_reading)
		fprintf(out, "reading %u\n", f->reading);
	memset(fill, 'x', f->page_size);
	fwrite(fill, 1, f->page_size, out);
	free(fill);
	return f->render_error;
}

static inline int set_up_with(void **state, unsigned int request_ms, unsigned int idle_ms)
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

	fake_monotonic = true;
	fake_thread_ns = 1;
	f->base = event_base_new();
	if (http_server__new(f->base, &options, &f->server, &err)) {
		print_error("%s\n", err.text);
		return -1;
	}
	*state = f;
	return 0;
}

/* With the default deadlines, which no test reaches. */
static inline int set_up(void **state)
{
	return set_up_with(state, 0, 0);
}

static inline int set_up_short(void **state)
{
	return set_up_with(state, REQUEST_MS, IDLE_MS);
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;

	http_server__free(f->server);
	event_base_free(f->base);
	free(f);
	return 0;
}

/* No time passes on the faked clock, but the kernel gets some. */
static inline void step(struct fixture *f)
{
	event_base_loop(f->base, EVLOOP_NONBLOCK);
	usleep(200);
}

/* Time passes, without any waiting. */
static inline void steps(struct fixture *f, unsigned int ms)
{
	for (uint64_t end = now_ms() + ms; now_ms() < end;) {
		pass_ms(1);
		event_base_loop(f->base, EVLOOP_NONBLOCK);
	}
}

/* By a real clock. */
static inline time_t real_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec;
}

static inline time_t end_of_patience(void)
{
	return real_s() + PATIENCE_S;
}

static inline void assert_patience(time_t end, const char *what)
{
	if (real_s() > end)
		fail_msg("%s, for %d s", what, PATIENCE_S);
}

/* Connects, but the server has yet to accept. */
static inline int knock(struct fixture *f)
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
	return fd;
}

/* A client that the server has accepted; its sends and receives never block. */
static inline int dial(struct fixture *f)
{
	unsigned int before = accepts;
	time_t end = end_of_patience();
	int fd = knock(f);

	while (accepts == before) {
		assert_patience(end, "the connection is not taken");
		step(f);
	}
	return fd;
}

static inline void say_bytes(int fd, const void *data, size_t length)
{
	assert_int_equal(send(fd, data, length, MSG_NOSIGNAL), length);
}

static inline void say(int fd, const char *text)
{
	say_bytes(fd, text, strlen(text));
}

/* How the received data end: nothing more for now, closed, or reset. */
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

/* Receives what is available. */
static inline void listen_to(int fd, struct answer *a)
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

static inline size_t body_length(const struct answer *a)
{
	return a->length - (size_t)(body_of(a) - a->data);
}

static inline bool has_header(const struct answer *a, const char *line)
{
	const char *at = strstr(a->data, line);

	return at && at < body_of(a) && at[-1] == '\n' && at[strlen(line)] == '\r';
}

static inline bool is_whole(const struct answer *a, bool head_only)
{
	const char *length = strstr(a->data, "Content-Length: ");

	if (!body_of(a) || !length)
		return false;
	return head_only || body_length(a) >= strtoul(length + 16, NULL, 10);
}

/* Waits for one response. */
static inline void hear(struct fixture *f, int fd, bool head_only, struct answer *a)
{
	time_t end = end_of_patience();

	a->length = 0;
	a->end = END_WAITING;
	while (a->end == END_WAITING) {
		assert_patience(end, "no whole response");
		step(f);
		listen_to(fd, a);
		if (is_whole(a, head_only))
			return;
	}
	fail_msg("no whole response: '%s'", a->data);
}

/* Lets time pass until the server closes the connection; returns how many ms that took. */
static inline uint64_t hear_end(struct fixture *f, int fd, struct answer *a)
{
	time_t end = end_of_patience();
	uint64_t start = now_ms();

	a->length = 0;
	a->end = END_WAITING;
	while (a->end == END_WAITING) {
		assert_patience(end, "the connection is still open");
		pass_ms(1);
		step(f);
		listen_to(fd, a);
	}
	return closed_ms - start;
}

/* Sends a request on a new connection; the response is in `a`. */
static inline int ask(struct fixture *f, const char *request, struct answer *a)
{
	int fd = dial(f);

	say(fd, request);
	hear(f, fd, !strncmp(request, "HEAD", 4), a);
	return fd;
}

static inline int status_of(const struct answer *a)
{
	int status = 0;

	sscanf(a->data, "HTTP/1.1 %d ", &status);
	return status;
}

/* Sends a request; expects the status, and whether the connection stays open. */
static inline void expect(struct fixture *f, const char *request, int status, bool open)
{
	struct answer a;
	int fd = ask(f, request, &a);

	if (status_of(&a) != status)
		fail_msg("'%.60s' is answered by '%.60s', not by %d", request, a.data, status);
	/* A slower client might lose the response to a reset. */
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

#define server_test(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define deadline_test(test) cmocka_unit_test_setup_teardown(test, set_up_short, tear_down)

#endif
