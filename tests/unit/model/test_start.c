// SPDX-License-Identifier: BSD-2-Clause
// The start of a process by parts, and what is counted in its steady time alone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/account.h"
#include "model/model.h"
#include "model/steps.h"

#define BEGAN (1000 * NS_PER_S)
#define MS 1000000ull

struct scene {
	struct process process;
	struct account *account;
	struct step_thread *steps;
};

/* Began with gpuprobe: its first call after 3 s, 2 s of contexts, 1 s of loads, and the first launch at 7 s. */
static struct scene *scene(void)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct process_account *totals;

	s->process = (struct process){.pid = 100, .start_ns = BEGAN - MS};
	s->process.account = s->account = account__new();
	s->account->threads = calloc(1, sizeof(*s->account->threads));
	s->account->thread_count = 1;
	s->account->threads[0].tid = 100;
	s->account->threads[0].first_ns = BEGAN + 3 * NS_PER_S;
	totals = &s->account->totals;
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
	account__free(s->account);
	process_steps__free(s->process.steps);
	free(s);
}

/* From 10 s on a step of 10 ms after the other. */
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
	start__draw(&s->process, BEGAN, &start);
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
	start__draw(&s->process, BEGAN, &start);
	assert_false(start.from_begin);
	free_scene(s);
}

/* What the latest reading before the first steady step has told. */
static void to_steady(void **state)
{
	struct scene *s = scene();
	struct thread_account *thread = &s->account->threads[0];
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
	start__draw(&s->process, BEGAN, &start);
	assert_int_equal(start.steady_ns, BEGAN + 10 * NS_PER_S);
	assert_int_equal(start.to_steady[START_COPIES], NS_PER_S);
	assert_int_equal(start.to_steady[START_REST], NS_PER_S);
	assert_int_equal(start.uploads.bytes, 1 << 20);
	assert_int_equal(sum_of(start.to_steady), 10 * NS_PER_S);
	/* Long after that no more is kept, however long it runs. */
	for (uint64_t i = 0; i < 1000; i++)
		start__follow(&s->process, BEGAN + (12 + i) * NS_PER_S);
	assert_true(s->account->start.count < 8);
	free_scene(s);
}

/* Of a program that never gets there readings become fewer, not more than there is room for. */
static void long_start(void **state)
{
	struct scene *s = scene();

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		start__follow(&s->process, BEGAN + (8 + i) * NS_PER_S);
		assert_true(s->account->start.count <= START_READINGS);
	}
	for (size_t i = 1; i < s->account->start.count; i++)
		assert_true(s->account->start.readings[i - 1].ns < s->account->start.readings[i].ns);
	free_scene(s);
}

/* --- the steady time --- */

static void since_base(void **state)
{
	struct scene *s = scene();
	struct thread_account *thread = &s->account->threads[0];
	struct account_size size = {.key = {.size = 4096}, .record = {.allocations = 10, .allocation_ns = 10 * MS}};
	struct process view;

	(void)state;
	assert_int_equal(steady__follow(&s->process, BEGAN + 9 * NS_PER_S), 0);
	assert_int_equal(steady__since_ns(&s->process), 0);
	add_steps(s);
	s->account->sizes = malloc(sizeof(size));
	s->account->sizes[0] = size;
	s->account->size_count = 1;
	thread->launches = 1000;
	thread->implicit[IMPLICIT_LOAD] = (struct time_totals){.calls = 20, .ns = 3 * NS_PER_S};
	assert_int_equal(steady__follow(&s->process, BEGAN + 11 * NS_PER_S), 0);
	assert_int_equal(steady__since_ns(&s->process), BEGAN + 11 * NS_PER_S);
	/* The same steps: the moment stays. */
	assert_int_equal(steady__follow(&s->process, BEGAN + 12 * NS_PER_S), 0);
	assert_int_equal(steady__since_ns(&s->process), BEGAN + 11 * NS_PER_S);
	thread->launches = 5000;
	s->account->sizes[0].record.allocations = 14;
	s->account->sizes[0].record.allocation_ns = 12 * MS;
	assert_int_equal(steady__view(&s->process, &view), 0);
	assert_int_equal(view.account->threads[0].launches, 4000);
	assert_int_equal(view.account->threads[0].implicit[IMPLICIT_LOAD].calls, 0);
	assert_int_equal(view.account->threads[0].first_ns, BEGAN + 11 * NS_PER_S);
	assert_int_equal(view.account->sizes[0].record.allocations, 4);
	assert_int_equal(view.account->sizes[0].record.allocation_ns, 2 * MS);
	steady__clear_view(&view);
	assert_int_equal(thread->launches, 5000);
	/* Others: it is steady since then. */
	s->steps->phases[0].anchor.code = 2;
	assert_int_equal(steady__follow(&s->process, BEGAN + 20 * NS_PER_S), 0);
	assert_int_equal(steady__since_ns(&s->process), BEGAN + 20 * NS_PER_S);
	free_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_launch),
		cmocka_unit_test(to_steady),
		cmocka_unit_test(long_start),
		cmocka_unit_test(since_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
