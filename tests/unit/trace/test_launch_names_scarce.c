// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of launched kernels without enough memory: the tables' own allocations are made to fail,
 * one after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static int left = -1; /* allocations that succeed; -1: all */

static void *scarce(size_t size)
{
	if (!left)
		return NULL;
	left -= left > 0;
	return malloc(size);
}

#define uthash_malloc(size) scarce(size)
#include "trace/launch_names.c"

static void take(struct launch_names *names, uint32_t process, uint64_t handle)
{
	const struct trace_process shown = {.number = process};
	const struct launched_kernel kernel = {.process = &shown, .handle = handle};

	launch_names__put(names, launch_names__take(names, &kernel, 0));
	launch_names__look_up(names, 0);
}

/* A process whose first name did not fit is absent when the oldest names are dropped. */
static void what_found_no_room_leaves_nothing(void **state)
{
	(void)state;
	for (int good = 0; good < 8; good++) {
		struct launch_names *names = launch_names__new(false, NULL);

		assert_non_null(names);
		left = good;
		take(names, 1, 1);
		left = -1;
		for (uint64_t handle = 0; handle < LAUNCH_NAMES_MAX + 10; handle++)
			take(names, 2, handle);
		assert_true(HASH_COUNT(names->all) <= LAUNCH_NAMES_MAX);
		launch_names__free(names);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_found_no_room_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
