/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list made by hand: a training job with a worker in a container, a notebook, a process of which
 * nothing but NVML's word is known, and the server of MPS, on two GPUs.
 */
#ifndef TESTS_PS_SCENE_H
#define TESTS_PS_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "output/ps/ps.h"

#define SCENE_ROWS 5

struct ps_scene {
	struct ps ps;
	struct process processes[SCENE_ROWS];
	struct ps_row rows[SCENE_ROWS];
	struct process_gpu on[SCENE_ROWS];
	struct gpu gpus[2];
};

static inline struct ps_row *add_row(struct ps_scene *scene, pid_t pid, const char *user, int gpu,
				     uint64_t bytes)
{
	size_t i = scene->ps.count++;
	struct process *process = &scene->processes[i];

	*process = (struct process){.pid = pid, .identified = *user, .cgroup_known = true};
	snprintf(process->user, sizeof(process->user), "%s", user);
	scene->rows[i] = (struct ps_row){.process = process, .context = PS_NO_CONTEXT};
	if (gpu == GPU_NONE)
		return &scene->rows[i];
	scene->on[i] = (struct process_gpu){.ordinal = 0,
					    .gpu = gpu,
					    .used_bytes = bytes,
					    .untracked_bytes = GPU_UNKNOWN_BYTES};
	process->gpus = &scene->on[i];
	process->gpu_count = 1;
	scene->rows[i].context = PS_HAS_CONTEXT;
	scene->rows[i].on_gpus[0] = UINT64_C(1) << gpu;
	return &scene->rows[i];
}

static inline struct ps_library library(const char *version)
{
	struct ps_library library = {.mapped = true};

	snprintf(library.version, sizeof(library.version), "%s", version);
	return library;
}

static inline void add_trainer(struct ps_scene *scene)
{
	struct ps_row *row = add_row(scene, 4711, "ann", 0, 43700000000);

	row->process->start_ns = 77;
	strcpy(row->process->comm, "python3");
	memset(row->process->container, 'c', 64);
	row->command = (char *)"/opt/conda/bin/python3 /home/ann/train.py --batch-size 64 "
			       "--learning-rate 0.0003";
	row->libraries = (struct ps_libraries){.known = true,
					       .maps_cuda = true,
					       .list = {library("580.159.03"), library("13.0.48"),
							library("2.27.3"), library("9")}};
	row->looked_at = true;
	row->threads = 17;
	row->in_cuda = 2;
	strcpy(row->call, "cudaEventSynchronize");
	row->call_tid = 4720;
	row->state = PS_WAITING;
}

static inline void add_notebook(struct ps_scene *scene)
{
	struct ps_row *row = add_row(scene, 512, "bob", 1, 6335076762);

	row->command = (char *)"python3 -m ipykernel";
	row->libraries = (struct ps_libraries){
		.known = true, .maps_cuda = true, .list = {library("575.57.08"), library("12")}};
	row->libraries.list[PS_CUDART].inside = true;
	row->looked_at = true;
	row->threads = 31;
	row->state = PS_IDLE;
	row->idle_ns = 10920 * NS_PER_S;
	row->main_thread_idle_ns = 14400 * NS_PER_S;
}

static inline void add_others(struct ps_scene *scene)
{
	struct ps_row *row = add_row(scene, 999, "", 1, 1 << 20);

	row = add_row(scene, 30, "root", 0, 30 << 20);
	row->role = PS_MPS_SERVER;
	row->command = (char *)"nvidia-cuda-mps-server";
	row->libraries = (struct ps_libraries){.known = true, .list = {library("580.159.03")}};
	row = add_row(scene, 4790, "ann", GPU_NONE, 0);
	memset(row->process->container, 'c', 64);
	row->ancestor = 4711;
	row->libraries = scene->rows[0].libraries;
	strcpy(row->process->comm, "pt_data\033[2J");
	row->looked_at = true;
	row->threads = 4;
	row->state = PS_STUCK;
	strcpy(row->by, "ncclAllReduce");
	row->in_cuda = 1;
}

static inline void make_scene(struct ps_scene *scene)
{
	*scene = (struct ps_scene){
		.gpus = {{.index = 0,
			  .mig = GPU_NONE,
			  .name = "NVIDIA H200",
			  .uuid = "GPU-0",
			  .total_bytes = 150754820096,
			  .used_bytes = 44238786560,
			  .busy_percent = 87},
			 {.index = 1,
			  .mig = GPU_NONE,
			  .name = "NVIDIA H200",
			  .total_bytes = 150754820096,
			  .used_bytes = GPU_UNKNOWN_BYTES,
			  .busy_percent = GPU_UNKNOWN_PERCENT}},
	};
	scene->ps = (struct ps){
		.model = {.gpus = scene->gpus, .gpu_count = 2},
		.rows = scene->rows,
		.driver = "580.159.03",
		.boot_ns = 5,
	};
	add_trainer(scene);
	add_notebook(scene);
	add_others(scene);
}

#endif
