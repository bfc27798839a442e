// SPDX-License-Identifier: BSD-2-Clause
// The text report of models built by hand, compared to the letter.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "report_scene.h"

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
		cmocka_unit_test(shows_every_kind_of_copy),
		cmocka_unit_test(shows_waits_and_queries),
		cmocka_unit_test(reports_where_waits_come_from),
		cmocka_unit_test(escapes_what_processes_name),
		cmocka_unit_test(reports_whose_a_process_is),
		cmocka_unit_test(dates_in_local_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
