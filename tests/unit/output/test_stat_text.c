// SPDX-License-Identifier: BSD-2-Clause
// What `gpuprobe stat` and `gpuprobe diagnose` print for people, on a run made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/width.h"
#include "golden_file.h"
#include "output/trace/text.h"
#include "stat_scene.h"

#define RULE "========================\n"
#define HEAD RULE "1970-01-01 14:02:11, 10.0 s watched, 1 CUDA process\n\n"

static const char findings[] =
	"findings: 1 critical, 1 warning\n"
	"\n"
	"critical  oom: an allocation failed for want of memory\n"
	"        process 12 (server)\n"
	"\n"
	"warning  alloc-churn: the same memory is allocated and freed again and again\n"
	"        process 12 (server), thread 13: cudaMalloc of 1.0 GiB\n"
	"        4 times, 1.0 s each; of \"a,b\"\\t\n"
	"        cost: 4.0 s, 80.0 % of the thread's active time, in allocations and frees of "
	"recurring sizes\n"
	"        saving: about 3.0 s, if one is kept\n"
	"        at:\n"
	"                cudaMalloc+0x0 [libcudart.so.13]\n"
	"                for\\x1bward (model.py:123)\n";

static void expect(const struct scene *scene,
		   void (*print)(FILE *out, const struct stat_report *report), const char *head,
		   const char *tail)
{
	char *text = scene__print(scene, print), *expected = NULL;

	assert_true(asprintf(&expected, "%s%s" RULE, head, tail) > 0);
	assert_string_equal(text, expected);
	free(expected);
	free(text);
}

static void expect_part(const struct scene *scene, const char *part)
{
	char *text = scene__print(scene, stat_text__print);

	if (!strstr(text, part))
		fail_msg("'%s' is not in %s", part, text);
	free(text);
}

/* Golden files have what a person has read; see golden_file.h. */
static void expect_file(const struct scene *scene, const char *name)
{
	char *text = scene__print(scene, stat_text__print);

	golden_file__expect(name, text, strlen(text));
	free(text);
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t width = width__columns(line, strcspn(line, "\n"));

		widest = width > widest ? width : widest;
	}
	return widest;
}

/* Who waits for whom and what is wrong come first, then the tables. */
static void test_stat(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	scene__begin(&scene);
	expect_file(&scene, "stat.text");
	scene__findings(&scene);
	expect_file(&scene, "stat.findings");
	text = scene__print(&scene, stat_text__print);
	assert_in_range(widest_line(text), 60, STAT_WIDTH);
	assert_true(strstr(text, "alloc-churn") < strstr(text, "watched  thread\n"));
	free(text);
	scene__end(&scene);
}

/* On a terminal nothing is wider than it: sentences go on in another line, names are cut. */
static void test_widths(void **state)
{
	static const char name[] = "void conv<a_type_that_is_rather_long, another_one>(float*)";
	struct scene scene;
	char *text;

	(void)state;
	scene__begin(&scene);
	scene__findings(&scene);
	scene.kernels[0].label = (char *)name;
	strcpy(scene.threads[1].comm, "loader");
	for (scene.report.width = 80; scene.report.width < 170; scene.report.width += 10) {
		text = scene__print(&scene, stat_text__print);
		assert_true(widest_line(text) <= scene.report.width);
		assert_int_equal(!strstr(text, name), scene.report.width < 120);
		assert_non_null(strstr(text, "  12 (server)\n"));
		free(text);
	}
	scene.report.width = 80;
	expect_file(&scene, "stat.80");
	/* A file has whole names. */
	scene.report.width = 0;
	expect_part(&scene, name);
	scene__end(&scene);
}

/* Columns in which nothing is are left out. */
static void test_empty_columns(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	expect_part(&scene, "    calls  errors  total  average");
	scene.tallies[0].failures = 0;
	expect_part(&scene, "    calls  total  average");
	expect_part(&scene, "    launch   memory    wait  outside  watched  thread\n");
	scene.threads[0].time[TIME_WAIT] = (struct time_totals){0};
	expect_part(&scene, "    launch   memory  outside  watched  thread\n");
	scene__end(&scene);
}

/* With stacks: places in units, and the stack of a place once. */
static void test_call_sites(void **state)
{
	struct call_site sites[] = {
		{.kind = SITE_ALLOCATION,
		 .row = scene_row("cuMemAlloc_v2"),
		 .calls = 3,
		 .amount = 641728512,
		 .stack = &scene_stack},
		{.kind = SITE_LAUNCH, .calls = 1784, .kernel_short = "one", .stack = &scene_stack},
		{.kind = SITE_LAUNCH,
		 .calls = 1,
		 .kernel_short = "two",
		 .kernel_label = "two<4>",
		 .stack = &scene_stack},
		{.kind = SITE_WAIT,
		 .row = scene_row("cuCtxSynchronize"),
		 .calls = 2,
		 .amount = 157590000},
	};
	struct live_site live = {.bytes = 8000000, .count = 1, .stack = &scene_stack};
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene.model.min_wait_ns = NS_PER_MS;
	scene.processes[0].sites = sites;
	scene.processes[0].site_count = sizeof(sites) / sizeof(*sites);
	scene.processes[0].live_sites = &live;
	scene.processes[0].live_site_count = 1;
	expect_part(&scene, "\n    where memory comes from that is live:\n"
			    "        7.6 MiB in 1 allocation\n"
			    "                cudaMalloc+0x0 [libcudart.so.13]\n"
			    "                for\\x1bward (model.py:123)\n"
			    "\n    where it allocates:\n"
			    "        612.0 MiB by 3 calls of cuMemAlloc\n"
			    "                cudaMalloc+0x0 [libcudart.so.13]\n"
			    "                for\\x1bward (model.py:123)\n"
			    "\n    where it launches:\n"
			    "        1,784 launches of one\n"
			    "        1 launch of two<4>\n"
			    "                cudaMalloc+0x0 [libcudart.so.13]\n"
			    "                for\\x1bward (model.py:123)\n"
			    "\n    where it waits for at least 1.0 ms:\n"
			    "        158 ms in 2 calls of cuCtxSynchronize\n"
			    "                [stack not known]\n");
	scene.options.top = 1;
	expect_part(&scene, "        1,784 launches of one\n"
			    "                cudaMalloc+0x0 [libcudart.so.13]\n"
			    "                for\\x1bward (model.py:123)\n"
			    "        ... and 1 more call site\n");
	scene__end(&scene);
}

static void test_diagnose(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene.processes[0].since_attach = false;
	expect(&scene, diagnose_text__print, HEAD, "no findings\n");
	scene__findings(&scene);
	scene__look_for(&scene, NEEDS_ALL & ~NEEDS_GETTERS);
	scene.processes[0].since_attach = true;
	scene.model.lost[LOSS_RING_FULL] = 3;
	assert_int_equal(strncmp(findings, "findings", 8), 0);
	{
		char *tail = NULL;

		assert_true(
			asprintf(&tail,
				 "%s"
				 "\nprocess 12 (server) is watched since attach: its earlier calls "
				 "are unknown\n"
				 "\nnot looked for: chatty-getters (use --getters)\n"
				 "\nlost:\n        notices that did not fit the ring buffer: 3\n"
				 "\ngpuprobe diagnose --explain %s explains what to do\n",
				 findings, scene.list.items[0].kind->id) > 0);
		expect(&scene, diagnose_text__print, HEAD, tail);
		free(tail);
	}
	scene__end(&scene);
}

/* Both commands report what was not looked for, or not for long enough. */
static void test_limits(void **state)
{
	struct finding_input input = {.kind = finding_kind__find("leak-growing")};
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	finding_list__follow(&scene.list, &input, true, 60 * NS_PER_S, 50 * NS_PER_S);
	expect_part(&scene, "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2) x 1\n" RULE);
	finding_list__follow(&scene.list, &input, false, 1200 * NS_PER_MS, 50 * NS_PER_S);
	finding_list__follow(&scene.list, &input, false, 100 * NS_PER_MS, 50 * NS_PER_S);
	expect_part(&scene, "x 1\n\nnot judged: leak-growing in 2 of 3 places: too little "
			    "data (1.2 s of 50.0 s); "
			    "shorten --window\n" RULE);
	input.kind = finding_kind__find("fragmentation");
	finding_list__follow(&scene.list, &input, false, 1200 * NS_PER_MS, 40 * NS_PER_S);
	expect_part(&scene, "), fragmentation in 1 of\n  1 place: too little data (1.2 s of 40.0 "
			    "s); shorten --window\n" RULE);
	scene__look_for(&scene, NEEDS_ALL & ~(NEEDS_ASKS | NEEDS_GETTERS));
	expect_part(&scene, "x 1\n\nnot looked for: unchecked-errors (use gpuprobe "
			    "diagnose), chatty-getters "
			    "(use --getters)\n\nnot judged");
	scene__look_for(&scene, NEEDS_ALL & ~(NEEDS_NCCL | NEEDS_XIDS));
	expect_part(&scene, "x 1\n\nnot looked for: nccl-* (use gpuprobe diagnose), xid (run "
			    "gpuprobe --kernel-log)\n\nnot judged");
	scene__end(&scene);
}

/* A list shows only --top entries; the rest is mentioned. */
static void test_top(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene__findings(&scene);
	scene.options.top = 1;
	scene.profile->unlisted_threads = 4;
	scene.profile->unlisted_wall_ns = NS_PER_S;
	expect_part(&scene, "  all 6 threads\n");
	expect_part(&scene, "13 (wor\\nker) ended\n            100.0 %\n        ... and 5 "
			    "more threads\n");
	expect_part(&scene, "cuMemAlloc\n        ... and 1 more function\n");
	expect_part(&scene, "  conv<int>\n        ... and 1 more kernel\n");
	expect_part(&scene, "\n... and 1 more finding\n");
	scene.options.top = 0;
	scene.list.items[1].tid = 0;
	scene.list.items[1].share = 1.5;
	expect_part(&scene, "        cost: 4.0 s, 150.0 % of the process's watched time (several "
			    "threads together), in\n"
			    "          allocations and frees of recurring sizes\n");
	scene.options.full_names = true;
	expect_part(&scene, "  void conv<int>(float*)\n");
	scene__end(&scene);
}

/* --exact: the numbers of the evidence by the names of the JSON, and whole nanoseconds. */
static void test_exact_findings(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene__findings(&scene);
	scene.options.form = QUANTITY_EXACT;
	expect_part(&scene, "        exact: allocations=4, each=1,000,000,000 ns\n"
			    "        cost: 4,000,000,000 ns, 80.0 % of ");
	expect_part(&scene, "        saving: about 3,000,000,000 ns, if one is kept\n");
	scene__end(&scene);
}

/* Most time first; entries cut by --top have no histogram either. */
static void test_copies(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	scene__begin(&scene);
	scene.copies[1] = (struct profile_copies){.key = {.kind = COPY_H2H}};
	scene.copies[1].record.calls[3] = scene.copies[1].record.calls[5] = 2;
	scene.copies[1].record.ns[3] = NS_PER_S;
	scene.copies[0].key.async = 1;
	scene.copies[1].record.calls[5] = 20;
	expect_part(&scene,
		    "copies and sets\n       22         -           -     1.0 s      0 B/s  "
		    "H2H sync");
	expect_part(&scene, "at least 2.1 GB/s");
	scene.options.top = 1;
	expect_part(&scene, "  H2H sync, pinned or not is unknown\n        ... and 1 more row\n\n"
			    "        sizes of H2H sync, pinned or not is unknown\n");
	text = scene__print(&scene, stat_text__print);
	assert_null(strstr(text, "H2D async"));
	free(text);
	scene__end(&scene);
}

/* First and last time, in seconds: one number if they are equal. */
static void test_error_times(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene.failures[0].count = 3;
	scene.failures[0].first_ns = scene.model.now_ns - 300 * NS_PER_MS;
	scene.failures[0].last_ns = scene.model.now_ns - 200 * NS_PER_MS;
	expect_part(&scene, "CUDA_ERROR_OUT_OF_MEMORY (2) x 3, at 14:02:10\n");
	scene.failures[0].last_ns = scene.model.now_ns;
	expect_part(&scene, "CUDA_ERROR_OUT_OF_MEMORY (2) x 3, at 14:02:10 to 14:02:11\n");
	scene__end(&scene);
}

/* Live memory follows from the values beside it. */
static void test_memory(void **state)
{
	struct scene scene;
	struct process *p = &scene.processes[0];

	(void)state;
	scene__begin(&scene);
	scene.report.width = 240;
	p->memory[MEMORY_DEVICE] = (struct memory_totals){
		.allocations = 3649,
		.frees = 2559,
		.never_live = 42,
		.with_context = 700,
		.live_count = 348,
		.live_bytes = 1 << 30,
	};
	expect_part(
		&scene,
		"1.0 GiB live in 348 allocations; 3,649 allocations (42 never live), 2,559 frees, "
		"700 gone with their context\n");
	p->memory[MEMORY_DEVICE].replaced = 2;
	p->memory[MEMORY_UNKNOWN].frees = 5;
	expect_part(&scene, "(42 never live), 2,564 frees (5 of memory not known), 700 gone with "
			    "their context, "
			    "2 freed where it was not seen\n");
	scene__end(&scene);
}

/* Those with the most time first. */
static void test_processes(void **state)
{
	struct profile *idle = profile__new();
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene.processes[1] = scene.processes[0];
	scene.processes[0] = (struct process){
		.pid = 9,
		.comm = "idle",
		.profile = idle,
		.ended = true,
		.ended_ns = BEGIN + NS_PER_S,
	};
	scene.model.process_count = 2;
	expect_part(&scene, "2 CUDA processes\n\nno findings\n\n"
			    "    launch  memory    wait  outside  watched  process\n"
			    "     2.0 s   4.0 s  500 ms    7.5 s   14.0 s  12 (server)\n"
			    "    14.3 %  28.6 %   3.6 %   53.6 %\n"
			    "         -       -       -        -        -  9 (idle) ended\n"
			    "\nprocess 12 (server) since attach\n");
	scene.options.top = 1;
	expect_part(&scene, "        ... and 1 more process of less time, which --top "
			    "shows\n\nprocess 12 (server)");
	profile__free(idle);
	scene__end(&scene);
}

static void test_nothing(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene.model.process_count = 0;
	scene.model.final = true;
	expect(&scene, stat_text__print,
	       RULE "1970-01-01 14:02:11, 10.0 s watched, 0 CUDA processes\n",
	       "\nno CUDA process was seen\n");
	expect(&scene, diagnose_text__print,
	       RULE "1970-01-01 14:02:11, 10.0 s watched, 0 CUDA processes\n",
	       "\nno CUDA process was seen\n");
	scene__end(&scene);
}

/* --exact: columns are as wide as the amounts. */
static void test_exact_tables(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene.options.form = QUANTITY_EXACT;
	expect_part(&scene, "10,000,000,000 ns watched");
	expect_part(&scene,
		    "              launch            memory            wait           outside  "
		    "          watched  thread\n"
		    "    2,000,000,000 ns  4,000,000,000 ns  500,000,000 ns  7,500,000,000 ns  "
		    "14,000,000,000 ns  all 2 threads\n");
	expect_part(&scene, " bytes live");
	expect_part(&scene, " bytes/s  ");
	scene__end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),	       cmocka_unit_test(test_widths),
		cmocka_unit_test(test_empty_columns),  cmocka_unit_test(test_call_sites),
		cmocka_unit_test(test_diagnose),       cmocka_unit_test(test_top),
		cmocka_unit_test(test_processes),      cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_limits),	       cmocka_unit_test(test_memory),
		cmocka_unit_test(test_copies),	       cmocka_unit_test(test_error_times),
		cmocka_unit_test(test_exact_findings), cmocka_unit_test(test_exact_tables),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
