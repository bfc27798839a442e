// SPDX-License-Identifier: BSD-2-Clause
// The page for a person and its data (serve/page.h): which clients get them, with which headers.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>

#include <cmocka.h>

#include "serve/address.h"
#include "serve/page.h"

#define POLICY "default-src 'none'"

static struct event_base *base;
static struct pages *pages;

static int web(void *arg, const char *path, struct http_kind *kind, FILE *out)
{
	(void)arg;
	if (strcmp(path, "/") != 0 && strcmp(path, "/api/v1/x") != 0)
		return -ENOENT;
	*kind = (struct http_kind){"text/web", POLICY};
	fprintf(out, "web %s", path);
	return 0;
}

static int landing(void *arg, FILE *out)
{
	(void)arg;
	fputs("plain", out);
	return 0;
}

static int start(void **state)
{
	(void)state;
	base = event_base_new();
	pages = pages__new(base);
	return pages ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	pages__free(pages);
	event_base_free(base);
	return 0;
}

/* The caller clears the response. */
static void ask(enum http_audience audience, bool local, const char *line, struct response *r)
{
	const struct http_options options = {
		.version = "9", .web = web, .landing = landing, .audience = audience};
	struct request *request = calloc(1, sizeof(*request));
	char head[256];
	size_t used;

	assert_non_null(request);
	snprintf(head, sizeof(head), "%s HTTP/1.1\r\nHost: x\r\n\r\n", line);
	assert_int_equal(request__parse(head, strlen(head), request, &used), REQUEST_COMPLETE);
	assert_int_equal(page__respond(&options, pages, request, local, r), 0);
	free(request);
}

static void expect(enum http_audience audience, bool local, const char *line, int status,
		   const char *text)
{
	struct response r;

	ask(audience, local, line, &r);
	assert_int_equal(r.status, status);
	if (text)
		assert_memory_equal(r.body->text, text, strlen(text));
	assert_true(!r.policy == (strncmp(r.body->text, "web", 3) != 0));
	response__clear(&r);
}

static void local_clients_by_default(void **state)
{
	(void)state;
	expect(HTTP_LOCAL, true, "GET /", 200, "web /");
	expect(HTTP_LOCAL, true, "GET /api/v1/x", 200, "web /api/v1/x");
	expect(HTTP_LOCAL, true, "GET /api/v1/y", 404, NULL);
	expect(HTTP_LOCAL, false, "GET /", 200, "plain");
	expect(HTTP_LOCAL, false, "GET /api/v1/x", 403, "403 Forbidden: only for clients on this");
	expect(HTTP_LOCAL, false, "GET /web/page.js", 403, NULL);
	expect(HTTP_LOCAL, false, "GET /healthz", 200, "ok");
}

static void all_or_nobody(void **state)
{
	(void)state;
	expect(HTTP_ALL, false, "GET /", 200, "web /");
	expect(HTTP_ALL, false, "GET /api/v1/x", 200, "web /api/v1/x");
	expect(HTTP_NOBODY, true, "GET /", 200, "plain");
	expect(HTTP_NOBODY, true, "GET /api/v1/x", 404, NULL);
}

static void changes_nothing(void **state)
{
	(void)state;
	expect(HTTP_ALL, true, "POST /api/v1/x", 405, NULL);
	expect(HTTP_ALL, true, "DELETE /", 405, NULL);
	expect(HTTP_ALL, true, "PUT /web/page.js", 405, NULL);
	expect(HTTP_ALL, true, "HEAD /api/v1/x", 200, "web");
}

static void has_the_policy(void **state)
{
	struct response r;
	size_t length;
	char *head;

	(void)state;
	ask(HTTP_LOCAL, true, "GET /", &r);
	assert_int_equal(response__build_head(&r, "9", &head, &length), 0);
	assert_non_null(strstr(head, "\r\nContent-Security-Policy: " POLICY "\r\n"));
	assert_non_null(strstr(head, "\r\nX-Content-Type-Options: nosniff\r\n"));
	assert_non_null(strstr(head, "\r\nContent-Type: text/web\r\n"));
	free(head);
	response__clear(&r);
}

static bool is_loopback(int family, const char *text)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	struct sockaddr_in four = {.sin_family = AF_INET};

	assert_int_equal(
		inet_pton(family, text,
			  family == AF_INET ? (void *)&four.sin_addr : (void *)&six.sin6_addr),
		1);
	return address__is_loopback(family == AF_INET ? (struct sockaddr *)&four :
							(struct sockaddr *)&six);
}

static void knows_loopback_addresses(void **state)
{
	struct sockaddr other = {.sa_family = AF_UNIX};

	(void)state;
	assert_true(is_loopback(AF_INET, "127.0.0.1"));
	assert_true(is_loopback(AF_INET, "127.9.8.7"));
	assert_true(is_loopback(AF_INET6, "::1"));
	assert_true(is_loopback(AF_INET6, "::ffff:127.0.0.1"));
	assert_false(is_loopback(AF_INET, "128.0.0.1"));
	assert_false(is_loopback(AF_INET, "10.0.0.127"));
	assert_false(is_loopback(AF_INET6, "::2"));
	assert_false(is_loopback(AF_INET6, "::ffff:10.0.0.1"));
	assert_false(is_loopback(AF_INET6, "fe80::1"));
	assert_false(address__is_loopback(&other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(local_clients_by_default, start, end),
		cmocka_unit_test_setup_teardown(all_or_nobody, start, end),
		cmocka_unit_test_setup_teardown(changes_nothing, start, end),
		cmocka_unit_test_setup_teardown(has_the_policy, start, end),
		cmocka_unit_test(knows_loopback_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
