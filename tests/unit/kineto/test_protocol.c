// SPDX-License-Identifier: BSD-2-Clause
// Kineto's questions are understood, damaged ones get no answer, and a configuration names exactly
// the file that was meant.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kineto/protocol.h"

struct datagram {
	char bytes[KINETO_DATAGRAM_MAX];
	size_t size;
};

static struct datagram made(const char *type, uint64_t told, const void *content, size_t size)
{
	struct datagram datagram = {.size = 40 + size};

	memcpy(datagram.bytes, &told, sizeof(told));
	memcpy(datagram.bytes + 8, type, strlen(type));
	memcpy(datagram.bytes + 40, content, size);
	return datagram;
}

static enum kineto_question read_it(const struct datagram *datagram, bool *idle)
{
	return kineto_protocol__read(datagram->bytes, datagram->size, idle);
}

static void test_questions(void **state)
{
	/* type 2, two pids, a job, the pids */
	const int32_t request[] = {2, 2, 7, 0, 4711, 1}, busy[] = {1, 0, 0, 0};
	struct datagram datagram = made("req", sizeof(request), request, sizeof(request));
	bool idle;

	(void)state;
	assert_int_equal(read_it(&datagram, &idle), KINETO_REQUEST);
	assert_true(idle);
	datagram = made("req", sizeof(busy), busy, sizeof(busy));
	assert_int_equal(read_it(&datagram, &idle), KINETO_REQUEST);
	assert_false(idle);
	datagram = made("ctxt", sizeof(request), request, sizeof(request));
	assert_int_equal(read_it(&datagram, &idle), KINETO_CONTEXT);
}

static void test_damaged(void **state)
{
	const int32_t request[] = {2, 0, 0, 0};
	const char endless[32] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
	struct datagram datagram = made("req", sizeof(request), request, sizeof(request));
	bool idle;

	(void)state;
	for (datagram.size = 0; datagram.size < 40 + sizeof(request); datagram.size++)
		assert_int_equal(read_it(&datagram, &idle), KINETO_NO_QUESTION);
	/* It claims another size. */
	datagram = made("req", sizeof(request) + 1, request, sizeof(request));
	assert_int_equal(read_it(&datagram, &idle), KINETO_NO_QUESTION);
	datagram = made("req", 8, request, 8);
	assert_int_equal(read_it(&datagram, &idle), KINETO_NO_QUESTION);
	datagram = made("other", sizeof(request), request, sizeof(request));
	assert_int_equal(read_it(&datagram, &idle), KINETO_NO_QUESTION);
	memcpy(datagram.bytes + 8, endless, sizeof(endless));
	assert_int_equal(read_it(&datagram, &idle), KINETO_NO_QUESTION);
}

static void test_answers(void **state)
{
	char datagram[KINETO_DATAGRAM_MAX];
	uint64_t told;

	(void)state;
	assert_int_equal(kineto_protocol__answer(KINETO_REQUEST, "A=1\n", datagram), 44);
	memcpy(&told, datagram, sizeof(told));
	assert_int_equal(told, 4);
	assert_string_equal(datagram + 8, "req");
	assert_memory_equal(datagram + 40, "A=1\n", 4);
	assert_int_equal(kineto_protocol__answer(KINETO_REQUEST, "", datagram), 40);
	assert_int_equal(kineto_protocol__answer(KINETO_CONTEXT, "A=1", datagram), 44);
	assert_string_equal(datagram + 8, "ctxt");
}

static void test_configuration(void **state)
{
	char text[256];

	(void)state;
	assert_int_equal(kineto_protocol__configure("/tmp/x", 2000, text, sizeof(text)), 0);
	assert_string_equal(text, "ACTIVITIES_LOG_FILE=/tmp/x\n"
				  "ACTIVITIES_DURATION_MSECS=2000\n"
				  "ACTIVITIES_WARMUP_PERIOD_SECS=1\n"
				  "ACTIVITY_TYPES=kernel,gpu_memcpy,gpu_memset,overhead\n");
	assert_int_equal(kineto_protocol__configure("/tmp/x", 2000, text, 100), -ENAMETOOLONG);
}

static void test_paths(void **state)
{
	static const char *const refused[] = {"",	"tmp",	   "/a b",    "/a#b",
					      "/a=b",	"/a\nB=1", "/a/../b", "/a.json",
					      "/a://b", "/a\\b",   "/a\"b"};

	(void)state;
	assert_true(kineto_protocol__takes_path("/tmp"));
	assert_true(kineto_protocol__takes_path("/var/tmp/job-1.2_\xc3\xa9"));
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_false(kineto_protocol__takes_path(refused[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_answers),	  cmocka_unit_test(test_configuration),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
