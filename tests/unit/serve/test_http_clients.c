// SPDX-License-Identifier: BSD-2-Clause
// Clients of the HTTP server that stall, leave, or are too many: they are dropped, and others are
// served.
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
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_client.h"

static void assert_about(uint64_t took, uint64_t ms)
{
	/* The loop's clock may lag by one step. */
	assert_in_range(took, ms - 1, ms + 2);
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
	time_t end = end_of_patience();
	struct answer a = {.end = END_WAITING};
	int fd = dial(f);
	uint64_t start = now_ms();

	say(fd, "GET /");
	while (a.end == END_WAITING) {
		assert_patience(end, "the connection is still open");
		send(fd, "x", 1, MSG_NOSIGNAL);
		steps(f, 20);
		listen_to(fd, &a);
	}
	assert_about(closed_ms - start, REQUEST_MS);
	assert_int_equal(a.length, 0);
	close(fd);
}

/* Requests more than the sockets' buffers hold. */
static int ask_for_much(struct fixture *f)
{
	int fd = dial(f);

	f->page_size = 40 << 20;
	say(fd, GET("/metrics"));
	while (!f->renders)
		step(f);
	return fd;
}

/* Reads what is still in transit, up to the end. */
static uint64_t read_to_the_end(struct fixture *f, int fd)
{
	static char buffer[1 << 20];
	time_t end = end_of_patience();
	uint64_t total = 0;
	ssize_t n;

	while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0 || (n < 0 && errno == EAGAIN)) {
		assert_patience(end, "the connection is still open");
		total += n > 0 ? (uint64_t)n : 0;
		step(f);
	}
	assert_true(n == 0 || errno == ECONNRESET);
	return total;
}

static void drops_a_client_that_does_not_read(void **state)
{
	struct fixture *f = *state;
	int fd = ask_for_much(f);

	steps(f, REQUEST_MS + 200);
	/* Data in transit arrive, and then the end. */
	assert_true(read_to_the_end(f, fd) < f->page_size);
	close(fd);
}

static void drops_a_client_that_reads_too_slowly(void **state)
{
	struct fixture *f = *state;
	int fd = ask_for_much(f);
	uint64_t end = now_ms() + REQUEST_MS + 200, total = 0;
	char buffer[4096];

	/* Always some progress, never enough. */
	while (now_ms() < end) {
		ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

		total += n > 0 ? (uint64_t)n : 0;
		steps(f, 10);
	}
	assert_true(total > 0);
	assert_true(total + read_to_the_end(f, fd) < f->page_size);
	close(fd);
}

static void sends_a_long_page_to_one_that_reads(void **state)
{
	static char buffer[1 << 16];
	struct fixture *f = *state;
	time_t end = end_of_patience();
	size_t total = 0;
	int fd = dial(f);
	ssize_t n;

	f->page_size = 10 << 20;
	say(fd, "GET /metrics HTTP/1.0\r\n\r\n");
	do {
		assert_patience(end, "the page is not whole");
		event_base_loop(f->base, EVLOOP_NONBLOCK);
		n = recv(fd, buffer, sizeof(buffer), 0);
		if (n > 0)
			total += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EAGAIN));
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

/* The server can now read what was sent. */
static void wait_until_arrived(int fd)
{
	time_t end = end_of_patience();
	int unsent;

	do {
		assert_patience(end, "it does not arrive");
		assert_int_equal(ioctl(fd, SIOCOUTQ, &unsent), 0);
	} while (unsent);
}

static void closes_an_idle_connection(void **state)
{
	struct fixture *f = *state;
	struct answer a;
	int fd = ask(f, GET("/healthz"), &a);

	/* Longer than a request may take, but the limit between requests applies. */
	assert_about(hear_end(f, fd, &a), IDLE_MS);
	assert_int_equal(a.end, END_CLOSED);
	close(fd);
	/* The next request again gets the time of a request. */
	fd = ask(f, GET("/healthz"), &a);
	steps(f, IDLE_MS / 2);
	say(fd, "G");
	wait_until_arrived(fd);
	step(f);
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
	time_t end = end_of_patience();
	int error = 0, i;

	/* For a while the server reads what was still in transit, so that nothing is reset. */
	for (i = 0; i < 5; i++) {
		say(fd, "x");
		steps(f, 5);
		assert_int_equal(socket_error(fd), 0);
	}
	/* After a second its side is closed for good. */
	steps(f, 1200);
	send(fd, "x", 1, MSG_NOSIGNAL);
	while (!error) {
		assert_patience(end, "the server's side is still there");
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

/* The client sees that the server has closed as soon as the kernel reports it. */
static void expect_open(struct fixture *f, const int *fds, int n, int expected)
{
	time_t end = end_of_patience();

	while (count_open(fds, n) > expected) {
		assert_patience(end, "there are more connections");
		step(f);
	}
	assert_int_equal(count_open(fds, n), expected);
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
	expect_open(f, stalled, CONNECTIONS, CONNECTIONS);
	fd = ask(f, GET("/metrics"), &a);
	assert_int_equal(status_of(&a), 200);
	/* One had to be dropped: the oldest. */
	expect_open(f, stalled, CONNECTIONS, CONNECTIONS - 1);
	assert_false(is_open(stalled[0]));
	assert_true(is_open(fd));
	/* The next one replaces the scraper, which is between two requests. */
	stalled[0] = dial(f);
	expect_open(f, &fd, 1, 0);
	expect_open(f, stalled, CONNECTIONS, CONNECTIONS);
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
		expect_open(f, fds, i + 1, i < CONNECTIONS ? i + 1 : CONNECTIONS);
	}
	for (i = 0; i < 4 * CONNECTIONS; i++)
		close(fds[i]);
}

static void keeps_a_response_under_way_longest(void **state)
{
	struct fixture *f = *state;
	int fds[CONNECTIONS], i, extra;

	/* The first gets a long response and reads none of it; the others have only connected. */
	f->page_size = 40 << 20;
	fds[0] = dial(f);
	say(fds[0], GET("/metrics"));
	while (!f->renders)
		step(f);
	f->page_size = 0;
	for (i = 1; i < CONNECTIONS; i++)
		fds[i] = dial(f);
	extra = dial(f);
	expect_open(f, fds + 1, CONNECTIONS - 1, CONNECTIONS - 2);
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

/* Writing to it raises SIGPIPE, which ends the program unless that is prevented. */
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
	expect_open(*state, &b, 1, 0);
	close(a);
	close(b);
}

/* Whether a client that has read nothing was sent its whole page. */
static bool is_served(struct fixture *f, int fd)
{
	return read_to_the_end(f, fd) > f->page_size;
}

/* Sends a request, and reads nothing. */
static int ask_and_wait(struct fixture *f, int renders)
{
	int fd = dial(f);
	time_t end = end_of_patience();

	say(fd, "GET /metrics HTTP/1.0\r\n\r\n");
	while (f->renders < renders) {
		assert_patience(end, "the page is not made");
		step(f);
	}
	pass_ms(1);
	step(f);
	return fd;
}

/*
 * However many clients are slow: the memory for their pages has a bound, and the latest ones get
 * theirs.
 */
static void closes_the_slowest_where_pages_take_too_much(void **state)
{
	struct fixture *f = *state;
	int fds[CONNECTIONS];

	f->page_size = 15 << 20;
	for (int i = 0; i < CONNECTIONS; i++)
		fds[i] = ask_and_wait(f, i + 1);
	for (int i = 0; i < CONNECTIONS; i++) {
		assert_int_equal(is_served(f, fds[i]), i >= CONNECTIONS - 2);
		close(fds[i]);
	}
	assert_int_equal(f->renders, CONNECTIONS);
}

/* An expensive page is shared by everybody for ten times as long as it took. */
static void shares_a_page_that_took_long(void **state)
{
	struct fixture *f = *state;
	int fds[CONNECTIONS];

	f->page_size = 15 << 20;
	f->render_cpu_ms = 200;
	for (int i = 0; i < CONNECTIONS; i++)
		fds[i] = ask_and_wait(f, 1);
	assert_int_equal(f->renders, 1);
	steps(f, 2000);
	close(ask_and_wait(f, 2));
	assert_int_equal(f->renders, 2);
	for (int i = 0; i < CONNECTIONS; i++)
		close(fds[i]);
}

static void makes_a_cheap_page_anew(void **state)
{
	struct fixture *f = *state;

	f->render_cpu_ms = 99;
	for (int i = 1; i <= 3; i++)
		close(ask_and_wait(f, i));
	assert_int_equal(f->renders, 3);
}

static void assert_reading(struct fixture *f, const char *accept, unsigned int reading)
{
	char request[128], text[64];
	struct answer a;

	snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n\r\n",
		 accept);
	close(ask(f, request, &a));
	snprintf(text, sizeof(text), "%s\nreading %u\n",
		 strstr(accept, "openmetrics") ? "openmetrics" : "prometheus", reading);
	assert_string_equal(body_of(&a), text);
}

/* No page is of an earlier reading than a previous page in another format. */
static void who_changes_forms_gets_nothing_older(void **state)
{
	static const char *const open = "application/openmetrics-text;version=1.0.0",
				 *const plain = "text/plain";
	struct fixture *f = *state;

	f->reports_reading = true;
	f->render_cpu_ms = 200;
	assert_reading(f, plain, 1);
	assert_reading(f, open, 1);
	assert_reading(f, plain, 1);
	assert_reading(f, open, 1);
	assert_int_equal(f->renders, 2);
	/* A report has made a reading; a third format uses it, and from then on the others do. */
	f->reading = 7;
	f->render_cpu_ms = 10;
	assert_reading(f, plain, 1);
	steps(f, 2000);
	assert_reading(f, open, 8);
	assert_reading(f, plain, 9);
	f->render_cpu_ms = 200;
	assert_reading(f, plain, 10);
	f->reading = 20;
	assert_reading(f, open, 20);
	assert_reading(f, plain, 20);
	assert_reading(f, open, 20);
	/* When the first of them is renewed, all are. */
	steps(f, 2000);
	assert_reading(f, open, 21);
	assert_reading(f, plain, 21);
}

/*
 * A connection that cannot be accepted stays readable: it is retried a second later, not
 * continuously.
 */
static void waits_where_no_descriptor_is_left(void **state)
{
	struct fixture *f = *state;
	int fd = knock(f), next = dup(fd);
	unsigned int before = accepts;
	time_t end = end_of_patience();
	struct rlimit limit, none;
	struct answer a;

	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	while (accepts == before) {
		assert_patience(end, "the connection is not tried");
		step(f);
	}
	steps(f, 990);
	assert_int_equal(accepts, before + 1);
	steps(f, 20);
	assert_int_equal(accepts, before + 2);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	steps(f, 1010);
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
		server_test(closes_the_slowest_where_pages_take_too_much),
		server_test(shares_a_page_that_took_long),
		server_test(makes_a_cheap_page_anew),
		server_test(who_changes_forms_gets_nothing_older),
		server_test(forgets_clients_that_left),
		server_test(survives_a_client_that_leaves_in_the_middle),
		server_test(ends_with_clients_connected),
		server_test(waits_where_no_descriptor_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
