// SPDX-License-Identifier: BSD-2-Clause
// The text report of models built by hand, compared to the letter.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "model_builder.h"
#include "output/report/text.h"

#define RULE "========================\n"
#define DATE "2026-01-02 12:37:14\n"
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct report_options plain = {.top = 20};

static struct model model_of(struct process *processes, size_t count, unsigned int sections)
{
	struct model model = {
		.wall = {.tv_sec = 1767357434},
		.sections = sections,
		.launch_sample = 64,
		.libraries = 1,
		.processes = processes,
		.process_count = count,
	};

	return model;
}

static char *print(const struct model *model, const struct report_options *options)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	report_text__print(out, model, options);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void expect_report(const struct model *model, const struct report_options *options,
			  const char *expected)
{
	char *text = print(model, options);

	assert_string_equal(text, expected);
	free(text);
}

/* A process that has only launched one kernel. */
static struct process launcher(int pid, struct kernel *kernel)
{
	struct process p = {
		.pid = pid,
		.comm = "run",
		.kernels = kernel,
		.kernel_count = 1,
		.launches = kernel->launches,
	};

	return p;
}

static void has_the_shape_of_the_example(void **state)
{
	struct allocation live[] = {{.address = 0x7989d8000000, .size = 8000000}};
	struct allocation freed[] = {{.address = 0x7989dcc00000}, {.address = 0x7989dd400000}};
	struct kernel kernels[] = {
		KERNEL(0x626693de7b80, "convolution_part1(float*)", "convolution_part1", 1000, 0),
		KERNEL(0x626693de7c60, "convolution_part2(float*)", "convolution_part2", 1000, 1),
	};
	struct failure failures[] = {
		FAILURE("cudaMalloc", "cudaErrorMemoryAllocation", 2, LAYER_RUNTIME, 1, false),
	};
	struct process p = {
		.pid = 246649,
		.comm = "train",
		.memory[MEMORY_DEVICE] =
			{
				.allocations = 3,
				.frees = 2,
				.live_bytes = 8000000,
				.live_count = 1,
			},
		.live = live,
		.live_listed = 1,
		.freed = freed,
		.freed_listed = 2,
		.kernels = kernels,
		.kernel_count = 2,
		.launches = 2000,
		.copies[COPY_H2D] = {{2, 16000000, 5253241}, {5, 40000000, 1000}},
		.copies[COPY_D2H] = {{1, 8000000, 2632350}},
		.inflight[COPY_H2D] = {2, 16000000, 812000},
		.failures = failures,
		.failure_count = 1,
	};
	struct model model = model_of(&p, 1, SECTION_ALL);

	(void)state;
	expect_report(
		&model, &plain,
		RULE DATE
		"\n"
		"num_successful_mallocs:  3\n"
		"num_failed_mallocs:      0\n"
		"num_successful_frees:    2\n"
		"num_failed_frees:        0\n"
		"live: 8000000 Bytes in 1 allocation\n"
		"per-process memory maps:\n"
		"process 246649 (train)\n"
		"        0x00007989d8000000: 8000000 Bytes\n"
		"        0x00007989dcc00000: 0 Bytes\n"
		"        0x00007989dd400000: 0 Bytes\n"
		"        total: 8000000 Bytes in 1 allocation\n"
		"\n"
		"total kernel launches: 2000 calls of 2 kernels\n"
		"process 246649 (train)\n"
		"        0x626693de7b80 (convolution_part1) -> 1000\n"
		"        0x626693de7c60 (convolution_part2) -> 1000\n"
		"\n"
		"copies:\n"
		"process 246649 (train)\n"
		"        H2D 2 calls, 16000000 Bytes, 3045738811.5 bytes/sec for 0.00525 secs\n"
		"        D2H 1 call, 8000000 Bytes, 3039109540.9 bytes/sec for 0.00263 secs\n"
		"        H2D async 5 calls, 40000000 Bytes, 2 in flight (16000000 Bytes,"
		" oldest 0.8 ms)\n"
		"\n"
		"errors:\n"
		"process 246649 (train)\n"
		"        cudaMalloc: cudaErrorMemoryAllocation (2) x 1\n" RULE);
}

static void says_that_there_is_no_process(void **state)
{
	struct kernel k = KERNEL(0x10, "a", "a", 1, 0);
	struct process gone = launcher(7, &k);
	struct model model = model_of(NULL, 0, SECTION_ALL);

	(void)state;
	expect_report(&model, &plain, RULE DATE "\nno CUDA process seen yet\n" RULE);
	model.libraries = 0;
	expect_report(&model, &plain,
		      RULE DATE
		      "\nno CUDA library found yet, waiting for a process that brings one\n" RULE);
	model.final = true;
	expect_report(&model, &plain, RULE DATE "\nno CUDA process was seen\n" RULE);
	/* All processes have ended, and a report has said so. */
	gone.ended = gone.reported_end = true;
	model = model_of(&gone, 1, SECTION_ALL);
	expect_report(&model, &plain, RULE DATE "\nno CUDA process is running\n" RULE);
}

static void shows_losses_without_a_process_too(void **state)
{
	struct model model = model_of(NULL, 0, SECTION_COPY);

	(void)state;
	model.lost[LOSS_PROCESS_TABLE_FULL] = 3;
	model.lost[LOSS_RING_FULL] = 1203;
	expect_report(&model, &plain,
		      RULE DATE "\nno CUDA process seen yet\n"
				"\n"
				"lost:\n"
				"        calls of processes beyond --max-processes: 3\n"
				"        notices that did not fit the ring buffer: 1203\n" RULE);
}

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

static void shows_every_kind_of_copy(void **state)
{
	struct process p = {
		.pid = 1,
		.comm = "cp",
		.copies[COPY_H2H][0] = {1, 10, 0},	     /* no time: no bandwidth */
		.copies[COPY_D2D] = {{3, 30, 3}, {1, 5, 7}}, /* 3 ns */
		.copies[COPY_DEFAULT][0] = {1, 0, 2000000000},
		.copies[COPY_P2P][1] = {1, 1, 9},
		.copies[COPY_SET] = {{2, 10, 9999}, {1, 5, 10000}},
		.inflight[COPY_D2H] = {1, 77, 40000}, /* issued before the counters were read */
	};
	struct model model = model_of(&p, 1, SECTION_COPY);

	(void)state;
	expect_report(
		&model, &plain,
		RULE DATE
		"\n"
		"copies:\n"
		"process 1 (cp)\n"
		"        H2H 1 call, 10 Bytes\n"
		"        D2D 3 calls, 30 Bytes, 10000000000.0 bytes/sec for 0.000000003 secs\n"
		"        unknown 1 call, 0 Bytes, 0.0 bytes/sec for 2.00000 secs\n"
		"        set 2 calls, 10 Bytes, 1000100.0 bytes/sec for 0.000009999 secs\n"
		"        D2H async 0 calls, 0 Bytes, 1 in flight (77 Bytes, oldest 0.040 ms)\n"
		"        D2D async 1 call, 5 Bytes\n"
		"        P2P async 1 call, 1 Bytes\n"
		"        set async 1 call, 5 Bytes\n" RULE);
	memset(p.copies, 0, sizeof(p.copies));
	memset(p.inflight, 0, sizeof(p.inflight));
	expect_report(&model, &plain, RULE DATE "\ncopies: none\n" RULE);
}

static void shows_waits_and_queries(void **state)
{
	struct process p[] = {
		{.pid = 1,
		 .comm = "busy",
		 .waits[WAIT_STREAM] = {2, 1500000000},
		 .waits[WAIT_EVENT] = {1, 9999},
		 .waits[WAIT_CONTEXT] = {3, 0},
		 .copy_waits = {1, 10000},
		 .free_waits = {4, 250000000},
		 .queries[WAIT_STREAM] = {5, 3},
		 .queries[WAIT_EVENT] = {1, 0}},
		{.pid = 2, .comm = "idle"},
		{.pid = 3,
		 .comm = "gone",
		 .ended = true,
		 .reported_end = true,
		 .waits[WAIT_STREAM] = {1, 1}},
		{.pid = 4, .comm = "asks", .queries[WAIT_EVENT] = {2, 2}},
	};
	struct model model = model_of(p, COUNT(p), SECTION_COPY);

	(void)state;
	expect_report(&model, &plain,
		      RULE DATE "\n"
				"copies: none\n"
				"\n"
				"waits:\n"
				"process 1 (busy)\n"
				"        stream 2 calls, 1.50000 secs\n"
				"        event 1 call, 0.000009999 secs\n"
				"        device 3 calls, 0.00000 secs\n"
				"        in synchronous copies 1 call, 0.00001 secs\n"
				"        in frees 4 calls, 0.25000 secs\n"
				"        stream queries 5 (3 not ready)\n"
				"        event queries 1 (0 not ready)\n"
				"process 4 (asks)\n"
				"        event queries 2 (2 not ready)\n" RULE);
}

/* A threshold in the unit in which it is given, and seconds as with the waits above. */
static void reports_where_waits_come_from(void **state)
{
	struct call_site sites[] = {
		{.kind = SITE_WAIT,
		 .row = (uint16_t)api__find("cuCtxSynchronize", API_NEWEST),
		 .calls = 2,
		 .amount = 938110},
		{.kind = SITE_WAIT,
		 .row = (uint16_t)api__find("cuStreamSynchronize", API_NEWEST),
		 .calls = 1,
		 .amount = 9999},
	};
	struct process p = {.pid = 1, .comm = "busy", .sites = sites, .site_count = COUNT(sites)};
	struct model model = model_of(&p, 1, SECTION_COPY);
	char *text;

	(void)state;
	model.stacks = true;
	model.min_wait_ns = 1;
	text = print(&model, &plain);
	assert_non_null(strstr(text, "    waits of at least 1ns:\n"
				     "        2 calls of cuCtxSynchronize, 0.00094 secs\n"));
	assert_non_null(strstr(text, "        1 call of cuStreamSynchronize, 0.000009999 secs\n"));
	free(text);
	model.min_wait_ns = 1500000;
	text = print(&model, &plain);
	assert_non_null(strstr(text, "    waits of at least 1.5ms:\n"));
	free(text);
}

static void escapes_what_processes_name(void **state)
{
	struct kernel k = KERNEL(0x1, "k\x1b[2J", NULL, 1, 0);
	struct process p = launcher(1, &k);
	struct model model = model_of(&p, 1, SECTION_LAUNCH);

	(void)state;
	memcpy(p.comm, "a\nb\x07", 5);
	expect_report(&model, &plain,
		      RULE DATE "\n"
				"total kernel launches: 1 call of 1 kernel\n"
				"process 1 (a\\nb\\x07)\n"
				"        0x1 (k\\x1b[2J) -> 1\n" RULE);
}

static void reports_whose_a_process_is(void **state)
{
	struct gpu gpus[] = {
		{.index = 0, .mig = GPU_NONE, .uuid = "GPU-a", .name = "NVIDIA\x1b[31m"},
		{.index = 1, .mig = 2, .name = "MIG"},
	};
	struct process_gpu of[] = {
		{.ordinal = 0, .gpu = 0, .used_bytes = 300, .untracked_bytes = 200},
		{.ordinal = 1, .gpu = 1, .used_bytes = 7, .untracked_bytes = GPU_UNKNOWN_BYTES},
		{.ordinal = 2,
		 .gpu = GPU_NONE,
		 .used_bytes = GPU_UNKNOWN_BYTES,
		 .untracked_bytes = GPU_UNKNOWN_BYTES},
		{.ordinal = GPU_NONE,
		 .gpu = 0,
		 .used_bytes = GPU_UNKNOWN_BYTES,
		 .untracked_bytes = GPU_UNKNOWN_BYTES},
	};
	struct process p[] = {
		{.pid = 6,
		 .comm = "x",
		 .identified = true,
		 .parent = 5,
		 .user = "a\nb",
		 .namespace_pid = 6,
		 .cgroup_known = true,
		 .gpus = of,
		 .gpu_count = COUNT(of)},
		{.pid = 7,
		 .comm = "y",
		 .identified = true,
		 .user = "1000",
		 .namespace_pid = 1,
		 .cgroup_known = true,
		 .container = "c0ffee",
		 .pod = "12-34"},
		{.pid = 8,
		 .comm = "z",
		 .identified = true,
		 .parent = 1,
		 .user = "root",
		 .namespace_pid = 8},
		{.pid = 9, .comm = "gone", .identified = true, .ended = true, .reported_end = true},
	};
	struct model model = model_of(p, COUNT(p), 0);

	(void)state;
	model.gpus = gpus;
	model.gpu_count = COUNT(gpus);
	expect_report(
		&model, &plain,
		RULE DATE
		"\n"
		"processes:\n"
		"process 6 (x)\n"
		"        user a\\nb, parent 5\n"
		"        device 0: GPU 0 (NVIDIA\\x1b[31m, GPU-a), NVML 300 Bytes - tracked 100 ="
		" untracked 200 (context, code, libraries)\n"
		"        device 1: GPU 1:2 (MIG, UUID unknown), NVML 7 Bytes\n"
		"        device 2: GPU unknown\n"
		"        GPU 0 (NVIDIA\\x1b[31m, GPU-a)\n"
		"process 7 (y)\n"
		"        user 1000, parent unknown, own pid 1\n"
		"        pod 12-34\n"
		"        container c0ffee\n"
		"process 8 (z)\n"
		"        user root, parent 1\n"
		"        container unknown\n" RULE);
}

static void dates_in_local_time(void **state)
{
	struct model model = model_of(NULL, 0, SECTION_ALL);
	char *text;

	(void)state;
	setenv("TZ", "XYZ-3:30", 1);
	tzset();
	text = print(&model, &plain);
	setenv("TZ", "UTC", 1);
	tzset();
	assert_non_null(strstr(text, RULE "2026-01-02 16:07:14\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_shape_of_the_example),
		cmocka_unit_test(says_that_there_is_no_process),
		cmocka_unit_test(shows_losses_without_a_process_too),
		cmocka_unit_test(marks_what_an_ended_process_left),
		cmocka_unit_test(counts_all_kinds_but_host),
		cmocka_unit_test(cuts_long_lists),
		cmocka_unit_test(cuts_nothing_with_top_0),
		cmocka_unit_test(survives_a_list_ahead_of_its_counter),
		cmocka_unit_test(leaves_reported_ends_out),
		cmocka_unit_test(shows_every_kind_of_copy),
		cmocka_unit_test(shows_waits_and_queries),
		cmocka_unit_test(reports_where_waits_come_from),
		cmocka_unit_test(escapes_what_processes_name),
		cmocka_unit_test(reports_whose_a_process_is),
		cmocka_unit_test(dates_in_local_time),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
