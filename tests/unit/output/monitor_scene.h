/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine for the tests of the monitor's report: three GPUs, up to a hundred processes of every
 * kind, and findings. The including file has cmocka.h.
 */
#ifndef TESTS_MONITOR_SCENE_H
#define TESTS_MONITOR_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "finding/finding.h"
#include "model_builder.h"

#define MOST 100
#define KERNELS 6
#define MIB (1ull << 20)
#define BEGAN_NS (1000 * NS_PER_S)

/* Several processes of every kind, and their findings. */
struct scene {
	struct model model;
	struct process processes[MOST];
	struct kernel kernels[MOST][KERNELS];
	struct failure failure;
	struct gpu gpus[3];
	struct process_gpu of[MOST];
	struct device_totals devices[MOST];
	struct finding found[5];
	struct finding_list findings;
};

#define LONG_NAME \
	"a_name_that_is_so_long_that_it_does_not_fit_into_a_line_of_eighty_or_a_hundred_columns_" \
	"since_its_author_wrote_a_sentence"

static const char *const names[KERNELS] = {
	"vectorized_elementwise_kernel",
	"ampere_sgemm_128x64_tn",
	"flash_fwd_kernel",
	LONG_NAME,
	"softmax_warp_forward",
	"layer_norm",
};

static inline void set_kernels(struct scene *scene, size_t i)
{
	for (size_t k = 0; k < KERNELS; k++)
		scene->kernels[i][k] =
			(struct kernel)KERNEL(0x100 + k, (char *)names[k], (char *)names[k], 0, k);
	scene->processes[i].kernels = scene->kernels[i];
	scene->processes[i].kernel_count = KERNELS;
}

static inline void set_process(struct scene *scene, size_t i)
{
	struct process *process = &scene->processes[i];

	*process = (struct process){
		.pid = 4000 + (int)i,
		.comm = "pt_main_thread",
		.start_ns = BEGAN_NS + i,
		.identified = true,
		.parent = 1,
		.cgroup_known = true,
		.memory[MEMORY_DEVICE] = {.allocations = 10 + i,
					  .frees = i,
					  .live_bytes = (i + 1) * 300 * MIB,
					  .live_count = 10},
		.gpus = &scene->of[i],
		.gpu_count = 1,
		.devices = &scene->devices[i],
		.device_count = 1,
	};
	snprintf(process->command, sizeof(process->command),
		 "/usr/bin/python3 -u /home/ann/train_%zu.py --lr 0.1", i);
	snprintf(process->user, sizeof(process->user), "%s", i % 2 ? "ann" : "root");
	scene->of[i] = (struct process_gpu){
		.ordinal = 0,
		.gpu = (int)(i % 3),
		.used_bytes = (i + 2) * 300 * MIB,
		.untracked_bytes = GPU_UNKNOWN_BYTES,
	};
	set_kernels(scene, i);
}

/* What one interval adds: the first processes do most, and some nothing. */
static inline void work(struct scene *scene, uint64_t ns)
{
	scene->model.now_ns += ns;
	scene->model.wall.tv_sec += (time_t)(ns / NS_PER_S);
	for (size_t i = 0; i < scene->model.process_count; i++) {
		struct process *process = &scene->processes[i];
		uint64_t steps = i % 7 == 6 ? 0 : (MOST - i) * 100;

		if (process->ended)
			continue;
		for (size_t k = 0; k < KERNELS; k++) {
			process->kernels[k].launches += steps * (KERNELS - k);
			process->launches += steps * (KERNELS - k);
		}
		process->copies[COPY_H2D][1].calls += steps;
		process->copies[COPY_H2D][1].bytes += steps * MIB;
		process->copies[COPY_D2H][0].calls += steps / 10;
		process->copies[COPY_D2H][0].bytes += steps * 1000;
		process->copy_waits.calls += steps / 10;
		process->copy_waits.ns += ns / 50;
		process->waits[WAIT_STREAM].calls += steps;
		process->waits[WAIT_STREAM].ns += i % 7 == 6 ? 0 : ns / 5;
		process->memory[MEMORY_DEVICE].live_bytes += i % 3 * MIB;
	}
}

/* Names and counts that a program can choose. */
static inline void be_hostile(struct process *process)
{
	strcpy(process->command, "");
	strcpy(process->comm, "a\x1b[31m\nb\xff");
	strcpy(process->user, "\xc3\xa4-very-long-user-name");
}

static inline void add_finding(struct scene *scene, const char *id, const struct process *process,
			       const char *subject, const char *evidence)
{
	const struct finding_kind *kind = finding_kind__find(id);
	struct finding *finding = &scene->found[scene->findings.count++];

	assert_non_null(kind);
	*finding = (struct finding){
		.kind = kind,
		.severity = kind->severity,
		.pid = process->pid,
		.start_ns = process->start_ns,
		.subject = (char *)subject,
		.evidence = (char *)evidence,
	};
	memcpy(finding->comm, process->comm, sizeof(finding->comm));
}

static inline void set_findings(struct scene *scene)
{
	size_t last = scene->model.process_count - 1;

	add_finding(scene, "oom", &scene->processes[last], "cudaMalloc",
		    "2 calls failed for want of memory, all of them cudaMalloc "
		    "(cudaErrorMemoryAllocation); the process has 300.0 MiB allocated on devices");
	add_finding(scene, "alloc-churn", &scene->processes[last / 2], "cudaMalloc of 1.0 GiB",
		    "1,000 allocations, each freed before the next; 412 us and 23 us each");
	scene->found[1].has_cost = true;
	scene->found[1].cost_ns = 435000000;
	scene->found[1].share = 0.321;
	add_finding(scene, "alloc-churn", &scene->processes[0], "cudaMalloc of 2.0 MiB",
		    "20 allocations, each freed before the next; 412 us and 23 us each");
	add_finding(scene, "pageable-copies", &scene->processes[last / 3], "H2D", "9 copies");
	add_finding(scene, "cold-start", &scene->processes[0], NULL, "it took 20 s");
}

static inline void set_gpus(struct scene *scene)
{
	for (unsigned int i = 0; i < 3; i++)
		scene->gpus[i] = (struct gpu){
			.index = i,
			.mig = GPU_NONE,
			.total_bytes = 81920 * MIB,
			.used_bytes = (i + 1) * 10000 * MIB,
			.busy_percent = 97 - 40 * i,
		};
	scene->gpus[2].busy_percent = GPU_UNKNOWN_PERCENT;
	scene->model.gpus = scene->gpus;
	scene->model.gpu_count = 3;
}

static inline struct scene *new_scene(size_t processes)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->model = (struct model){
		.wall = {.tv_sec = 1767357434},
		.now_ns = BEGAN_NS,
		.sections = SECTION_ALL,
		.launch_sample = 64,
		.libraries = 1,
		.processes = scene->processes,
		.process_count = processes,
	};
	for (size_t i = 0; i < processes; i++)
		set_process(scene, i);
	scene->failure = (struct failure)FAILURE("cudaMalloc", "cudaErrorMemoryAllocation", 2,
						 LAYER_RUNTIME, 2, false);
	scene->processes[processes - 1].failures = &scene->failure;
	scene->processes[processes - 1].failure_count = 1;
	set_gpus(scene);
	if (processes > 4) {
		be_hostile(&scene->processes[1]);
		scene->processes[2].since_attach = true;
		scene->model.lost[LOSS_RING_FULL] = 8;
	}
	scene->findings.items = scene->found;
	set_findings(scene);
	return scene;
}

#endif
