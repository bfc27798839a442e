/* SPDX-License-Identifier: BSD-2-Clause */
/* A process whose maps, governor and profile report what the test sets. Include after cmocka.h. */
#ifndef TESTS_ESTIMATE_SCENE_H
#define TESTS_ESTIMATE_SCENE_H

#include <stdlib.h>
#include <string.h>

#include "govern/estimate.h"
#include "collect/tally.h"
#include "model/profile.h"
#include "api/api.h"
#include "model/kernels.h"

#define SLOT 3
#define COUNTERS 8
#define NOT_THERE UINT64_MAX

/* What the maps have of a process, and what the governor reports about it. */
struct scene {
	uint64_t missed[RATE_FAMILIES], seen[RATE_FAMILIES];
	uint64_t unseen_until[RATE_FAMILIES];
	int refreshed;
	uint32_t forgotten;
	struct estimates *estimates;
	struct process process;
	uint64_t launches[COUNTERS]; /* index: handle - 1; NOT_THERE: not in the map */
	uint32_t generation[COUNTERS];
	bool leaves[COUNTERS], captured[COUNTERS];
	struct tally_key keys[COUNTERS];
	struct tally tallies[COUNTERS];
	size_t tally_count;
	struct graph_run runs[2];
	size_t run_count;
};

static inline uint64_t missed(void *arg, uint32_t slot, enum rate_family family)
{
	assert_int_equal(slot, SLOT);
	return ((struct scene *)arg)->missed[family];
}

static inline uint64_t seen(void *arg, uint32_t slot, enum rate_family family)
{
	assert_int_equal(slot, SLOT);
	return ((struct scene *)arg)->seen[family];
}

static inline uint64_t unseen_until(void *arg, enum rate_family family)
{
	return ((struct scene *)arg)->unseen_until[family];
}

static inline void refresh(void *arg)
{
	((struct scene *)arg)->refreshed++;
}

static inline void forget(void *arg, uint32_t slot)
{
	((struct scene *)arg)->forgotten = slot;
}

static inline struct scene *begin(bool knows_seen)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct estimate_source source = {.missed = missed,
					 .unseen_until = unseen_until,
					 .refresh = refresh,
					 .forget = forget,
					 .arg = scene};

	assert_non_null(scene);
	if (knows_seen)
		source.seen = seen;
	scene->estimates = estimates__new(&source, 8);
	assert_non_null(scene->estimates);
	scene->process.slot = SLOT;
	scene->process.kernel_table = kernel_table__new();
	for (int i = 0; i < COUNTERS; i++)
		scene->launches[i] = NOT_THERE;
	return scene;
}

static inline void end(struct scene *scene)
{
	estimates__free(scene->estimates);
	process__clear(&scene->process);
	free(scene);
}

/* A function's counter, for the test to set. */
static inline struct tally *tally_of(struct scene *scene, const char *symbol, uint8_t kind,
				     uint16_t flags)
{
	int row = api__find(symbol, API_NEWEST);

	assert_true(row >= 0 && scene->tally_count < COUNTERS);
	scene->keys[scene->tally_count] = (struct tally_key){
		.slot = SLOT, .row = (uint16_t)row, .kind = kind, .flags = flags, .device = 0};
	return &scene->tallies[scene->tally_count++];
}

static inline struct launch_key key_of(const struct scene *scene, int i)
{
	return (struct launch_key){.kernel = {.handle = (uint64_t)i + 1,
					      .slot = SLOT,
					      .generation = scene->generation[i]},
				   .captured = scene->captured[i]};
}

static inline void read_runs(struct scene *scene)
{
	struct process *p = &scene->process;

	free(p->graph_runs);
	p->graph_runs = malloc(sizeof(scene->runs));
	assert_non_null(p->graph_runs);
	memcpy(p->graph_runs, scene->runs, sizeof(scene->runs));
	p->graph_run_count = scene->run_count;
	p->graph_kernels = p->graph_launches_of_unknown_size = 0;
	for (size_t i = 0; i < scene->run_count; i++) {
		if (scene->runs[i].unknown)
			p->graph_launches_of_unknown_size += scene->runs[i].launches;
		else
			p->graph_kernels += scene->runs[i].launches * scene->runs[i].kernels;
	}
}

/* As snapshot.c does it. */
static inline void read_maps(struct scene *scene)
{
	struct process *p = &scene->process;

	estimates__begin(scene->estimates);
	tally__reset(p);
	for (size_t i = 0; i < scene->tally_count; i++)
		assert_int_equal(tally__apply(p, &scene->keys[i], &scene->tallies[i]), 0);
	for (int i = 0; i < COUNTERS; i++) {
		const struct launch_key key = key_of(scene, i);
		char name[] = "kernel_?";

		if (scene->launches[i] == NOT_THERE)
			continue;
		name[7] = (char)('a' + i);
		assert_int_equal(kernel_table__set(p->kernel_table, &key, scene->launches[i], name),
				 0);
		if (!scene->leaves[i])
			continue;
		kernel_table__leave(p->kernel_table, &key);
		scene->launches[i] = NOT_THERE;
		scene->leaves[i] = false;
	}
	read_runs(scene);
	assert_int_equal(estimates__apply(scene->estimates, p), 0);
	tally__finish(p);
	assert_int_equal(kernel_table__list(p->kernel_table, p), 0);
}

static inline const struct kernel *kernel_at(const struct scene *scene, const char *name)
{
	for (size_t i = 0; i < scene->process.kernel_count; i++)
		if (!strcmp(scene->process.kernels[i].name, name))
			return &scene->process.kernels[i];
	fail_msg("no kernel %s", name);
	return NULL;
}

#define FUNCTIONS 7

/* What BPF has counted of the process, set by the test. */
struct reported {
	struct profile profile;
	struct profile_function functions[FUNCTIONS];
	struct thread_profile threads[3];
	struct profile_span span;
};

static inline void begin_reported(struct scene *scene, struct reported *reported, size_t threads)
{
	static const char *const symbols[FUNCTIONS] = {
		"cuLaunchKernel", "cuLaunchKernelEx", "cuGraphLaunch",	 "cuMemcpyHtoD_v2",
		"cuMemAlloc_v2",  "cuEventQuery",     "cuLaunchHostFunc"};

	memset(reported, 0, sizeof(*reported));
	reported->profile = (struct profile){.functions = reported->functions,
					     .function_count = FUNCTIONS,
					     .threads = reported->threads,
					     .thread_count = threads};
	for (int i = 0; i < FUNCTIONS; i++)
		reported->functions[i].row = (uint16_t)api__find(symbols[i], API_NEWEST);
	for (size_t i = 0; i < threads; i++)
		reported->threads[i] =
			(struct thread_profile){.tid = (int32_t)i + 7, .start_ns = i + 1};
	reported->span = (struct profile_span){.began_ns = 0, .now_ns = 1000000};
	scene->process.profile = &reported->profile;
}

static inline void call(struct reported *reported, size_t function, size_t thread,
			enum time_class class, uint64_t calls, uint64_t each_ns)
{
	reported->functions[function].time.calls += calls;
	reported->functions[function].time.ns += calls * each_ns;
	reported->threads[thread].time[class].calls += calls;
	reported->threads[thread].time[class].ns += calls * each_ns;
	if (class == TIME_LAUNCH)
		reported->threads[thread].launches += calls;
}

static inline void read_profile(struct scene *scene, struct reported *reported)
{
	read_maps(scene);
	assert_int_equal(
		estimates__apply_profile(scene->estimates, &scene->process, &reported->span), 0);
}

/* Two threads launched, 100 times of 6 ns and 300 times of 2 ns, and 400 launches were missed. */
static inline void read_two_that_launched(struct scene *scene, struct reported *reported)
{
	begin_reported(scene, reported, 2);
	call(reported, 0, 0, TIME_LAUNCH, 100, 6);
	call(reported, 0, 1, TIME_LAUNCH, 300, 2);
	scene->launches[0] = 400;
	scene->missed[RATE_LAUNCH] = 400;
	read_profile(scene, reported);
}

static inline void end_reported(struct scene *scene, struct reported *reported)
{
	free(reported->profile.missed);
	scene->process.profile = NULL;
	end(scene);
}

static inline uint64_t missed_of(const struct reported *reported, enum time_class class, bool ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < reported->profile.thread_count; i++)
		sum += ns ? reported->profile.missed[i].time[class].ns :
			    reported->profile.missed[i].time[class].calls;
	return sum;
}

#endif
