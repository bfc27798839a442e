/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run made by hand, which the tests of stat and diagnose vary: a process with a profile of two
 * threads, functions, kernels, copies, allocations and an error, and two findings in it.
 */
#ifndef TESTS_STAT_SCENE_H
#define TESTS_STAT_SCENE_H

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpuprobe/profile.h"
#include "model/profile.h"
#include "api/api.h"
#include "output/stat/stat.h"

#define BEGIN (1000 * NS_PER_S)

struct scene {
	struct model model;
	struct process processes[2];
	struct profile *profile;
	struct thread_profile threads[2];
	struct thread_missed missed[2];
	struct profile_function functions[2];
	struct profile_copies copies[2];
	struct profile_size sizes[1];
	struct kernel kernels[2];
	struct function_totals tallies[1];
	struct failure failures[1];
	struct findings *findings;
	struct finding_list list;
	struct report_options options;
	struct stat_report report;
};

static const struct stack_frame scene_frames[] = {
	{.function = "cudaMalloc", .object = "libcudart.so.13"},
	{.function = "for\033ward", .file = "/x/model.py", .line = 123, .kind = FRAME_PYTHON},
};
static const struct stack scene_stack = {.count = 2, .frames = scene_frames};

static inline uint16_t scene_row(const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	if (row < 0)
		abort();
	return (uint16_t)row;
}

/* `calls` calls of this many nanoseconds each. */
static inline struct duration_record scene_durations(uint64_t calls, uint64_t each_ns)
{
	struct duration_record record = {.calls = calls, .ns = calls * each_ns, .max_ns = each_ns};

	record.buckets[time_bucket(each_ns)] = calls;
	return record;
}

static inline void scene__threads(struct scene *scene)
{
	scene->threads[0] = (struct thread_profile){
		.tid = 12,
		.comm = "server",
		.start_ns = 5,
		.first_ns = BEGIN,
		.time = {[TIME_LAUNCH] = {100, 2 * NS_PER_S}, [TIME_WAIT] = {3, 500 * NS_PER_MS}},
		.launches = 100,
		.gap_count = 99,
		.gap_ns = 99 * 2000,
		.chained = {90, 1000},
	};
	scene->threads[0].gaps[time_bucket(2000)] = 99;
	scene->threads[1] = (struct thread_profile){
		.tid = 13,
		.comm = "wor\nker",
		.start_ns = BEGIN + 5 * NS_PER_S,
		.first_ns = BEGIN + 5 * NS_PER_S,
		.ended_ns = BEGIN + 9 * NS_PER_S,
		.time = {[TIME_MEMORY] = {4, 4 * NS_PER_S}},
	};
}

static inline void scene__profile(struct scene *scene)
{
	struct profile *profile = scene->profile;

	scene__threads(scene);
	scene->functions[0] = (struct profile_function){.row = scene_row("cuMemAlloc_v2"),
							.time = scene_durations(4, NS_PER_S)};
	scene->functions[1] = (struct profile_function){
		.row = scene_row("cuLaunchKernel"), .time = scene_durations(100, 20 * NS_PER_MS)};
	scene->copies[0].key = (struct copy_size_key){.kind = COPY_H2D, .host = COPY_HOST_PAGEABLE};
	scene->copies[0].record.calls[12] = 30;
	scene->copies[0].record.bytes[12] = 30 * 4096;
	scene->copies[0].record.calls[20] = 10;
	scene->copies[0].record.bytes[20] = 10 << 20;
	scene->copies[0].record.ns[20] = 10 * NS_PER_MS;
	scene->copies[1] = scene->copies[0];
	scene->copies[1].key.device = 1;
	scene->sizes[0] = (struct profile_size){
		.key = {.size = 1 << 30, .row = scene_row("cuMemAlloc_v2"), .kind = MEMORY_DEVICE},
		.record = {.allocations = 4,
			   .allocation_ns = 4 * NS_PER_S,
			   .frees = 3,
			   .free_ns = 300,
			   .live = 1,
			   .peak = 2},
	};
	profile->threads = scene->threads;
	profile->thread_count = 2;
	profile->functions = scene->functions;
	profile->function_count = 2;
	profile->copies = scene->copies;
	profile->copy_count = 2;
	profile->sizes = scene->sizes;
	profile->size_count = 1;
	profile->peak_bytes = 2ull << 30;
}

static inline void scene__process(struct scene *scene)
{
	struct process *p = &scene->processes[0];

	*p = (struct process){.pid = 12,
			      .comm = "server",
			      .start_ns = 5,
			      .since_attach = true,
			      .profile = scene->profile};
	p->memory[MEMORY_DEVICE] = (struct memory_totals){.allocations = 4,
							  .allocation_failures = 1,
							  .frees = 3,
							  .live_bytes = 1 << 30,
							  .live_count = 1};
	scene->kernels[0] = (struct kernel){
		.handle = 0x10,
		.name = (char *)"void conv<int>(float*)",
		.short_name = (char *)"conv",
		.label = (char *)"conv<int>",
		.launches = 60,
	};
	scene->kernels[0].shape = (struct shape_record){
		.samples = 2,
		.blocks_min = 1,
		.blocks_max = 4096,
		.threads_min = 256,
		.threads_max = 256,
		.gaps = 2,
		.gap_ns = 3000,
		.gap_min = 1000,
		.gap_max = 2000,
	};
	scene->kernels[1] = (struct kernel){.handle = 0x20, .launches = 40};
	p->kernels = scene->kernels;
	p->kernel_count = 2;
	scene->tallies[0] =
		(struct function_totals){.row = scene_row("cuMemAlloc_v2"), .failures = 1};
	p->functions = scene->tallies;
	p->function_count = 1;
	scene->failures[0] = (struct failure){
		.function = "cuMemAlloc_v2",
		.error = "CUDA_ERROR_OUT_OF_MEMORY",
		.code = 2,
		.layer = LAYER_DRIVER,
		.count = 1,
	};
	p->failures = scene->failures;
	p->failure_count = 1;
	p->covered[COPY_H2D] =
		(struct covered_totals){.calls = 2, .bytes = 2 << 20, .ns = NS_PER_MS};
	p->copies[COPY_H2D][1].calls = 3;
}

static inline struct finding *scene__find(struct scene *scene, const char *id)
{
	const struct finding_input input = {.kind = finding_kind__find(id)};
	struct finding *finding = finding_list__add(&scene->list, &input, &scene->processes[0]);

	if (!finding)
		abort();
	return finding;
}

/*
 * One of them is about a thread, with everything a finding can have, and one has as little as
 * possible.
 */
static inline void scene__findings(struct scene *scene)
{
	struct finding *finding = scene__find(scene, "alloc-churn");

	finding->tid = 13;
	finding__subject(finding, "cudaMalloc of 1.0 GiB");
	finding__evidence(finding, "4 times, 1.0 s each; of \"a,b\"\t");
	finding__number(finding, "allocations", 4, UNIT_COUNT);
	finding__number(finding, "each", 1e9, UNIT_NS);
	finding__cost(finding, 4 * NS_PER_S, 5 * NS_PER_S);
	finding__saving(finding, 3 * NS_PER_S, "one is kept");
	finding->stack = &scene_stack;
	scene__find(scene, "oom");
	finding_list__sort(&scene->list);
}

#define NEEDS_ALL \
	(NEEDS_PROFILE | NEEDS_ASKS | NEEDS_GETTERS | NEEDS_NCCL | NEEDS_XIDS | NEEDS_GPU_TIMES)

static inline struct findings *scene_state(unsigned int needs)
{
	const struct findings_options options = {
		.needs = needs,
		.window_ns = 60 * NS_PER_S,
	};
	struct findings *findings = findings__new(&options);

	if (!findings)
		abort();
	findings__begin(findings, BEGIN);
	return findings;
}

/* By default everything is looked for. */
static inline void scene__look_for(struct scene *scene, unsigned int needs)
{
	findings__free(scene->findings);
	scene->findings = scene_state(needs);
	scene->report.state = scene->findings;
}

static inline void scene__begin(struct scene *scene)
{
	*scene = (struct scene){.options = {.top = 10},
				.profile = profile__new(),
				.findings = scene_state(NEEDS_ALL)};
	scene__profile(scene);
	scene__process(scene);
	scene->model.processes = scene->processes;
	scene->model.process_count = 1;
	scene->model.now_ns = BEGIN + 10 * NS_PER_S;
	scene->model.wall.tv_sec = 14 * 3600 + 2 * 60 + 11;
	scene->model.shape_sample = 64;
	scene->report = (struct stat_report){
		.model = &scene->model,
		.state = scene->findings,
		.findings = &scene->list,
		.began_ns = BEGIN,
		.options = &scene->options,
	};
}

static inline void scene__end(struct scene *scene)
{
	finding_list__clear(&scene->list);
	findings__free(scene->findings);
	/* The scene owns its lists. */
	free(scene->profile);
}

/*
 * The text of a report (malloc). If it is inlined, gcc 12 mistakes pointers into it for the local
 * variable.
 */
static __attribute__((noinline)) char *
scene__print(const struct scene *scene, void (*print)(FILE *out, const struct stat_report *report))
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	print(out, &scene->report);
	fclose(out);
	return text;
}

#endif
