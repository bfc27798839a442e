// SPDX-License-Identifier: BSD-2-Clause
// Live objects by call site: added up by stack and kind, with the calls that made them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "model/object_sites.h"

static const struct stack stacks[] = {{.serial = 1}, {.serial = 2}};

/* Ids 1 and 3 have the first stack, 2 the second; others were dropped. */
static const struct stack *find(void *arg, uint64_t id)
{
	(void)arg;
	return id == 1 || id == 3 ? &stacks[0] : id == 2 ? &stacks[1] : NULL;
}

static uint16_t row_of(const char *symbol)
{
	for (uint16_t row = 0; row < api_function_count; row++)
		if (!strcmp(api_functions[row].symbol, symbol))
			return row;
	fail();
	return 0;
}

static struct process *set_up(void)
{
	struct process *process = calloc(1, sizeof(*process));

	assert_non_null(process);
	process->object_table = object_table__new();
	assert_non_null(process->object_table);
	return process;
}

static void add(struct process *process, uint8_t kind, uint64_t stack, uint64_t start_ns)
{
	assert_int_equal(object_table__add(process->object_table, kind, stack, start_ns), 0);
}

static void equal_stacks_are_one_site(void **state)
{
	struct process *process = set_up();
	const struct object_site *site;

	(void)state;
	add(process, OBJECT_EVENT, 1, 30);
	add(process, OBJECT_EVENT, 3, 10);
	add(process, OBJECT_EVENT, 3, 20);
	add(process, OBJECT_STREAM, 1, 5);
	add(process, OBJECT_EVENT, 2, 6);
	process->sites = calloc(2, sizeof(*process->sites));
	assert_non_null(process->sites);
	process->sites[0] = (struct call_site){.kind = SITE_ALLOCATION};
	process->sites[1] = (struct call_site){.stack = &stacks[0],
					       .kind = SITE_OBJECT,
					       .row = row_of("cuEventCreate"),
					       .calls = 7};
	process->site_count = 1;
	process->object_call_count = 1;
	assert_int_equal(object_table__list(process->object_table, process, find, NULL), 0);
	assert_int_equal(process->object_site_count, 3);
	site = &process->object_sites[0];
	assert_ptr_equal(site->stack, &stacks[0]);
	assert_int_equal(site->kind, OBJECT_EVENT);
	assert_int_equal(site->live, 3);
	assert_int_equal(site->made, 7);
	assert_int_equal(site->oldest_ns, 10);
	assert_int_equal(site->newest_ns, 30);
	assert_int_equal(process->object_sites[1].made, 0);
	process__clear(process);
	free(process);
}

static void without_stacks_a_kind_is_a_site(void **state)
{
	struct process *process = set_up();

	(void)state;
	process->objects[OBJECT_MODULE].created = 5;
	add(process, OBJECT_MODULE, 0, 1);
	add(process, OBJECT_MODULE, 0, 2);
	assert_int_equal(object_table__list(process->object_table, process, NULL, NULL), 0);
	assert_int_equal(process->object_site_count, 1);
	assert_null(process->object_sites[0].stack);
	assert_int_equal(process->object_sites[0].live, 2);
	assert_int_equal(process->object_sites[0].made, 5);
	object_table__begin(process->object_table);
	assert_int_equal(object_table__list(process->object_table, process, NULL, NULL), 0);
	assert_int_equal(process->object_site_count, 0);
	process__clear(process);
	free(process);
}

static void functions_make_kinds(void **state)
{
	(void)state;
	assert_int_equal(object_kind__made_by(row_of("cudaGraphCreate")), OBJECT_GRAPH);
	assert_int_equal(object_kind__made_by(row_of("cudaGraphInstantiate")), OBJECT_GRAPH_EXEC);
	assert_int_equal(object_kind__made_by(row_of("cuStreamEndCapture")), OBJECT_GRAPH);
	assert_int_equal(object_kind__made_by(row_of("cuDevicePrimaryCtxRetain")), OBJECT_CONTEXT);
	assert_int_equal(object_kind__made_by(row_of("cuModuleLoadData")), OBJECT_MODULE);
	assert_int_equal(object_kind__made_by(row_of("ncclCommSplit")), OBJECT_NCCL);
	assert_int_equal(object_kind__made_by(row_of("cudaMalloc")), OBJECT_KINDS);
	assert_int_equal(object_kind__made_by(UINT16_MAX), OBJECT_KINDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_one_site),
		cmocka_unit_test(without_stacks_a_kind_is_a_site),
		cmocka_unit_test(functions_make_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
