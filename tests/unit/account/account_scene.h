/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readings of processes whose allocations a test chose: what gpuprobe would have counted of them up
 * to a moment. The test knows the true byte-seconds.
 */
#ifndef TESTS_ACCOUNT_SCENE_H
#define TESTS_ACCOUNT_SCENE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "account/account.h"
#include "base/clock.h"
#include "model/profile.h"

#define SCENE_BEGAN (1000 * NS_PER_S)
#define SCENE_WALL 1800000000 /* seconds, at SCENE_BEGAN */
#define SCENE_PROCESSES 4
#define SCENE_SIZES 8
#define SECOND(s) ((uint64_t)((int64_t)SCENE_BEGAN + (int64_t)((s) * (double)NS_PER_S)))

struct made {
	uint64_t size, from_ns, to_ns;
};

struct scene_process {
	struct profile profile;
	struct thread_profile thread;
	struct profile_size sizes[SCENE_SIZES];
	struct device_totals device;
	struct process_gpu gpu;
	struct made *made;
	size_t made_count;
};

struct scene {
	struct model model;
	struct process processes[SCENE_PROCESSES];
	struct scene_process of[SCENE_PROCESSES];
	struct gpu gpus[2];
	struct account *account;
	struct account_list list;
};

static inline struct scene *scene__new(const struct account_options *options)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->account = account__new(options);
	scene->model.processes = scene->processes;
	scene->model.gpus = scene->gpus;
	scene->model.gpu_count = 2;
	return scene;
}

static inline void scene__free(struct scene *scene)
{
	account_list__clear(&scene->list);
	account__free(scene->account);
	for (size_t i = 0; i < SCENE_PROCESSES; i++)
		free(scene->of[i].made);
	free(scene);
}

/* A process that begins to use the GPU at a moment. */
static inline struct process *scene__add(struct scene *scene, const char *user, int gpu,
					 uint64_t first_ns)
{
	size_t i = scene->model.process_count++;
	struct process *process = &scene->processes[i];
	struct scene_process *of = &scene->of[i];

	process->pid = 100 + (int)i;
	process->start_ns = first_ns - NS_PER_S;
	process->identified = process->cgroup_known = true;
	strcpy(process->user, user);
	strcpy(process->comm, "train");
	process->profile = &of->profile;
	of->profile.threads = &of->thread;
	of->profile.thread_count = 1;
	of->profile.sizes = of->sizes;
	of->thread.first_ns = of->thread.latest_ns = first_ns;
	of->device.device = 0;
	of->device.launches = 1;
	process->devices = &of->device;
	process->device_count = 1;
	of->gpu = (struct process_gpu){.ordinal = 0, .gpu = gpu, .used_bytes = GPU_UNKNOWN_BYTES};
	process->gpus = &of->gpu;
	process->gpu_count = 1;
	of->profile.totals.queues[0].launched_epoch = 1;
	return process;
}

static inline struct scene_process *scene__of(struct scene *scene, const struct process *process)
{
	return &scene->of[process - scene->processes];
}

static inline void scene__make(struct scene *scene, const struct process *process, uint64_t size,
			       uint64_t from_ns, uint64_t to_ns)
{
	struct scene_process *of = scene__of(scene, process);

	of->made = realloc(of->made, (of->made_count + 1) * sizeof(*of->made));
	of->made[of->made_count++] = (struct made){size, from_ns, to_ns};
}

static inline struct size_record *scene__size(struct scene_process *of, uint64_t size)
{
	struct profile *profile = &of->profile;

	for (size_t i = 0; i < profile->size_count; i++)
		if (of->sizes[i].key.size == size)
			return &of->sizes[i].record;
	of->sizes[profile->size_count].key = (struct size_key){.size = size};
	return &of->sizes[profile->size_count++].record;
}

/* How many of that size are live at a moment. */
static inline uint64_t scene__live(const struct scene_process *of, uint64_t size, uint64_t ns)
{
	uint64_t live = 0;

	for (size_t i = 0; i < of->made_count; i++)
		live += of->made[i].size == size && of->made[i].from_ns <= ns &&
			of->made[i].to_ns > ns;
	return live;
}

static inline void scene__count(struct process *process, struct scene_process *of, uint64_t now_ns)
{
	process->memory[MEMORY_DEVICE].live_bytes = 0;
	memset(of->sizes, 0, sizeof(of->sizes));
	of->profile.size_count = 0;
	for (size_t i = 0; i < of->made_count; i++) {
		const struct made *made = &of->made[i];
		struct size_record *record;
		uint64_t live;

		if (made->from_ns > now_ns)
			continue;
		record = scene__size(of, made->size);
		record->allocations++;
		if (made->from_ns > record->latest_ns)
			record->latest_ns = made->from_ns;
		live = scene__live(of, made->size, made->from_ns);
		if (live > record->peak)
			record->peak = live;
		if (made->to_ns > now_ns) {
			record->live++;
			process->memory[MEMORY_DEVICE].live_bytes += made->size;
		}
	}
}

static inline void scene__set_time(struct scene *scene, uint64_t now_ns)
{
	uint64_t wall_ns = SCENE_WALL * NS_PER_S + now_ns - SCENE_BEGAN;

	scene->model.now_ns = now_ns;
	scene->model.wall.tv_sec = (time_t)(wall_ns / NS_PER_S);
	scene->model.wall.tv_nsec = (long)(wall_ns % NS_PER_S);
	for (size_t i = 0; i < scene->model.process_count; i++) {
		struct process *process = &scene->processes[i];

		scene__count(process, &scene->of[i],
			     process->ended ? process->ended_ns - 1 : now_ns);
	}
}

/* A reading of a source, which must have been added. */
static inline int scene__read(struct scene *scene, int source, uint64_t now_ns)
{
	scene__set_time(scene, now_ns);
	return account__take(scene->account, source, &scene->model, NULL, SCENE_BEGAN);
}

static inline const struct account_list *scene__list(struct scene *scene)
{
	account_list__clear(&scene->list);
	return account__list(scene->account, &scene->list) ? NULL : &scene->list;
}

/* Byte-seconds of what the test made, up to a moment. */
static inline double scene__truth(struct scene *scene, const struct process *process,
				  uint64_t until_ns)
{
	const struct scene_process *of = scene__of(scene, process);
	double sum = 0;

	for (size_t i = 0; i < of->made_count; i++) {
		uint64_t to_ns = of->made[i].to_ns < until_ns ? of->made[i].to_ns : until_ns;

		if (to_ns > of->made[i].from_ns)
			sum += (double)of->made[i].size *
			       ((double)(to_ns - of->made[i].from_ns) / (double)NS_PER_S);
	}
	return sum;
}

#endif
