// SPDX-License-Identifier: BSD-2-Clause
// Functions in which threads begin, by name and by code.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "stack/thread_entry.h"

static bool is_by_name(const char *function)
{
	return thread_entry__is(
		NULL, &(struct native_frame){.function = function, .object = "a.out"}, 0, getpid());
}

static void by_name(void **state)
{
	static const char *const beginnings[] = {"_start",
						 "__libc_start_main",
						 "__libc_start_main@@GLIBC_2.34",
						 "__libc_start_main_impl",
						 "__libc_start_call_main",
						 "start_thread",
						 "clone",
						 "clone3",
						 "__clone",
						 "__clone3",
						 "__GI___clone3",
						 "__GI___clone",
						 "runtime.goexit",
						 "runtime.goexit.abi0",
						 "_dl_start_user"};
	static const char *const others[] = {"main",	       "",
					     "start",	       "_start_worker",
					     "clone_cache",    "__clone_tree",
					     "restart_thread", "__GI_",
					     "runtime.main",   "__GI_qsort_r"};

	(void)state;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		assert_true(is_by_name(beginnings[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(is_by_name(others[i]));
}

static bool is_by_code(const void *code, const char *object)
{
	return thread_entry__is(NULL, &(struct native_frame){.object = object}, (uintptr_t)code,
				getpid());
}

static void by_code_where_there_is_no_name(void **state)
{
	static const uint8_t start[16] = {0xf4},
			     clone[16] = {0x48, 0x89, 0xc7, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05},
			     call_main[16] = {0x89, 0xc7, 0xe8, 1, 2, 3, 4},
			     other[16] = {0x48, 0x89, 0xc7, 0xe8},
			     thread[16] = {0x64, 0x48, 0x89, 0x04, 0x25, 0x30, 0x06};

	(void)state;
	assert_true(is_by_code(start, "a.out"));
	assert_true(is_by_code(clone, "libc.so.6"));
	assert_true(is_by_code(call_main, "libc.so.6"));
	assert_true(is_by_code(call_main, "libc-2.31.so"));
	assert_true(is_by_code(thread, "libpthread-2.31.so"));
	/* exit(f()) in another function is not a thread's entry. */
	assert_false(is_by_code(call_main, "a.out"));
	assert_false(is_by_code(thread, "a.out"));
	assert_false(is_by_code(other, "libc.so.6"));
	assert_false(is_by_code(start, NULL));
	assert_false(is_by_code((void *)16, "libc.so.6"));
	assert_false(thread_entry__is(NULL, &(struct native_frame){.object = "a.out"},
				      (uintptr_t)start, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_name),
		cmocka_unit_test(by_code_where_there_is_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
