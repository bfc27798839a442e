// SPDX-License-Identifier: BSD-2-Clause
// The HTTP server over loopback: its pages, how it sends responses, and its listening addresses.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "http_client.h"
#include "serve/address.h"
#include "serve/http.h"

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

	close(ask(f,
		  "GET /metrics HTTP/1.1\r\nHost: x\r\n"
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
	/* The next response follows immediately: no body was sent. */
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

static void reports_a_page_that_failed(void **state)
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

static void reports_its_address(void **state)
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
	static const char *const bad[] = {"",
					  "9000",
					  ":",
					  "localhost",
					  "localhost:",
					  "1.2.3.4:65536",
					  "1.2.3.4:100000",
					  "1.2.3.4:-1",
					  "1.2.3.4:+1",
					  "1.2.3.4: 1",
					  "1.2.3.4:http",
					  "::1:9000",
					  "::1",
					  "[::1]",
					  "[::1:9000",
					  "[]:9000",
					  "[::1]9000",
					  "[::1]:9000x",
					  "[::1]x:9000"};
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
		/* A machine may have no IPv6. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(serves_its_pages),
		server_test(negotiates),
		server_test(compresses),
		server_test(answers_head_without_a_body),
		server_test(keeps_connections_by_version),
		server_test(reports_a_page_that_failed),
		server_test(answers_requests_in_a_row),
		server_test(takes_a_request_byte_by_byte),
		server_test(answers_a_client_that_closed_its_side),
		server_test(reports_its_address),
		server_test(explains_a_port_in_use),
		cmocka_unit_test(splits_addresses),
		cmocka_unit_test(listens_on_every_kind_of_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
