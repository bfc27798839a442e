// SPDX-License-Identifier: BSD-2-Clause
// Clients of the HTTP server that stall, leave, or are too many: they go, and others are served.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <event2/event.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_client.h"

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

/* A connection that cannot be taken stays readable: it is tried again a second later, not all the time. */
static void waits_where_no_descriptor_is_left(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, none;
	struct answer a;
	uint64_t begin;
	int fd = knock(f), next = dup(fd);

	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	event_base_loop(f->base, EVLOOP_ONCE);
	begin = now_ms();
	event_base_loop(f->base, EVLOOP_ONCE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(now_ms() - begin > 500);
	say(fd, GET("/healthz"));
	hear(f, fd, false, &a);
	assert_int_equal(status_of(&a), 200);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		server_test(waits_where_no_descriptor_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
