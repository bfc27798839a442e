// SPDX-License-Identifier: BSD-2-Clause
// What counts as a hook: code that differs from the file's, except for a breakpoint.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/hooks.h"

static const unsigned char of_file[8] = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x56, 0x41, 0x55};

static void the_files_own_code(void **state)
{
	(void)state;
	assert_false(hooks__differ(of_file, of_file, sizeof(of_file)));
	assert_false(hooks__differ((const unsigned char[]){0x90}, of_file, 0));
}

static void a_breakpoint_at_the_first_byte(void **state)
{
	const unsigned char code[8] = {0xcc, 0x48, 0x89, 0xe5, 0x41, 0x56, 0x41, 0x55};

	(void)state;
	assert_false(hooks__differ(code, of_file, sizeof(code)));
}

/* The next function begins six bytes later. */
static void a_breakpoint_of_the_next_function(void **state)
{
	const unsigned char code[8] = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x56, 0xcc, 0x55};

	(void)state;
	assert_false(hooks__differ(code, of_file, sizeof(code)));
}

static void jumps(void **state)
{
	const unsigned char near[8] = {0xe9, 0x01, 0x02, 0x03, 0x04, 0x56, 0x41, 0x55};
	const unsigned char far[8] = {0x49, 0xbb, 0x89, 0xe5, 0x41, 0x56, 0x41, 0x55};
	/* A breakpoint on a hook: both are there. */
	const unsigned char both[8] = {0xcc, 0x01, 0x02, 0x03, 0x04, 0x56, 0x41, 0x55};

	(void)state;
	assert_true(hooks__differ(near, of_file, sizeof(near)));
	assert_true(hooks__differ(far, of_file, sizeof(far)));
	assert_true(hooks__differ(both, of_file, sizeof(both)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_files_own_code),
		cmocka_unit_test(a_breakpoint_at_the_first_byte),
		cmocka_unit_test(a_breakpoint_of_the_next_function),
		cmocka_unit_test(jumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
