// SPDX-License-Identifier: BSD-2-Clause
// Processes that have not ended, by the memory that they hold, then by pid.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <stdlib.h>

#include "model/living.h"

static void test_order(void **state)
{
	struct process_gpu used = {.used_bytes = 20};
	struct process processes[] = {
		{.pid = 4, .memory[MEMORY_DEVICE].live_bytes = 10},
		{.pid = 3, .ended = true, .memory[MEMORY_DEVICE].live_bytes = 90},
		{.pid = 2, .memory[MEMORY_DEVICE].live_bytes = 10},
		{.pid = 9, .memory[MEMORY_DEVICE].live_bytes = 5},
	};
	struct model model = {.processes = processes, .process_count = 4};
	const struct process **list;
	size_t count;

	(void)state;
	processes[3].gpus = &used; /* NVML reports more than it has allocated */
	processes[3].gpu_count = 1;
	assert_int_equal(model__living(&model, &list, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(list[0]->pid, 9);
	assert_int_equal(list[1]->pid, 2);
	assert_int_equal(list[2]->pid, 4);
	free(list);
}

static void test_nobody(void **state)
{
	const struct model model = {0};
	const struct process **list;
	size_t count;

	(void)state;
	assert_int_equal(model__living(&model, &list, &count), 0);
	assert_int_equal(count, 0);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
