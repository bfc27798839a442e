/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process with a profile whose time passes as a test sets it: what it submits, how long it waits,
 * how long its devices are idle. It existed before the probes, so that all of its time is judged.
 */
#ifndef TESTS_LOAD_SCENE_H
#define TESTS_LOAD_SCENE_H

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "finding/finding.h"
#include "model/load.h"
#include "model/profile.h"
#include "api/api.h"
#include "model/growth.h"

#define SCENE_BEGAN (1000 * NS_PER_S)
#define MS 1000000ull
#define US 1000ull
#define UNKNOWN_DEVICE (PROFILE_DEVICES - 1)

struct load_scene {
	struct model model;
	struct process process;
	struct profile profile;
	struct thread_profile thread;
	struct profile_function functions[4];
	struct profile_copies copies[4];
	struct gpu gpus[2];
	struct process_gpu used[2];
	struct findings *findings;
};

static inline struct load_scene *scene__new(void)
{
	const struct findings_options options = {
		.needs = NEEDS_PROFILE, .latest = true, .window_ns = GROWTH_WINDOW_NS};
	struct load_scene *scene = calloc(1, sizeof(*scene));

	scene->findings = findings__new(&options);
	findings__begin(scene->findings, SCENE_BEGAN);
	scene->model.now_ns = SCENE_BEGAN;
	scene->model.processes = &scene->process;
	scene->model.process_count = 1;
	scene->model.gpus = scene->gpus;
	scene->process.pid = 100;
	scene->process.start_ns = SCENE_BEGAN - NS_PER_S;
	scene->process.since_attach = true;
	scene->process.profile = &scene->profile;
	scene->process.gpus = scene->used;
	scene->profile.threads = &scene->thread;
	scene->profile.thread_count = 1;
	scene->profile.functions = scene->functions;
	scene->profile.copies = scene->copies;
	scene->profile.totals.queues[0].launched_epoch = 1;
	scene->thread.tid = 100;
	scene->thread.start_ns = scene->thread.first_ns = SCENE_BEGAN;
	scene->thread.time[TIME_LAUNCH].calls = 1;
	return scene;
}

static inline void scene__free(struct load_scene *scene)
{
	findings__free(scene->findings);
	free(scene);
}

/* The events of a stretch of time. */
struct stretch {
	uint64_t ns;
	uint64_t launches, copies;
	uint64_t waited_ns;
	uint64_t idle_ns; /* of device 0 */
};

static inline void scene__pass(struct load_scene *scene, const struct stretch *stretch)
{
	scene->model.now_ns += stretch->ns;
	scene->thread.time[TIME_LAUNCH].calls += stretch->launches;
	scene->thread.time[TIME_COPY].calls += stretch->copies;
	scene->thread.time[TIME_WAIT].calls++;
	scene->thread.time[TIME_WAIT].ns += stretch->waited_ns;
	scene->profile.totals.queues[0].idle_ns += stretch->idle_ns;
}

/* NVML reports this many GPUs, all used by the process. */
static inline void scene__set_gpus(struct load_scene *scene, size_t count,
				   const uint32_t percents[])
{
	scene->model.gpu_count = scene->process.gpu_count = count;
	for (size_t i = 0; i < count; i++) {
		scene->gpus[i].busy_percent = percents[i];
		scene->used[i].gpu = (int)i;
	}
}

#endif
