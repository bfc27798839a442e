// SPDX-License-Identifier: BSD-2-Clause
// Requests that the HTTP server refuses, and those that it just accepts.
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
		("GET /metrics HTTP/1.1\r\nHost: x\r\n"
		 "Content-Length: 0\r\nContent-Length: 0\r\n\r\n"),
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
	expect(f,
	       "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
	       413, false);
	expect(f, "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 413,
	       false);
	expect(f, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405, false);
}

/* A request of `length` bytes, made long by a header or by its path. */
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
	/* Most of the request is not read before the response. */
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

#define PROMETHEUS \
	"User-Agent: Prometheus/2.42.0\r\nAccept: " \
	"application/openmetrics-text\r\nAccept-Encoding: gzip\r\n" \
	"X-Prometheus-Scrape-Timeout-Seconds: 10\r\n"
#define BROWSER \
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 " \
	"Firefox/128.0\r\nAccept: */*\r\n" \
	"Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate\r\n"
#define FETCH(site, mode, dest) \
	"Sec-Fetch-Site: " site "\r\nSec-Fetch-Mode: " mode "\r\nSec-Fetch-Dest: " dest "\r\n"

/* In place of libc's. */
int gethostname(char *name, size_t size)
{
	snprintf(name, size, "gpu7.example.org");
	return 0;
}

static void expect_asked(struct fixture *f, const char *host, const char *headers, int status)
{
	char request[1024];

	snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: %s\r\n%s\r\n", host,
		 headers);
	expect(f, request, status, true);
}

/*
 * If an attacker's host name resolves to this address, the browser considers page and request to be
 * of the same origin: only the name differs.
 */
static void refuses_browsers_by_others_names(void **state)
{
	static const char *const others[] = {
		"evil.example:9000", "EVIL.example",
		"evil.example.",     "127.0.0.1.evil.example:9000",
		"1.2.3.4.5",	     "localhost.evil.example",
		"local.example",     "[::1].evil.example",
		"[evil.example",     "a.notlocalhost",
	};
	static const char *const marks[] = {
		BROWSER,
		BROWSER "Referer: http://evil.example:9000/\r\n",
		"Accept-Language:\r\n", /* a page cannot omit the header, but it can empty it */
		"User-Agent: mozilla/5.0\r\n",
		"SEC-GPC: 1\r\n",
		"Upgrade-Insecure-Requests: 1\r\n",
		"Origin: http://evil.example:9000\r\n",
	};
	struct fixture *f = *state;
	struct answer a;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		expect_asked(f, others[i], BROWSER, 403);
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		expect_asked(f, "evil.example:9000", marks[i], 403);
	f->renders = 0;
	close(ask(f, "GET / HTTP/1.1\r\nHost: evil.example\r\n" BROWSER "\r\n", &a));
	assert_int_equal(status_of(&a), 403);
	assert_non_null(
		strstr(a.data, "\r\n\r\n403 Forbidden: the host name may come from another site"));
	assert_int_equal(f->renders, 0);
}

static void serves_browsers_by_names_of_this_machine(void **state)
{
	static const char *const names[] = {
		"127.0.0.1:9000",
		"10.1.2.3",
		"[::1]:9000",
		"[fe80::1]",
		"localhost:9000",
		"LOCALHOST",
		"localhost.",
		"gpu7:9000",
		"GPU7.example.org:9000",
		"a.localhost:9000",
		"gpu7.local",
		"gpuprobe.monitoring.svc.cluster.local:9000",
		"gpu7.c.project.internal",
		"",
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		expect_asked(f, names[i], BROWSER, 200);
	/* HTTP/1.0 may omit it. */
	expect(f, "GET /metrics HTTP/1.0\r\n" BROWSER "\r\n", 200, false);
}

/* By whatever name, also behind a proxy that removes the browser's headers. */
static void serves_what_is_no_browser(void **state)
{
	static const char *const names[] = {"gpu7.example.com:9000", "gpuprobe.monitoring.svc:9000",
					    "evil.example", "10.0.0.1"};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		expect_asked(f, names[i], PROMETHEUS, 200);
		expect_asked(f, names[i], "User-Agent: curl/7.88.1\r\nAccept: */*\r\n", 200);
		expect_asked(f, names[i], "", 200);
	}
}

/* The browser says that the request comes from another site's page. */
static void refuses_pages_of_other_sites(void **state)
{
	static const struct {
		const char *headers;
		int status;
	} cases[] = {
		{BROWSER FETCH("cross-site", "no-cors", "script"), 403},
		{BROWSER FETCH("cross-site", "no-cors", "image"), 403},
		{BROWSER FETCH("cross-site", "navigate", "iframe"), 403},
		{BROWSER FETCH("same-site", "cors", "empty"), 403},
		{BROWSER FETCH("anything else", "cors", "empty"), 403},
		{BROWSER "Origin: https://evil.example\r\n", 403},
		{BROWSER "Origin: null\r\n", 403},
		{BROWSER "Origin: http://localhost:9001\r\n", 403},
		{"Origin: http://localhost:9000.evil.example\r\n", 403},
		{BROWSER FETCH("same-origin", "cors", "empty"), 200},
		{BROWSER "Origin: http://LOCALHOST:9000\r\n", 200},
		{BROWSER FETCH("none", "navigate", "document"), 200},
		/* The user followed a link. */
		{BROWSER FETCH("cross-site", "navigate", "document"), 200},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_asked(f, "localhost:9000", cases[i].headers, cases[i].status);
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
		server_test(refuses_browsers_by_others_names),
		server_test(serves_browsers_by_names_of_this_machine),
		server_test(serves_what_is_no_browser),
		server_test(refuses_pages_of_other_sites),
		cmocka_unit_test(reads_no_further_than_a_head_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
