// SPDX-License-Identifier: BSD-2-Clause
// What a receiver's answer means: by status, Retry-After and body, which may be anything.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/reply.h"

#define NOW 1795000000 /* 2026-11-18 11:06:40 UTC */

static struct export_verdict judge(int status, const char *retry_after, const void *body,
				   size_t length, bool is_text)
{
	struct export_reply reply = {.status = status, .length = length, .is_text = is_text};
	struct export_verdict verdict;

	strncpy(reply.retry_after, retry_after, sizeof(reply.retry_after) - 1);
	if (length) {
		/* Its own memory, so that a sanitizer sees a byte too many. */
		reply.body = malloc(length);
		assert_non_null(reply.body);
		memcpy(reply.body, body, length);
	}
	export_reply__judge(&reply, NOW, &verdict);
	export_reply__clear(&reply);
	assert_null(reply.body);
	return verdict;
}

static void judges_by_status(void **state)
{
	static const struct {
		int status;
		enum export_outcome outcome;
	} cases[] = {
		{200, EXPORT_ACCEPTED}, {202, EXPORT_ACCEPTED}, {301, EXPORT_REFUSED},
		{400, EXPORT_REFUSED},	{404, EXPORT_REFUSED},	{413, EXPORT_REFUSED},
		{429, EXPORT_FAILED},	{500, EXPORT_REFUSED},	{501, EXPORT_REFUSED},
		{502, EXPORT_FAILED},	{503, EXPORT_FAILED},	{504, EXPORT_FAILED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(judge(cases[i].status, "", NULL, 0, false).outcome,
				 cases[i].outcome);
}

static void reads_retry_after(void **state)
{
	static const struct {
		const char *text;
		uint64_t pause_ms;
	} cases[] = {
		{"", 0},   {"3", 3000},	     {"0", 0},
		{"-3", 0}, {"3 seconds", 0}, {"99999999999999999999999", EXPORT_RETRY_MAX_MS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(judge(429, cases[i].text, NULL, 0, false).pause_ms,
				 cases[i].pause_ms);
	/* Nothing but 429 and the like has a pause. */
	assert_int_equal(judge(400, "3", NULL, 0, false).pause_ms, 0);
	assert_int_equal(judge(503, "3", NULL, 0, false).pause_ms, 3000);
}

static void reads_a_date(void **state)
{
	(void)state;
	assert_int_equal(judge(503, "Wed, 18 Nov 2026 11:06:50 GMT", NULL, 0, false).pause_ms,
			 10000);
	assert_int_equal(judge(503, "Sun, 06 Nov 1994 08:49:37 GMT", NULL, 0, false).pause_ms, 0);
	assert_int_equal(judge(503, "Fri, 01 Jan 2100 00:00:00 GMT", NULL, 0, false).pause_ms,
			 EXPORT_RETRY_MAX_MS);
}

static void reads_partial_success(void **state)
{
	/* {1: {1: 300, 2: "why\nnot"}} */
	static const char body[] = "\x0a\x0c\x08\xac\x02\x12\x07why\nnot";
	/* A negative number, and a length beyond the end. */
	static const char negative[] = "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	static const char cut[] = "\x0a\x7f\x08\x03";
	struct export_verdict verdict = judge(200, "", body, sizeof(body) - 1, false);

	(void)state;
	assert_int_equal(verdict.outcome, EXPORT_ACCEPTED);
	assert_int_equal(verdict.rejected, 300);
	assert_string_equal(verdict.reason, "why");
	assert_int_equal(judge(200, "", negative, sizeof(negative) - 1, false).rejected, 0);
	assert_int_equal(judge(200, "", cut, sizeof(cut) - 1, false).rejected, 0);
	/* Another server's page is no message of protobuf. */
	assert_int_equal(judge(200, "", body, sizeof(body) - 1, true).rejected, 0);
}

static void describes_errors(void **state)
{
	static const char status[] = "\x08\x03\x12\x05wr\x1bng";

	(void)state;
	assert_string_equal(judge(400, "", status, sizeof(status) - 1, false).reason,
			    "status 400 Bad Request: wr?ng");
	assert_string_equal(judge(401, "", "go\naway", 7, true).reason,
			    "status 401 Unauthorized: go");
	assert_string_equal(judge(418, "", "\xff\xff", 2, false).reason, "status 418");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_by_status), cmocka_unit_test(reads_retry_after),
		cmocka_unit_test(reads_a_date),	    cmocka_unit_test(reads_partial_success),
		cmocka_unit_test(describes_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
