// SPDX-License-Identifier: BSD-2-Clause
// Kineto's variables are found in an environment block, however it is cut into pieces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kineto/environment.h"

static struct kineto_environment read_in(const char *block, size_t size, size_t piece)
{
	struct kineto_variables variables = {0};

	for (size_t at = 0; at < size; at += piece)
		kineto_variables__push(&variables, block + at,
				       size - at < piece ? size - at : piece);
	return kineto_variables__end(&variables);
}

#define READ(block, piece) read_in(block, sizeof(block), piece)

static void test_variables(void **state)
{
	static const char block[] = "A=1\0KINETO_USE_DAEMON=1\0KINETO_ONDEMAND_TRACE_DIR=/traces\0"
				    "TMPDIR=/x\0TMPDIR=/y";

	(void)state;
	for (size_t piece = 1; piece <= sizeof(block); piece++) {
		struct kineto_environment found = READ(block, piece);

		assert_true(found.known && found.uses_daemon);
		assert_false(found.other_socket || found.folder_cut);
		assert_string_equal(found.folder, "/traces");
		assert_string_equal(found.temporary, "/x");
	}
}

static void test_others(void **state)
{
	struct kineto_environment found =
		READ("KINETO_USE_DAEMON=\0XKINETO_USE_DAEMON=1\0KINETO_USE_DAEMONS=1\0A=", 5);

	(void)state;
	assert_true(found.known);
	assert_false(found.uses_daemon);
	found = READ("KINETO_IPC_SOCKET_DIR=/run/kineto", 5);
	assert_true(found.other_socket);
}

/* A program has written its title over the variables. */
static void test_overwritten(void **state)
{
	(void)state;
	assert_false(READ("worker 5\0A=1", 4).known);
	assert_false(read_in("A=1", 3, 3).known);
	assert_true(read_in("", 0, 1).known);
}

static void test_long(void **state)
{
	char block[2 * KINETO_FOLDER_SIZE] = "KINETO_ONDEMAND_TRACE_DIR=/";
	size_t begin = strlen(block);
	struct kineto_environment found;

	(void)state;
	memset(block + begin, 'x', KINETO_FOLDER_SIZE - 2);
	found = read_in(block, begin + KINETO_FOLDER_SIZE - 1, 7);
	assert_int_equal(strlen(found.folder), KINETO_FOLDER_SIZE - 1);
	assert_false(found.folder_cut);
	memset(block + begin, 'x', sizeof(block) - begin - 1);
	found = read_in(block, sizeof(block), 7);
	assert_true(found.folder_cut);
	assert_string_equal(found.folder, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_overwritten),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
