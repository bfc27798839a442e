// SPDX-License-Identifier: BSD-2-Clause
// The startup of a process by parts, and what is counted only in its steady time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/profile.h"
#include "model/model.h"
#include "model/steady.h"
#include "model/steps.h"

#define BEGAN (1000 * NS_PER_S)
#define MS 1000000ull

struct scene {
	struct model model;
	struct process process;
	struct profile *profile;
	struct step_thread *steps;
};

/* Began with gpuprobe: first call after 3 s, 2 s of contexts, 1 s of loads, first launch at 7 s. */
static struct scene *scene(void)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct process_profile *totals;

	s->process = (struct process){.pid = 100, .start_ns = BEGAN - MS};
	s->model.processes = &s->process;
	s->model.process_count = 1;
	s->process.profile = s->profile = profile__new();
	s->profile->threads = calloc(1, sizeof(*s->profile->threads));
	s->profile->thread_count = 1;
	s->profile->threads[0].tid = 100;
	s->profile->threads[0].first_ns = BEGAN + 3 * NS_PER_S;
	totals = &s->profile->totals;
	totals->launched_tid = 100;
	totals->launched_ns = BEGAN + 7 * NS_PER_S;
	totals->launched.inside[TIME_OTHER] = 2 * NS_PER_S;
	totals->launched.inside[TIME_LAUNCH] = 1200 * MS;
	totals->launched.setup[SETUP_CONTEXT] = 2 * NS_PER_S;
	totals->launched.setup[SETUP_MODULE] = NS_PER_S;
	totals->launched.setup_inside[TIME_OTHER] = 2 * NS_PER_S;
	totals->launched.setup_inside[TIME_LAUNCH] = NS_PER_S;
	totals->launched.loads = 3;
	return s;
}

static void free_scene(struct scene *s)
{
	profile__free(s->profile);
	process_steps__free(s->process.steps);
	free(s);
}

/* From 10 s on, consecutive steps of 10 ms. */
static void add_steps(struct scene *s)
{
	s->process.steps = process_steps__new();
	s->steps = process_steps__add(s->process.steps);
	s->steps->tid = 100;
	s->steps->phase_count = 1;
	s->steps->phases[0].anchor = (struct step_anchor){.code = 1, .launches = 8};
	for (uint64_t i = 0; i < 50; i++)
		step_phase__add(&s->steps->phases[0], BEGAN + 10 * NS_PER_S + i * 10 * MS, 10 * MS);
}

static uint64_t sum_of(const uint64_t parts[START_PARTS])
{
	uint64_t sum = 0;

	for (int i = 0; i < START_PARTS; i++)
		sum += parts[i];
	return sum;
}

static void to_launch(void **state)
{
	struct scene *s = scene();
	struct process_start start;

	(void)state;
	start__evaluate(&s->process, BEGAN, &start);
	assert_true(start.from_begin);
	assert_int_equal(start.begin_ns, BEGAN);
	assert_int_equal(start.steady_ns, 0);
	assert_int_equal(start.to_launch[START_BEFORE], 3 * NS_PER_S);
	assert_int_equal(start.to_launch[START_CONTEXT], 2 * NS_PER_S);
	/* A load inside a launch is a load. */
	assert_int_equal(start.to_launch[START_MODULES], NS_PER_S);
	assert_int_equal(start.to_launch[START_LAUNCHES], 200 * MS);
	assert_int_equal(start.to_launch[START_HOST], 800 * MS);
	assert_int_equal(sum_of(start.to_launch), 7 * NS_PER_S);
	assert_int_equal(sum_of(start.to_steady), 0);
	assert_int_equal(start.loads, 3);
	s->process.since_attach = true;
	start__evaluate(&s->process, BEGAN, &start);
	assert_false(start.from_begin);
	/* Probes saw it a moment before all were attached: nothing comes before the beginning. */
	start__evaluate(&s->process, BEGAN + 8 * NS_PER_S, &start);
	assert_int_equal(start.launched_ns - start.begin_ns, 4 * NS_PER_S);
	s->profile->threads[0].first_ns = 0;
	start__evaluate(&s->process, BEGAN + 8 * NS_PER_S, &start);
	assert_int_equal(start.begin_ns, start.launched_ns);
	free_scene(s);
}

/* Values of the latest reading before the first steady step. */
static void to_steady(void **state)
{
	struct scene *s = scene();
	struct thread_profile *thread = &s->profile->threads[0];
	struct process_start start;

	(void)state;
	thread->setup[SETUP_CONTEXT] = 2 * NS_PER_S;
	thread->time[TIME_OTHER].ns = thread->setup_inside[TIME_OTHER] = 2 * NS_PER_S;
	thread->uploads.bytes = 1 << 20;
	thread->time[TIME_COPY].ns = NS_PER_S;
	start__follow(&s->process, BEGAN + 9 * NS_PER_S);
	thread->time[TIME_COPY].ns = 4 * NS_PER_S;
	add_steps(s);
	start__follow(&s->process, BEGAN + 11 * NS_PER_S);
	start__evaluate(&s->process, BEGAN, &start);
	assert_int_equal(start.steady_ns, BEGAN + 10 * NS_PER_S);
	assert_int_equal(start.to_steady[START_COPIES], NS_PER_S);
	assert_int_equal(start.to_steady[START_REST], NS_PER_S);
	assert_int_equal(start.uploads.bytes, 1 << 20);
	assert_int_equal(sum_of(start.to_steady), 10 * NS_PER_S);
	/* However long it runs after that, no more readings are kept. */
	for (uint64_t i = 0; i < 1000; i++)
		start__follow(&s->process, BEGAN + (12 + i) * NS_PER_S);
	assert_true(s->profile->start.count < 8);
	free_scene(s);
}

/* If a program never becomes steady, its readings are thinned out so that they fit. */
static void long_start(void **state)
{
	struct scene *s = scene();

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		start__follow(&s->process, BEGAN + (8 + i) * NS_PER_S);
		assert_true(s->profile->start.count <= START_READINGS);
	}
	for (size_t i = 1; i < s->profile->start.count; i++)
		assert_true(s->profile->start.readings[i - 1].ns <
			    s->profile->start.readings[i].ns);
	free_scene(s);
}

/* --- the steady time --- */

/* A reading this many seconds after the start, by which the thread has made `launches` launches. */
static void read_at(struct scene *s, uint64_t seconds, uint64_t launches)
{
	s->model.now_ns = BEGAN + seconds * NS_PER_S;
	s->profile->threads[0].launches = s->profile->threads[0].time[TIME_LAUNCH].calls = launches;
	s->profile->threads[0].time[TIME_LAUNCH].ns = launches * MS;
	assert_int_equal(steady__follow(&s->model, &s->process), 0);
}

/* In seconds since the start; 0: not known to be steady. */
static uint64_t steady_since(const struct scene *s)
{
	uint64_t since_ns = steady__since_ns(&s->process, s->model.now_ns);

	return since_ns ? (since_ns - BEGAN) / NS_PER_S : 0;
}

/* From the first reading after the first step of the usual length. */
static void since_steps(void **state)
{
	struct scene *s = scene();
	struct thread_profile *thread = &s->profile->threads[0];
	struct profile_size size = {.key = {.size = 4096},
				    .record = {.allocations = 10, .allocation_ns = 10 * MS}};
	struct process view;

	(void)state;
	read_at(s, 6, 0);
	read_at(s, 9, 1);
	add_steps(s);
	s->profile->sizes = malloc(sizeof(size));
	s->profile->sizes[0] = size;
	s->profile->size_count = 1;
	thread->implicit[IMPLICIT_LOAD] = (struct time_totals){.calls = 20, .ns = 3 * NS_PER_S};
	read_at(s, 11, 1000);
	assert_int_equal(steady_since(s), 0);
	read_at(s, 12, 2000);
	s->profile->sizes[0].record.allocations = 14;
	s->profile->sizes[0].record.allocation_ns = 12 * MS;
	read_at(s, 13, 5000);
	assert_int_equal(steady_since(s), 11);
	assert_int_equal(steady__view(&s->process, s->model.now_ns, &view), 0);
	assert_int_equal(view.profile->threads[0].launches, 4000);
	assert_int_equal(view.profile->threads[0].implicit[IMPLICIT_LOAD].calls, 0);
	assert_int_equal(view.profile->threads[0].first_ns, BEGAN + 11 * NS_PER_S);
	assert_int_equal(view.profile->sizes[0].record.allocations, 4);
	assert_int_equal(view.profile->sizes[0].record.allocation_ns, 2 * MS);
	steady__clear_view(&view);
	assert_int_equal(thread->launches, 5000);
	free_scene(s);
}

/* Other steps, which take longer in total: steady since these began. */
static void since_other_steps(void **state)
{
	struct scene *s = scene();

	(void)state;
	add_steps(s);
	for (uint64_t i = 9; i < 20; i++)
		read_at(s, i, i);
	assert_int_equal(steady_since(s), 10);
	s->steps->phase_count = 2;
	s->steps->phases[1].anchor = (struct step_anchor){.code = 2, .launches = 8};
	for (uint64_t i = 0; i < 50; i++)
		step_phase__add(&s->steps->phases[1], BEGAN + 20 * NS_PER_S + i * 20 * MS, 20 * MS);
	for (uint64_t i = 20; i < 30; i++)
		read_at(s, i, i);
	assert_int_equal(steady_since(s), 20);
	free_scene(s);
}

/*
 * Other steps are only later found to take longer in total: a reading from their beginning is still
 * there.
 */
static void since_other_steps_found_late(void **state)
{
	struct scene *s = scene();
	struct step_phase *other;

	(void)state;
	add_steps(s);
	other = &s->steps->phases[1];
	for (uint64_t i = 9; i < 20; i++)
		read_at(s, i, i);
	s->steps->phase_count = 2;
	other->anchor = (struct step_anchor){.code = 2, .launches = 8};
	for (uint64_t i = 0; i < 5; i++)
		step_phase__add(other, BEGAN + 20 * NS_PER_S + i * 20 * MS, 20 * MS);
	for (uint64_t i = 20; i < 30; i++)
		read_at(s, i, i);
	assert_int_equal(steady_since(s), 10);
	for (uint64_t i = 0; i < 500; i++)
		step_phase__add(other, BEGAN + 21 * NS_PER_S + i * 20 * MS, 20 * MS);
	read_at(s, 32, 32);
	assert_int_equal(steady_since(s), 20);
	free_scene(s);
}

/*
 * Nothing repeats: startup is about half of the time since the first work, at most half a minute.
 */
static void since_half(void **state)
{
	struct scene *s = scene();

	(void)state;
	for (uint64_t i = 8; i < 12; i++)
		read_at(s, i, 0);
	assert_int_equal(steady_since(s), 0);
	for (uint64_t i = 12; i < 12 + 60; i++) {
		uint64_t spent = i - 12;

		read_at(s, i, i);
		if (spent < 6)
			continue;
		assert_true(steady_since(s) >= 12 + spent / 2);
		assert_true(steady_since(s) <= 12 + spent * 3 / 4 + 1);
	}
	for (uint64_t i = 72; i < 1000; i++)
		read_at(s, i, i);
	assert_true(steady_since(s) >= 42 && steady_since(s) <= 57);
	free_scene(s);
}

/* A process that existed before gpuprobe attached is past its startup. */
static void since_attach(void **state)
{
	struct scene *s = scene();

	(void)state;
	s->process.since_attach = true;
	for (uint64_t i = 3; i < 1000; i++)
		read_at(s, i, i);
	/* Work that it had queued before is done by then. */
	assert_int_equal(steady_since(s), 4);
	free_scene(s);
}

/* Its load is what came since then; NVML's use is that of the readings since. */
static void steady_load(void **state)
{
	struct scene *s = scene();
	struct process_gpu own = {.gpu = 0};
	struct gpu gpu = {.busy_percent = 100};
	struct load load;

	(void)state;
	s->process.since_attach = true;
	s->process.gpus = &own;
	s->process.gpu_count = 1;
	s->model.gpus = &gpu;
	s->model.gpu_count = 1;
	read_at(s, 2, 50);
	read_at(s, 3, 100);
	assert_false(steady__load(&s->process, s->model.now_ns, &load));
	gpu.busy_percent = 20;
	read_at(s, 4, 200);
	gpu.busy_percent = 40;
	read_at(s, 8, 600);
	assert_true(steady__load(&s->process, s->model.now_ns, &load));
	assert_int_equal(load.ns, 5 * NS_PER_S);
	assert_int_equal(load.launches, 500);
	assert_int_equal(load.time[TIME_LAUNCH].ns, 500 * MS);
	assert_int_equal(load.busy_percent, 60);
	assert_int_equal(load.busy_readings, 2);
	free_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_launch),	     cmocka_unit_test(to_steady),
		cmocka_unit_test(long_start),	     cmocka_unit_test(since_steps),
		cmocka_unit_test(since_other_steps), cmocka_unit_test(since_other_steps_found_late),
		cmocka_unit_test(since_half),	     cmocka_unit_test(since_attach),
		cmocka_unit_test(steady_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
