// SPDX-License-Identifier: BSD-2-Clause
// The text report's lists of memory, compared to the letter: what is cut, and what ended processes
// left.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report_scene.h"

static void marks_what_an_ended_process_left(void **state)
{
	struct allocation live[] = {
		{.address = 0x2000, .size = 4096, .kind = MEMORY_MANAGED},
		{.address = 0x1000, .size = 100},
		{.address = 0x3000, .size = 64, .kind = MEMORY_HOST},
	};
	struct process p = {
		.pid = 5,
		.comm = "x",
		.ended = true,
		.since_attach = true,
		.memory[MEMORY_DEVICE] =
			{
				.allocations = 2,
				.frees = 1,
				.live_bytes = 100,
				.live_count = 1,
			},
		.memory[MEMORY_MANAGED] =
			{
				.allocations = 1,
				.live_bytes = 4096,
				.live_count = 1,
			},
		.memory[MEMORY_HOST] = {.allocations = 1, .live_bytes = 64, .live_count = 1},
		.live_at_exit_bytes = 4196,
		.live_at_exit_count = 2,
		.live = live,
		.live_listed = 3,
	};
	struct model model = model_of(&p, 1, SECTION_MEMORY);

	(void)state;
	expect_report(&model, &plain,
		      RULE DATE "\n"
				"num_successful_mallocs:  3\n"
				"num_failed_mallocs:      0\n"
				"num_successful_frees:    1\n"
				"num_failed_frees:        0\n"
				"live: 0 Bytes in 0 allocations\n"
				"allocated before attach: unknown, of 1 process\n"
				"live at exit: 4196 Bytes in 2 allocations\n"
				"host: 0 Bytes in 0 allocations (1 allocated, 0 freed)\n"
				"per-process memory maps:\n"
				"process 5 (x) since attach, ended\n"
				"        0x0000000000002000: 4096 Bytes managed live at exit\n"
				"        0x0000000000001000: 100 Bytes live at exit\n"
				"        0x0000000000003000: 64 Bytes host live at exit\n"
				"        total: 4196 Bytes in 2 allocations live at exit\n"
				"        allocated before attach: unknown\n"
				"        of these: device 100 Bytes in 1 allocation, managed 4096 "
				"Bytes in 1 allocation\n"
				"        host: 64 Bytes in 1 allocation live at exit (1 allocated, "
				"0 freed)\n" RULE);
}

static void counts_all_kinds_but_host(void **state)
{
	struct process p[] = {
		{
			.pid = 1,
			.comm = "one",
			.memory[MEMORY_DEVICE] = {.allocations = 10, .allocation_failures = 1},
			.memory[MEMORY_MANAGED] = {.allocations = 20, .frees = 3},
			.memory[MEMORY_POOL] = {.allocations = 30, .free_failures = 5},
			.memory[MEMORY_UNKNOWN] =
				{
					.frees = 2,
					.unknown_frees = 2,
					.free_failures = 4,
				},
		},
		{
			.pid = 2,
			.comm = "two",
			.memory[MEMORY_DEVICE] =
				{
					.allocations = 1,
					.live_bytes = 8,
					.live_count = 1,
				},
			.memory[MEMORY_HOST] =
				{
					.allocations = 7,
					.allocation_failures = 2,
					.frees = 4,
					.free_failures = 1,
					.live_bytes = 4096,
					.live_count = 3,
				},
		},
		{.pid = 3, .comm = "idle", .since_attach = true},
	};
	struct model model = model_of(p, COUNT(p), SECTION_MEMORY);

	(void)state;
	expect_report(&model, &plain,
		      RULE DATE "\n"
				"num_successful_mallocs:  61\n"
				"num_failed_mallocs:      1\n"
				"num_successful_frees:    5\n"
				"num_failed_frees:        9\n"
				"live: 8 Bytes in 1 allocation\n"
				"allocated before attach: unknown, of 1 process\n"
				"host: 4096 Bytes in 3 allocations (7 allocated, 4 freed,"
				" 2 failed to allocate, 1 failed to free)\n"
				"frees of addresses never seen allocated: 2\n"
				"per-process memory maps:\n"
				"process 1 (one)\n"
				"        total: 0 Bytes in 0 allocations\n"
				"        frees of addresses never seen allocated: 2\n"
				"process 2 (two)\n"
				"        ... and 1 more allocation (8 Bytes)\n"
				"        total: 8 Bytes in 1 allocation\n"
				"        host: 4096 Bytes in 3 allocations (7 allocated, 4 freed,"
				" 2 failed to allocate, 1 failed to free)\n"
				"process 3 (idle) since attach\n"
				"        total: 0 Bytes in 0 allocations\n"
				"        allocated before attach: unknown\n" RULE);
}

static void cuts_long_lists(void **state)
{
	struct allocation live[] = {
		{.address = 1, .size = 300},
		{.address = 2, .size = 200},
		{.address = 3, .size = 100},
	};
	struct allocation freed[] = {{.address = 4}, {.address = 5}, {.address = 6}};
	struct kernel kernels[] = {
		KERNEL(0xa, "f<int>(int)", "f", 50, 2),
		KERNEL(0xb, NULL, NULL, 40, 0),
		KERNEL(0xc, "g()", "g", 2, 1),
		KERNEL(0xd, "h()", "h", 1, 3),
	};
	struct failure failures[] = {
		FAILURE("cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY", 2, LAYER_DRIVER, 9, false),
		FAILURE("cuMemFree_v2", NULL, 12345, LAYER_DRIVER, 8, false),
		FAILURE("cuLaunchKernel", "CUDA_ERROR_INVALID_HANDLE", 400, LAYER_DRIVER, 1, true),
	};
	struct process p = {
		.pid = 9,
		.comm = "big",
		.since_attach = true,
		.memory[MEMORY_DEVICE] =
			{
				.allocations = 9,
				.live_bytes = 650,
				.live_count = 5,
			},
		.live = live,
		.live_listed = 3,
		.freed = freed,
		.freed_listed = 3,
		.freed_unlisted = 10,
		.kernels = kernels,
		.kernel_count = 4,
		.launches = 93,
		.graph_launches = 6,
		.failures = failures,
		.failure_count = 3,
	};
	struct report_options options = {.top = 2};
	struct model model = model_of(&p, 1, SECTION_MEMORY | SECTION_LAUNCH);

	(void)state;
	expect_report(&model, &options,
		      RULE DATE "\n"
				"num_successful_mallocs:  9\n"
				"num_failed_mallocs:      0\n"
				"num_successful_frees:    0\n"
				"num_failed_frees:        0\n"
				"live: 650 Bytes in 5 allocations\n"
				"allocated before attach: unknown, of 1 process\n"
				"per-process memory maps:\n"
				"process 9 (big) since attach\n"
				"        0x0000000000000001: 300 Bytes\n"
				"        0x0000000000000002: 200 Bytes\n"
				"        ... and 3 more allocations (150 Bytes)\n"
				"        0x0000000000000004: 0 Bytes\n"
				"        0x0000000000000005: 0 Bytes\n"
				"        ... and 11 more frees\n"
				"        total: 650 Bytes in 5 allocations\n"
				"        allocated before attach: unknown\n"
				"\n"
				"total kernel launches: 93 calls of 4 kernels\n"
				"total graph launches: 6 calls\n"
				"process 9 (big) since attach\n"
				"        0xa (f) -> 50\n"
				"        0xb (unknown) -> 40\n"
				"        ... and 2 more kernels (3 launches)\n"
				"        graph launches: 6\n"
				"\n"
				"errors:\n"
				"process 9 (big) since attach\n"
				"        cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2) x 9\n"
				"        cuMemFree: unknown error (12345) x 8\n"
				"        ... and 1 more error (x 1)\n" RULE);
	options = (struct report_options){.top = 3, .full_names = true};
	model.sections = SECTION_LAUNCH;
	expect_report(&model, &options,
		      RULE DATE "\n"
				"total kernel launches: 93 calls of 4 kernels\n"
				"total graph launches: 6 calls\n"
				"process 9 (big) since attach\n"
				"        0xa (f<int>(int)) -> 50\n"
				"        0xb (unknown) -> 40\n"
				"        0xc (g()) -> 2\n"
				"        ... and 1 more kernel (1 launch)\n"
				"        graph launches: 6\n"
				"\n"
				"errors:\n"
				"process 9 (big) since attach\n"
				"        cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2) x 9\n"
				"        cuMemFree: unknown error (12345) x 8\n"
				"        cuLaunchKernel: CUDA_ERROR_INVALID_HANDLE (400) x 1 "
				"(sampled 1/64)\n" RULE);
}

static void cuts_nothing_with_top_0(void **state)
{
	struct kernel kernels[30] = {{0}};
	struct process p = {
		.pid = 1,
		.comm = "k",
		.kernels = kernels,
		.kernel_count = 30,
		.launches = 30,
	};
	struct report_options options = {.top = 0};
	struct model model = model_of(&p, 1, SECTION_LAUNCH);
	char *text, *at;
	int entries = 0, i;

	(void)state;
	for (i = 0; i < 30; i++)
		kernels[i] = (struct kernel)KERNEL(1, "k", "k", 1, (uint64_t)i);
	text = print(&model, &options);
	for (at = text; (at = strstr(at, "0x1 (k) -> 1\n")); at++)
		entries++;
	assert_int_equal(entries, 30);
	assert_null(strstr(text, "more"));
	free(text);
}

static void survives_a_list_ahead_of_its_counter(void **state)
{
	struct allocation live[] = {{.address = 1, .size = 300}, {.address = 2, .size = 200}};
	struct process p = {
		.pid = 1,
		.comm = "race",
		.memory[MEMORY_DEVICE] =
			{
				.allocations = 1,
				.live_bytes = 300,
				.live_count = 1,
			},
		.live = live,
		.live_listed = 2,
	};
	struct model model = model_of(&p, 1, SECTION_MEMORY);
	char *text = print(&model, &plain);

	(void)state;
	assert_null(strstr(text, "more"));
	assert_non_null(strstr(text, "total: 300 Bytes in 1 allocation\n"));
	free(text);
}

static void leaves_reported_ends_out(void **state)
{
	struct kernel k[] = {KERNEL(0x10, "a", "a", 1, 0), KERNEL(0x20, "b", "b", 2, 0)};
	struct process p[] = {launcher(1, &k[0]), launcher(2, &k[1])};
	struct model model = model_of(p, 2, SECTION_LAUNCH);

	(void)state;
	p[0].ended = p[0].reported_end = true;
	p[1].ended = true;
	expect_report(&model, &plain,
		      RULE DATE "\n"
				"total kernel launches: 2 calls of 1 kernel\n"
				"process 2 (run) ended\n"
				"        0x20 (b) -> 2\n" RULE);
	p[1].launches = k[1].launches = 1;
	p[1].ended = false;
	expect_report(&model, &plain,
		      RULE DATE "\n"
				"total kernel launches: 1 call of 1 kernel\n"
				"process 2 (run)\n"
				"        0x20 (b) -> 1\n" RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_what_an_ended_process_left),
		cmocka_unit_test(counts_all_kinds_but_host),
		cmocka_unit_test(cuts_long_lists),
		cmocka_unit_test(cuts_nothing_with_top_0),
		cmocka_unit_test(survives_a_list_ahead_of_its_counter),
		cmocka_unit_test(leaves_reported_ends_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
