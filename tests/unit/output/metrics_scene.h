/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics pages, and a process with something in every section of them. */
#ifndef TESTS_METRICS_SCENE_H
#define TESTS_METRICS_SCENE_H

#include <stdio.h>
#include <string.h>

#include "model_builder.h"
#include "output/metrics/metrics.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static inline struct metrics *new_metrics(unsigned int kernels)
{
	struct metrics_options options = {.kernels = kernels, .version = "0.1.0"};
	struct metrics *metrics = metrics__new(&options);

	assert_non_null(metrics);
	return metrics;
}

/* If it is inlined, gcc 12 mistakes the returned text for the local variable. */
static __attribute__((noinline, unused)) char *
render(struct metrics *metrics, const struct model *model, enum exposition form)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(metrics__render(metrics, out, model, NULL, form), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static inline char *render_once(const struct model *model, enum exposition form)
{
	struct metrics *metrics = new_metrics(100);
	char *text = render(metrics, model, form);

	metrics__free(metrics);
	return text;
}

/* One process with something in every section. */
struct busy {
	struct kernel kernels[2];
	struct failure failures[4];
	struct gpu gpus[2];
	struct process_gpu of[3];
	struct process process;
	struct device_totals devices[2];
	struct model model;
};

static inline void fill_busy(struct busy *b)
{
	*b = (struct busy){
		.kernels =
			{
				KERNEL(0x10, "void a::k<int>(int*)", "k", 20, 0),
				KERNEL(0x20, NULL, NULL, 3, 1),
			},
		.failures =
			{
				FAILURE("cudaMalloc", "cudaErrorMemoryAllocation", 2, LAYER_RUNTIME,
					4, false),
				FAILURE("cuLaunchKernel", "CUDA_ERROR_INVALID_HANDLE", 400,
					LAYER_DRIVER, 2, true),
				FAILURE("cuLaunchKernel", "CUDA_ERROR_INVALID_HANDLE", 400,
					LAYER_DRIVER, 1, false),
				FAILURE("cuMemFree_v2", NULL, 4711, LAYER_DRIVER, 1, false),
			},
		.gpus =
			{
				{
					.index = 3,
					.mig = GPU_NONE,
					.uuid = "GPU-a",
					.name = "H200",
					.total_bytes = 100,
					.used_bytes = 60,
				},
				{
					.index = 4,
					.mig = 1,
					.uuid = "MIG-b",
					.total_bytes = 10,
					.used_bytes = GPU_UNKNOWN_BYTES,
				},
			},
		.of =
			{
				{.ordinal = 0, .gpu = 0, .used_bytes = 50, .untracked_bytes = 20},
				{
					.ordinal = 1,
					.gpu = 1,
					.used_bytes = GPU_UNKNOWN_BYTES,
					.untracked_bytes = GPU_UNKNOWN_BYTES,
				},
				/* The GPU is unknown. */
				{.ordinal = 2,
				 .gpu = GPU_NONE,
				 .used_bytes = 1,
				 .untracked_bytes = 1},
			},
		.devices =
			{
				{
					.device = 0,
					.live_bytes = 3000,
					.launches = 20,
					.copies = 5,
					.copy_bytes = 77,
					.waits[WAIT_STREAM] = {3, 2500000000},
					.copy_waits = {2, 5253241},
					.free_waits = {2, 60},
					.objects[OBJECT_STREAM] = 2,
					.objects[OBJECT_MODULE] = 4,
				},
				{
					.device = DEVICE_UNKNOWN,
					.launches = 3,
					.waits[WAIT_CONTEXT] = {1, 40},
					.had_objects[OBJECT_STREAM] = true,
				},
			},
		.process =
			{
				.pid = 42,
				.comm = "train",
				.identified = true,
				.parent = 7,
				.user = "ann",
				.cgroup_known = true,
				.container = "c0ffee",
				.gpu_count = 3,
				.memory[MEMORY_DEVICE] =
					{
						.allocations = 5,
						.allocation_failures = 4,
						.allocation_ns = 1500000000,
						.frees = 2,
						.free_failures = 1,
						.live_bytes = 3000,
						.live_count = 3,
					},
				.memory[MEMORY_HOST] =
					{
						.allocations = 1,
						.allocation_ns = 7,
						.live_bytes = 4096,
						.live_count = 1,
					},
				.memory[MEMORY_UNKNOWN] = {.frees = 6, .unknown_frees = 6},
				.kernel_count = 2,
				.launches = 23,
				.graph_launches = 9,
				.copies[COPY_H2D] =
					{
						{.calls = 2, .bytes = 100, .ns = 5253241},
						{.calls = 1, .bytes = 50, .ns = 1000000000},
					},
				.inflight[COPY_H2D] = {1, 50, 30000000},
				.objects[OBJECT_STREAM] = {.created = 5, .destroyed = 3, .live = 2},
				.objects[OBJECT_MODULE] = {.created = 4,
							   .ns = 250000000,
							   .live = 4},
				.device_count = 2,
				.queries[WAIT_STREAM] = {7, 5},
				.queries[WAIT_EVENT] = {2, 0},
				.failure_count = 4,
			},
		.model =
			{
				.sections = SECTION_ALL,
				.launch_sample = 64,
				.process_count = 1,
				.gpu_count = 2,
				.probes_attached = {12, 34},
				.live_at_exit_bytes = 77,
			},
	};
	b->process.kernels = b->kernels;
	b->process.failures = b->failures;
	b->process.devices = b->devices;
	b->process.gpus = b->of;
	b->model.gpus = b->gpus;
	b->model.processes = &b->process;
	b->model.lost[LOSS_RING_FULL] = 8;
}

/* Cuts the page before gpuprobe's own numbers, which differ each time. */
static inline void cut_own(char *page)
{
	char *own = strstr(page, "# TYPE process_cpu_seconds");

	assert_non_null(own);
	*own = '\0';
}

/* Labels of the process on its device 0, and on an unknown device. */
#define ON_GPU_3 "pid=\"42\",comm=\"train\",device=\"0\",gpu=\"3\",uuid=\"GPU-a\""
#define ON_UNKNOWN "pid=\"42\",comm=\"train\",device=\"unknown\",gpu=\"unknown\",uuid=\"\""

static inline void assert_has(const char *page, const char *format, const char *name,
			      const char *unit)
{
	char line[256];

	snprintf(line, sizeof(line), format, name, unit);
	if (!strstr(page, line))
		fail_msg("the page has no '%s'", line);
}

static inline void assert_has_not(const char *page, const char *format, const char *name)
{
	char line[256];

	snprintf(line, sizeof(line), format, name);
	if (strstr(page, line))
		fail_msg("the page has '%s'", line);
}

#endif
