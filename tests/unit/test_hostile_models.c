// SPDX-License-Identifier: BSD-2-Clause
// Lists of a process, and processes, as many as there may be: time is to grow with their number, not with its square.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "model/model.h"
#include "output/metrics/metrics.h"

static void *allocate(size_t count, size_t size)
{
	void *list = calloc(count, size);

	assert_non_null(list);
	return list;
}

/* --- failures --- */

/* Of codes that have no name: a library may return any. */
static void write_failures(size_t size)
{
	const struct metrics_options options = {.version = "1"};
	struct metrics *metrics = metrics__new(&options);
	struct process process = {.pid = 12, .failures = allocate(size, sizeof(struct failure)), .failure_count = size};
	struct model model = {.processes = &process, .process_count = 1};
	FILE *out = fopen("/dev/null", "we");

	assert_true(metrics && out);
	for (size_t i = 0; i < size; i++)
		process.failures[i] = (struct failure){.function = "cudaMalloc", .code = (int)(100000 + i), .count = 1};
	assert_int_equal(metrics__render(metrics, out, &model, NULL, EXPOSITION_PROMETHEUS), 0);
	fclose(out);
	metrics__free(metrics);
	free(process.failures);
}

static void thousands_of_failures(void **state)
{
	(void)state;
	assert_linear("failures on the metrics page", write_failures, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_of_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
