// SPDX-License-Identifier: BSD-2-Clause
// Which processes `gpuprobe top` lists, and in which order (output/top/list.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "output/top/list.h"
#include "top_scene.h"

static struct top_machine machine;

static int begin(void **state)
{
	(void)state;
	top_machine__begin(&machine);
	return 0;
}

static int end(void **state)
{
	(void)state;
	top_machine__end(&machine);
	return 0;
}

/* `pids`: "102 101"; each blank before a pid is a level of the tree: "100  101". */
static void assert_list(const struct top_order *order, const char *pids, size_t hidden)
{
	char got[256] = "";
	struct top_list list;

	assert_int_equal(top_list__make(&list, &machine.model, NULL, machine.rates, order), 0);
	for (size_t i = 0; i < list.count; i++) {
		size_t length = strlen(got);

		snprintf(got + length, sizeof(got) - length, "%s%*s%d", i ? " " : "",
			 (int)list.rows[i].depth, "", list.rows[i].process->pid);
	}
	assert_string_equal(got, pids);
	assert_int_equal(list.hidden, hidden);
	top_list__clear(&list);
}

static void assert_sorted(enum top_sort sort, const char *pids)
{
	assert_list(&(struct top_order){.sort = sort}, pids, 0);
}

static void sorts(void **state)
{
	(void)state;
	assert_sorted(TOP_BY_MEMORY, "102 101 200 100 90");
	assert_sorted(TOP_BY_LAUNCHES, "101 102 100 200 90");
	assert_sorted(TOP_BY_WAIT, "102 100 101 200 90");
	assert_sorted(TOP_BY_PID, "100 101 102 200 90");
	assert_sorted(TOP_BY_GROWTH, "102 101 200 100 90");
}

static void sorts_by_copies_in_both_directions(void **state)
{
	(void)state;
	machine.processes[3].copies[COPY_H2D][1].bytes = 200;
	machine.processes[0].copies[COPY_D2H][0].bytes = 300;
	machine.model.now_ns += NS_PER_S;
	process_rates__sample(machine.rates, &machine.model);
	assert_sorted(TOP_BY_COPIES, "100 200 101 102 90");
}

static void reverses_but_for_the_ended(void **state)
{
	(void)state;
	assert_list(&(struct top_order){.reverse = true}, "100 200 101 102 90", 0);
}

static void sorts_by_what_nvml_reports_of_earlier_memory(void **state)
{
	bool at_least;

	(void)state;
	machine.processes[3].since_attach = true;
	assert_int_equal(process__held_bytes(&machine.processes[3], &at_least), 3 << 20);
	assert_true(at_least);
	machine.used[3].used_bytes = 70ull << 30;
	assert_int_equal(process__held_bytes(&machine.processes[3], &at_least), 70ull << 30);
	assert_false(at_least);
	assert_sorted(TOP_BY_MEMORY, "200 102 101 100 90");
}

static void filters(void **state)
{
	(void)state;
	assert_list(&(struct top_order){.filter = "TRAIN"}, "102 101 100", 2);
	assert_list(&(struct top_order){.filter = "20"}, "200", 4);
	assert_list(&(struct top_order){.filter = "nothing"}, "", 5);
	assert_list(&(struct top_order){.user = "bob"}, "200 90", 3);
	assert_list(&(struct top_order){.user = "bo"}, "", 5);
	assert_list(&(struct top_order){.user = "ann", .filter = "rank 0"}, "101", 4);
	strcpy(machine.processes[0].pod, "trainer-0");
	strcpy(machine.processes[0].command, "x");
	assert_list(&(struct top_order){.filter = "trainer"}, "100", 4);
}

static void puts_children_below_parents(void **state)
{
	(void)state;
	assert_list(&(struct top_order){.tree = true}, "200 100  102  101 90", 0);
	machine.processes[3].parent = 101;
	assert_list(&(struct top_order){.tree = true}, "100  102  101   200 90", 0);
	/* The parent is hidden. */
	assert_list(&(struct top_order){.tree = true, .filter = "rank"}, "102 101", 3);
}

/* After a pid was used again, processes may seem to be each other's parents. */
static void has_no_circles(void **state)
{
	(void)state;
	machine.processes[0].parent = 102;
	machine.processes[1].parent = 101;
	machine.processes[1].start_ns = machine.processes[2].start_ns;
	machine.processes[1].parent = 102;
	machine.processes[2].parent = 101;
	assert_list(&(struct top_order){.tree = true}, "101  102 200 100 90", 0);
}

static void forgets_the_ended(void **state)
{
	(void)state;
	machine.model.now_ns += TOP_ENDED_NS;
	assert_sorted(TOP_BY_MEMORY, "102 101 200 100");
}

static void finds_rows(void **state)
{
	const struct top_order order = {0};
	struct top_list list;

	(void)state;
	assert_int_equal(top_list__make(&list, &machine.model, NULL, machine.rates, &order), 0);
	assert_int_equal(top_list__find(&list, 101, 101 * NS_PER_S), 1);
	assert_int_equal(top_list__find(&list, 101, 1), list.count);
	top_list__clear(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sorts, begin, end),
		cmocka_unit_test_setup_teardown(sorts_by_copies_in_both_directions, begin, end),
		cmocka_unit_test_setup_teardown(reverses_but_for_the_ended, begin, end),
		cmocka_unit_test_setup_teardown(sorts_by_what_nvml_reports_of_earlier_memory, begin,
						end),
		cmocka_unit_test_setup_teardown(filters, begin, end),
		cmocka_unit_test_setup_teardown(puts_children_below_parents, begin, end),
		cmocka_unit_test_setup_teardown(has_no_circles, begin, end),
		cmocka_unit_test_setup_teardown(forgets_the_ended, begin, end),
		cmocka_unit_test_setup_teardown(finds_rows, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
