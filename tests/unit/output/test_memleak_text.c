// SPDX-License-Identifier: BSD-2-Clause
// What `gpuprobe memleak` prints, on models made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "output/memleak/memleak.h"

#define BEGIN (1000 * NS_PER_S)

static const struct stack_frame cache_frames[] = {
	{.function = "cudaMalloc", .object = "libcudart.so.13"},
	{
		.function = "grow_cache(Cache&, unsigned long)",
		.object = "server",
		.file = "/src/cache.cc",
		.offset = 0x41,
		.line = 88,
	},
	{.function = "[callers not found]", .kind = FRAME_MARK},
};
static const struct stack_frame python_frames[] = {
	{.function = "cudaMalloc", .object = "libcudart.so.13"},
	{.function = "for\033ward", .file = "/x/model.py", .line = 123, .kind = FRAME_PYTHON},
	{.function = "[truncated]", .kind = FRAME_MARK},
};
static const struct stack cache_stack = {
	.serial = 0, .count = 3, .frames = cache_frames, .broken = true};
static const struct stack python_stack = {
	.serial = 1, .count = 3, .frames = python_frames, .truncated = true};

struct scene {
	struct model model;
	struct process processes[2];
	struct live_site sites[2][3];
	struct call_site calls[1];
	struct allocation live[2];
	struct growth *growth;
	struct memleak_options options;
};

static struct live_site site(const struct stack *stack, uint64_t bytes, uint64_t count,
			     uint64_t oldest_s)
{
	return (struct live_site){
		.stack = stack,
		.bytes = bytes,
		.count = count,
		.oldest_ns = BEGIN + oldest_s * NS_PER_S,
		.newest_ns = BEGIN + 99400 * NS_PER_MS,
	};
}

static void begin(struct scene *scene)
{
	*scene = (struct scene){
		.options = {.top = 10, .verdict_ns = GROWTH_LEAST_NS(GROWTH_WINDOW_NS)}};
	scene->model.processes = scene->processes;
	scene->model.now_ns = BEGIN + 100 * NS_PER_S;
	scene->model.wall.tv_sec = 14 * 3600 + 2 * 60 + 11;
	scene->growth = growth__new(GROWTH_WINDOW_NS, 10);
	scene->processes[0] = (struct process){
		.pid = 12, .comm = "server", .start_ns = 5, .live_sites = scene->sites[0]};
	scene->processes[1] = (struct process){
		.pid = 13, .comm = "tra\nin", .start_ns = 6, .live_sites = scene->sites[1]};
	scene->model.process_count = 1;
}

/* Samples of the first process's first site that rise by this much per second, up to now. */
static void sample(struct scene *scene, uint64_t step)
{
	struct live_site *first = &scene->sites[0][0];
	uint64_t bytes = first->bytes, now_ns = scene->model.now_ns;

	for (uint64_t i = 0; i <= 80; i++) {
		scene->model.now_ns = now_ns - (80 - i) * NS_PER_S;
		first->bytes = bytes - (80 - i) * step;
		assert_int_equal(growth__sample(scene->growth, &scene->model), 0);
	}
}

static char *print(const struct scene *scene, bool json)
{
	const struct memleak_growth growth = {scene->growth, NULL, NULL};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	if (json)
		memleak_json__print(out, &scene->model, &growth, &scene->options);
	else
		memleak_text__print(out, &scene->model, &growth, &scene->options);
	fclose(out);
	return text;
}

static void expect(struct scene *scene, const char *expected)
{
	char *text = print(scene, false);

	assert_string_equal(text, expected);
	free(text);
	growth__free(scene->growth);
}

static void expect_in(const struct scene *scene, bool json, const char *part)
{
	char *text = print(scene, json);

	if (!strstr(text, part))
		fail_msg("'%s' is not in %s", part, text);
	free(text);
}

static void expect_json(const struct scene *scene, const char *part)
{
	expect_in(scene, true, part);
}

static void expect_part(const struct scene *scene, const char *part)
{
	expect_in(scene, false, part);
}

static void test_growing(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.processes[0].live_site_count = 3;
	scene.sites[0][0] = site(&cache_stack, 1ull << 30, 1000, 17);
	scene.sites[0][1] = site(&python_stack, 8000000, 2, 10);
	scene.sites[0][2] = site(NULL, 512, 1, 95);
	sample(&scene, 12 << 20);
	expect_json(&scene, "\"growth\":{\"verdict\":\"growing\",\"may_replace_older\":false,"
			    "\"bytes_per_second\":12582912,\"span_ns\":60000000000,"
			    "\"samples\":61}");
	expect_json(&scene, "{\"kind\":\"native\",\"function\":\"grow_cache(Cache&, unsigned "
			    "long)\",\"offset\":\"0x41\","
			    "\"object\":\"server\",\"file\":\"/src/cache.cc\",\"line\":88}");
	expect_json(&scene,
		    "\"call_sites\":3,\"growing\":1,\"bytes\":1081742336,\"allocations\":1003,");
	expect_json(&scene, "\"stack\":null");
	expect(&scene, "[14:02:11] 3 call sites with live device memory, 1 of them growing\n"
		       "        1.0 GiB in 1,000 allocations, +12.0 MiB/s over the last 60.0 s  << "
		       "growing\n"
		       "            ages 600 ms to 83.0 s, 61 samples\n"
		       "                cudaMalloc+0x0 [libcudart.so.13]\n"
		       "                grow_cache+0x41 [server] cache.cc:88\n"
		       "                [callers not found]\n"
		       "        7.6 MiB in 2 allocations, stable over the last 60.0 s\n"
		       "            ages 600 ms to 90.0 s, 61 samples\n"
		       "                cudaMalloc+0x0 [libcudart.so.13]\n"
		       "                for\\x1bward (model.py:123)\n"
		       "                [truncated]\n"
		       "        512 bytes in 1 allocation, stable over the last 60.0 s\n"
		       "            age 5.0 s, 61 samples\n"
		       "                [stack not known]\n");
}

static void test_exact(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.options.form = QUANTITY_EXACT;
	scene.options.show_allocations = true;
	scene.processes[0].live_site_count = 1;
	scene.sites[0][0] = site(&cache_stack, 1ull << 30, 12345, 17);
	scene.live[0] = (struct allocation){.address = 0x7000,
					    .size = 8000000,
					    .start_ns = BEGIN + 99 * NS_PER_S,
					    .stack = &cache_stack};
	scene.processes[0].live = scene.live;
	scene.processes[0].live_listed = 1;
	sample(&scene, 12 << 20);
	expect_part(&scene,
		    "        1,073,741,824 bytes in 12,345 allocations, +12,582,912 bytes/s "
		    "over the last 60,000,000,000 ns  << growing\n"
		    "            ages 600,000,000 ns to 83,000,000,000 ns, 61 samples\n");
	expect_part(&scene, "            0x0000000000007000:       8,000,000 bytes, "
			    "1,000,000,000 ns old\n");
	growth__free(scene.growth);
}

static void test_top(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.options.top = 1;
	scene.options.min_count = 2;
	scene.processes[0].live_site_count = 3;
	scene.sites[0][0] = site(&cache_stack, 1ull << 20, 8, 90);
	scene.sites[0][1] = site(&python_stack, 4096, 2, 90);
	scene.sites[0][2] = site(NULL, 512, 1, 95);
	expect(&scene,
	       "[14:02:11] 2 call sites with live device memory, too early to tell which grow: "
	       "that takes 50.0 s (--window); left out: 512 bytes in 1 "
	       "allocation of call sites with fewer than 2\n"
	       "        1.0 MiB in 8 allocations, too early to tell whether it grows\n"
	       "            ages 600 ms to 10.0 s\n"
	       "                cudaMalloc+0x0 [libcudart.so.13]\n"
	       "                grow_cache+0x41 [server] cache.cc:88\n"
	       "                [callers not found]\n"
	       "        ... and 1 more call site: 4.0 KiB in 2 allocations\n");
}

static void test_processes(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.model.process_count = 2;
	scene.processes[0].since_attach = true;
	scene.processes[0].live_site_count = 1;
	scene.processes[1].live_site_count = 1;
	scene.sites[0][0] = site(NULL, 2048, 1, 90);
	scene.sites[1][0] = site(NULL, 1, 1, 90);
	scene.model.lost[LOSS_STACK_NO_ROOM] = 3;
	expect(&scene, "[14:02:11] 2 call sites with live device memory, too early to tell "
		       "which grow: that takes 50.0 s (--window)\n"
		       "process 12 (server) since attach\n"
		       "        allocated before attach: unknown\n"
		       "        2.0 KiB in 1 allocation, too early to tell whether it grows\n"
		       "            age 10.0 s\n"
		       "                [stack not known]\n"
		       "process 13 (tra\\nin)\n"
		       "        1 byte in 1 allocation, too early to tell whether it grows\n"
		       "            age 10.0 s\n"
		       "                [stack not known]\n"
		       "\nlost:\n"
		       "        calls whose stack could not be taken: no memory for it: 3\n");
}

static void end_process(struct process *p)
{
	p->ended = true;
	p->ended_ns = BEGIN + 100 * NS_PER_S;
	for (size_t i = 0; i < p->live_site_count; i++) {
		p->live_at_exit_bytes += p->live_sites[i].bytes;
		p->live_at_exit_count += p->live_sites[i].count;
	}
}

static void test_ended(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.options.show_allocations = true;
	scene.processes[0].live_site_count = 2;
	scene.sites[0][0] = site(&cache_stack, 3072, 2, 90);
	scene.sites[0][1] = site(NULL, 8, 1, 90);
	scene.calls[0] =
		(struct call_site){.stack = &cache_stack, .kind = SITE_ALLOCATION, .calls = 100};
	scene.processes[0].sites = scene.calls;
	scene.processes[0].site_count = 1;
	scene.live[0] = (struct allocation){
		.address = 0x7000, .size = 2048, .start_ns = BEGIN, .stack = &cache_stack};
	scene.live[1] = (struct allocation){
		.address = 0x9000, .size = 8, .start_ns = BEGIN, .kind = MEMORY_MANAGED};
	scene.processes[0].live = scene.live;
	scene.processes[0].live_listed = 2;
	end_process(&scene.processes[0]);
	/* Two more of another size, which is not selected. */
	scene.processes[0].live_at_exit_bytes += 128;
	scene.processes[0].live_at_exit_count += 2;
	/* Time passes, and the remaining memory does not get older. */
	scene.model.now_ns += 50 * NS_PER_S;
	scene.model.final = true;
	expect_json(&scene, "\"allocated\":100,");
	expect_json(&scene, "\"live\":[{\"address\":\"0x7000\",\"bytes\":2048,\"kind\":\"device\","
			    "\"age_ns\":100000000000}]");
	expect(&scene, "[14:02:11] process 12 (server) ended: 3.0 KiB in 3 allocations "
		       "leaked (live at exit), "
		       "of 3.1 KiB in 5 allocations\n"
		       "        3.0 KiB in 2 allocations  << leak\n"
		       "            ages 600 ms to 10.0 s, 98 of 100 freed\n"
		       "                cudaMalloc+0x0 [libcudart.so.13]\n"
		       "                grow_cache+0x41 [server] cache.cc:88\n"
		       "                [callers not found]\n"
		       "            0x0000000000007000:    2.0 KiB, 100 s old\n"
		       "        8 bytes in 1 allocation\n"
		       "            age 10.0 s\n"
		       "                [stack not known]\n"
		       "            0x0000000000009000:    8 bytes, managed, 100 s old\n");
}

/* One that grew to its end, one that left nothing, and one reported before. */
static void test_ends(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.processes[0].live_site_count = 1;
	scene.sites[0][0] = site(&python_stack, 1 << 20, 1024, 10);
	sample(&scene, 1024);
	end_process(&scene.processes[0]);
	scene.model.process_count = 2;
	end_process(&scene.processes[1]);
	scene.options.some_sizes = true;
	expect_json(&scene, "\"allocated\":null,");
	expect_json(&scene, "\"leak\":true");
	scene.processes[1].since_attach = true;
	expect(&scene,
	       "[14:02:11] process 12 (server) ended: 1.0 MiB in 1,024 allocations leaked (live at "
	       "exit)\n"
	       "        1.0 MiB in 1,024 allocations, +1.0 KiB/s over the last 60.0 s  << leak\n"
	       "            ages 600 ms to 90.0 s, 61 samples\n"
	       "                cudaMalloc+0x0 [libcudart.so.13]\n"
	       "                for\\x1bward (model.py:123)\n"
	       "                [truncated]\n"
	       "[14:02:11] process 13 (tra\\nin) since attach ended: no device memory allocated "
	       "since attach was live at exit\n"
	       "        allocated before attach: unknown\n");
	scene.growth = growth__new(GROWTH_WINDOW_NS, 10);
	scene.processes[0].reported_end = scene.processes[1].reported_end = true;
	expect(&scene, "[14:02:11] 0 call sites with live device memory\n");
}

/* An allocation that had no room in the table is neither freed nor stable. */
static void test_untracked(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.model.lost[LOSS_ALLOCATION_MAP_FULL] = 15;
	scene.processes[0].live_site_count = 1;
	scene.sites[0][0] = site(&python_stack, 2048, 5, 10);
	scene.calls[0] =
		(struct call_site){.stack = &python_stack, .kind = SITE_ALLOCATION, .calls = 20};
	scene.processes[0].sites = scene.calls;
	scene.processes[0].site_count = 1;
	sample(&scene, 0);
	expect_json(&scene, "\"growth\":{\"verdict\":\"unknown\",");
	expect_part(&scene, "2.0 KiB in 5 allocations, unknown whether it grows: "
			    "15 allocations beyond --max-allocations\n");
	end_process(&scene.processes[0]);
	expect_json(&scene, "\"allocated\":null,");
	expect_json(&scene, "\"leak\":false,");
	expect_part(&scene,
		    "        2.0 KiB in 5 allocations\n"
		    "            ages 600 ms to 90.0 s, 61 samples, unknown how many were freed: "
		    "15 allocations beyond --max-allocations\n");
	scene.processes[0].live_site_count = 0;
	scene.processes[0].live_at_exit_count = 0;
	expect_part(&scene, "no device memory was live at exit, except perhaps of 15 allocations "
			    "beyond --max-allocations\n");
	growth__free(scene.growth);
}

/* More is live than is shown, and memory without a stack may have had one. */
static void test_left_out(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.processes[0].left_out_bytes = 20 << 20;
	scene.processes[0].left_out_count = 10;
	scene.options.older_ns = 500 * NS_PER_MS;
	expect_json(&scene, "\"left_out_bytes\":20971520,\"left_out_allocations\":10,");
	expect_part(&scene,
		    "0 call sites with live device memory; left out: 20.0 MiB in 10 allocations "
		    "younger than 500 ms\n");
	scene.options.min_count = 3;
	scene.options.some_sizes = true;
	scene.processes[0].live_site_count = 1;
	scene.sites[0][0] = site(NULL, 1 << 20, 2, 10);
	scene.model.stacks_evicted = 7;
	expect(&scene, "[14:02:11] 0 call sites with live device memory; left out: 21.0 MiB in 12 "
		       "allocations "
		       "younger than 500 ms or of other sizes or of call sites with fewer than 3\n"
		       "        7 stacks are no longer known: see --stack-storage-size\n");
}

static void test_nothing(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.model.process_count = 0;
	expect(&scene, "[14:02:11] no CUDA process seen yet\n");
	begin(&scene);
	scene.model.process_count = 0;
	scene.model.final = true;
	expect(&scene, "[14:02:11] no CUDA process was seen\n");
}

static int set_time_zone(void **state)
{
	(void)state;
	return setenv("TZ", "UTC", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growing),	 cmocka_unit_test(test_exact),
		cmocka_unit_test(test_top),	 cmocka_unit_test(test_processes),
		cmocka_unit_test(test_ended),	 cmocka_unit_test(test_ends),
		cmocka_unit_test(test_nothing),	 cmocka_unit_test(test_untracked),
		cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, set_time_zone, NULL);
}
