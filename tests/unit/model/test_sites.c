// SPDX-License-Identifier: BSD-2-Clause
// Call sites: ids that become one site, counts that outlast their map entries, the report's
// section.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/sites.h"
#include "output/report/parts.h"

static const struct stack_frame frames[] = {
	{.function = "cudaMalloc", .object = "libcudart.so.13"},
	{.function = "grow", .object = "server", .file = "cache.cc", .offset = 0x41, .line = 88},
};
/* Ids 1 and 2 are the same stack. */
static const struct stack stacks[] = {
	{.serial = 0, .count = 2, .frames = frames},
	{.serial = 1, .count = 1, .frames = frames},
};

static const struct stack *find(void *arg, uint64_t id)
{
	(void)arg;
	return id == 1 || id == 2 ? &stacks[0] : (id == 3 ? &stacks[1] : NULL);
}

static void set(struct site_table *table, enum site_kind kind, uint64_t stack, uint64_t what,
		uint64_t calls, uint64_t amount)
{
	const struct call_site_key key = {.stack = stack, .what = what, .kind = (uint8_t)kind};
	const struct call_site_record record = {.calls = calls, .amount = amount};

	assert_int_equal(site_table__set(table, &key, &record), 0);
}

static void list(struct site_table *table, struct process *process)
{
	assert_int_equal(site_table__list(table, process, -1, find, NULL), 0);
}

static void ids_of_one_stack_are_one_site(void **state)
{
	struct site_table *table = site_table__new();
	struct process process = {0};

	(void)state;
	set(table, SITE_ALLOCATION, 1, 7, 2, 100);
	set(table, SITE_ALLOCATION, 2, 7, 3, 200);
	set(table, SITE_ALLOCATION, 2, 8, 1, 1000); /* another function */
	set(table, SITE_ALLOCATION, 99, 7, 1, 1);   /* unknown */
	set(table, SITE_FAILURE, 1, (uint64_t)7 << 32 | 2, 4, 0);
	set(table, SITE_FAILURE, 3, (uint64_t)7 << 32 | (uint32_t)-1, 5, 0);
	list(table, &process);
	assert_int_equal(process.site_count, 5);
	assert_int_equal(process.sites[0].row, 8);
	assert_int_equal(process.sites[1].calls, 5);
	assert_int_equal(process.sites[1].amount, 300);
	assert_ptr_equal(process.sites[1].stack, &stacks[0]);
	assert_null(process.sites[2].stack);
	assert_int_equal(process.sites[3].code, -1);
	assert_ptr_equal(process.sites[3].stack, &stacks[1]);
	assert_int_equal(process.sites[4].code, 2);
	assert_int_equal(process.sites[4].calls, 4);
	site_table__clear_lists(&process);
	site_table__free(table);
}

static void launches_wait_for_a_stack(void **state)
{
	const struct launch_site_key key = {.handle = 0x70, .caller = 1, .generation = 4};
	const struct kernel_key kernel = {.handle = 0x70, .generation = 4};
	const struct kernel_texts texts = {"gemm(int)", "gemm", "gemm #2"};
	struct site_table *table = site_table__new();
	struct call_site_key reported = {
		.stack = 1, .what = 0x70, .generation = 4, .kind = SITE_LAUNCH};
	struct call_site_record record = {.calls = 65};
	struct process process = {0};

	(void)state;
	assert_int_equal(site_table__name(table, &kernel, &texts), 0);
	for (int reading = 0; reading < 2; reading++) {
		site_table__begin(table, true);
		assert_int_equal(site_table__set(table, &reported, &record), 0);
		assert_int_equal(site_table__add_launches(table, &key, 1, 30), 0);
		list(table, &process);
		assert_int_equal(process.site_count, 1);
		assert_int_equal(process.sites[0].calls, 95);
		assert_string_equal(process.sites[0].kernel, "gemm(int)");
		assert_string_equal(process.sites[0].kernel_label, "gemm #2");
	}
	/* Both entries are gone, and so is the process. */
	list(table, &process);
	assert_int_equal(process.sites[0].calls, 95);
	site_table__clear_lists(&process);
	site_table__free(table);
}

static void folded_sites_keep_their_counts(void **state)
{
	const struct call_site_key key = {.stack = 2, .what = 7, .kind = SITE_WAIT};
	struct site_table *table = site_table__new();
	struct process process = {0};

	(void)state;
	assert_int_equal(site_table__retire(table, &key), 0);
	set(table, SITE_WAIT, 2, 7, 3, 30);
	assert_int_equal(site_table__retire(table, &key), 0);
	assert_int_equal(site_table__retire(table, &key), 1);
	assert_int_equal(site_table__fold(table, &key, 1), 0);
	set(table, SITE_WAIT, 1, 7, 10, 100); /* its current count */
	set(table, SITE_WAIT, 2, 7, 1, 5);    /* the entry has come back */
	list(table, &process);
	assert_int_equal(process.site_count, 1);
	assert_int_equal(process.sites[0].calls, 14);
	assert_int_equal(process.sites[0].amount, 135);
	site_table__clear_lists(&process);
	site_table__free(table);
}

/* Counts from before a mark are separate, for folded sites too. */
static void marks_report_what_came_before(void **state)
{
	const struct call_site_key key = {.stack = 2, .what = 7, .kind = SITE_WAIT};
	struct site_table *table = site_table__new();
	struct process process = {0};

	(void)state;
	set(table, SITE_WAIT, 1, 7, 10, 100);
	set(table, SITE_WAIT, 2, 7, 3, 30);
	site_table__mark(table, 1);
	set(table, SITE_WAIT, 1, 7, 12, 150);
	set(table, SITE_WAIT, 2, 7, 4, 35);
	assert_int_equal(site_table__fold(table, &key, 1), 0);
	set(table, SITE_WAIT, 3, 7, 1, 5);
	assert_int_equal(site_table__list(table, &process, 1, find, NULL), 0);
	assert_int_equal(process.sites[0].calls, 16);
	assert_int_equal(process.sites[0].early_calls, 13);
	assert_int_equal(process.sites[0].early_amount, 130);
	assert_int_equal(process.sites[1].early_calls, 0);
	assert_int_equal(site_table__list(table, &process, -1, find, NULL), 0);
	assert_int_equal(process.sites[0].early_calls, 0);
	site_table__clear_lists(&process);
	site_table__free(table);
}

static void live_memory_by_stack(void **state)
{
	struct site_table *table = site_table__new();
	struct process process = {0};

	(void)state;
	assert_int_equal(site_table__add_live(table, 1, 1, 10, 50), 0);
	assert_int_equal(site_table__add_live(table, 2, 1, 20, 40), 0);
	assert_int_equal(site_table__add_live(table, 3, 1, 100, 60), 0);
	assert_int_equal(site_table__add_live(table, 0, 1, 1, 70), 0);
	list(table, &process);
	assert_int_equal(process.live_site_count, 3);
	assert_int_equal(process.live_sites[0].bytes, 100);
	assert_int_equal(process.live_sites[1].bytes, 30);
	assert_int_equal(process.live_sites[1].count, 2);
	assert_int_equal(process.live_sites[1].oldest_ns, 40);
	assert_int_equal(process.live_sites[1].newest_ns, 50);
	assert_null(process.live_sites[2].stack);
	site_table__begin(table, false);
	list(table, &process);
	assert_int_equal(process.live_site_count, 3);
	site_table__begin(table, true);
	list(table, &process);
	assert_int_equal(process.live_site_count, 0);
	site_table__clear_lists(&process);
	site_table__free(table);
}

static void the_report_shows_what_top_allows(void **state)
{
	static const char expected[] =
		"\ncall sites (3 stacks are no longer known: see --stack-storage-size):\n"
		"process 12 (server)\n"
		"    live memory:\n"
		"        4096 Bytes in 1 allocation\n"
		"                        cudaMalloc+0x0 [libcudart.so.13]\n"
		"                        grow+0x41 [server] cache.cc:88\n"
		"    launches (the stack of the first, then of 1 in 64, stands for those "
		"between):\n"
		"        7 launches of ge\\x1bmm\n"
		"                        [stack not known]\n"
		"        ... and 1 more call site\n";
	struct live_site live[] = {{.stack = &stacks[0], .bytes = 4096, .count = 1}};
	struct call_site sites[] = {
		{.kind = SITE_LAUNCH, .kernel_short = "ge\033mm", .calls = 7},
		{.kind = SITE_LAUNCH, .kernel_short = "b", .calls = 6, .stack = &stacks[1]},
	};
	struct process process = {
		.pid = 12,
		.comm = "server",
		.sites = sites,
		.site_count = 2,
		.live_sites = live,
		.live_site_count = 1,
	};
	struct model model = {
		.processes = &process,
		.process_count = 1,
		.stacks = true,
		.stacks_evicted = 3,
		.stack_sample = 64,
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	report_sites__print(out, &model, &(struct report_options){.top = 1});
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_of_one_stack_are_one_site),
		cmocka_unit_test(launches_wait_for_a_stack),
		cmocka_unit_test(folded_sites_keep_their_counts),
		cmocka_unit_test(marks_report_what_came_before),
		cmocka_unit_test(live_memory_by_stack),
		cmocka_unit_test(the_report_shows_what_top_allows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
