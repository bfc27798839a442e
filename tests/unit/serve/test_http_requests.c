// SPDX-License-Identifier: BSD-2-Clause
// Requests that the HTTP server refuses, and those that it just takes.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "http_client.h"
#include "serve/request.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(refuses_other_paths_and_methods),
		server_test(reads_targets),
		server_test(refuses_malformed_requests),
		server_test(refuses_a_nul_byte),
		server_test(refuses_bodies),
		server_test(refuses_long_heads),
		cmocka_unit_test(reads_no_further_than_a_head_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
