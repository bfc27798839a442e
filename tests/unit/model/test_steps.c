// SPDX-License-Identifier: BSD-2-Clause
// A process's steps: whose they are, what is in them, since when they are steady, what made one
// slow.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/model.h"
#include "model/steps.h"

#define BEGAN (1000 * NS_PER_S)
#define MS 1000000ull

static struct step_thread *thread(struct process *process, int32_t tid, uint32_t launches)
{
	struct step_thread *thread;

	if (!process->steps)
		process->steps = process_steps__new();
	thread = process_steps__add(process->steps);
	assert_non_null(thread);
	thread->tid = tid;
	thread->phase_count = 1;
	thread->phases[0].anchor.launches = launches;
	return thread;
}

/* Steps that BPF counted. */
static struct step_record record(uint64_t steps, uint64_t ns, uint64_t launches)
{
	struct step_record record = {
		.steps = steps,
		.ns = steps * ns,
		.max_ns = ns,
		.first_ns = BEGAN,
		.begin_ns = BEGAN + steps * ns,
		.sums = {.launches = steps * launches},
	};

	record.buckets[time_bucket(ns)] = steps;
	return record;
}

static void free_process(struct process *process)
{
	process_steps__free(process->steps);
	process->steps = NULL;
}

static void no_steps(void **state)
{
	struct process process = {.pid = 100};
	struct step_summary summary;

	(void)state;
	step_summary__make(&process, &summary);
	assert_null(summary.thread);
	thread(&process, 100, 0)->phase_count = 0;
	step_summary__make(&process, &summary);
	assert_null(summary.thread);
	free_process(&process);
}

/*
 * The backward pass launches more, equally often; the main thread is the one that copies and waits.
 */
static void main_thread(void **state)
{
	struct process process = {.pid = 100};
	const struct step_record forward = record(50, 72 * MS, 377),
				 backward = record(50, 72 * MS, 200);
	const struct step_record often = record(5000, MS / 2, 20);
	struct step_thread *helper = thread(&process, 101, 200), *main = thread(&process, 100, 177);
	struct step_thread *other = thread(&process, 102, 2);
	struct step_summary summary;

	(void)state;
	step_phase__add_record(&helper->phases[0], &backward);
	helper->totals.launches = 10000;
	step_phase__add_record(&main->phases[0], &forward);
	main->totals = (struct step_sums){.launches = 8850, .waits = 50};
	step_phase__add_record(&other->phases[0], &often);
	other->totals.launches = 20000;
	step_summary__make(&process, &summary);
	/*
	 * The other thread's steps are far more: it works for the main one, or makes steps within
	 * its steps.
	 */
	assert_int_equal(other->tid, 102);
	assert_ptr_not_equal(summary.thread, other);
	other->totals.launches = 100;
	step_summary__make(&process, &summary);
	assert_ptr_equal(summary.thread, main);
	assert_int_equal(summary.phase->steps, 50);
	assert_true(summary.launches == 377 && summary.sums_known);
	assert_true(summary.p50_ns > 70 * MS && summary.p50_ns < 75 * MS);
	free_process(&process);
}

/* Work queued without a wait passes in a moment, and each hundredth step waits for all of it. */
static void uneven_steps(void **state)
{
	struct process process = {.pid = 100};
	struct step_thread *main = thread(&process, 100, 10);
	struct step_summary summary;

	(void)state;
	main->totals.launches = 10000;
	for (uint64_t i = 0; i < 1000; i++)
		step_phase__add(&main->phases[0], BEGAN + i * MS, i % 100 == 99 ? 400 * MS : 40000);
	step_summary__make(&process, &summary);
	assert_true(summary.p50_ns < 50000);
	assert_true(summary.usual_ns > 4 * MS && summary.usual_ns < 4 * MS + 50000);
	/* The mean says nothing if many steps were not seen. */
	process.family_calls[RATE_LAUNCH].sampled = true;
	step_summary__make(&process, &summary);
	assert_int_equal(summary.usual_ns, summary.p50_ns);
	process.family_calls[RATE_LAUNCH].sampled = false;
	/* For even steps the median is the usual duration. */
	for (uint64_t i = 0; i < 100000; i++)
		step_phase__add(&main->phases[0], BEGAN + i * MS, 5 * MS);
	step_summary__make(&process, &summary);
	assert_int_equal(summary.usual_ns, summary.p50_ns);
	free_process(&process);
}

/* Steps from before the anchor was known: the first ones, with loads in them, are not steady. */
static void steady(void **state)
{
	struct step_phase phase = {.anchor.launches = 10};
	const struct step_record later = record(100, 10 * MS, 10);
	uint64_t at = BEGAN;

	(void)state;
	for (int i = 0; i < 20; i++) {
		uint64_t ns = i == 0 ? 4000 * MS : i < 3 ? 100 * MS : i == 10 ? 200 * MS : 10 * MS;

		step_phase__add(&phase, at, ns);
		at += ns;
	}
	assert_int_equal(phase.steps, 20);
	assert_int_equal(phase.first_ns, BEGAN);
	assert_int_equal(step_phase__steady_ns(&phase), BEGAN + 4200 * MS);
	step_phase__add_record(&phase, &later);
	assert_int_equal(phase.steps, 120);
	assert_int_equal(phase.summed, 100);
	assert_int_equal(step_phase__steady_ns(&phase), BEGAN + 4200 * MS);
	/* The slowest comes first. */
	assert_int_equal(phase.slowest[0].ns, 4000 * MS);
	assert_int_equal(phase.slowest[1].ns, 200 * MS);
	assert_int_equal(phase.slowest[2].ns, 100 * MS);
}

/* Steps whose sums lack a thread's work still count, but not in averages. */
static void forgotten_sums(void **state)
{
	struct step_record record = {
		.steps = 100, .ns = 100, .sums = {.launches = 10 * 40 + 35 * 60}};
	const struct step_sums incomplete = {.launches = 10 * 40};
	struct step_phase phase = {.steps = 0};

	(void)state;
	step_phase__add_record(&phase, &record);
	step_phase__forget_sums(&phase, 40, &incomplete);
	assert_int_equal(phase.steps, 100);
	assert_int_equal(phase.summed, 60);
	assert_int_equal(phase.sums.launches, 35 * 60);
}

static void phases(void **state)
{
	struct process process = {.pid = 100};
	const struct step_record many = record(100, MS, 10), few = record(10, 100 * MS, 400);
	struct step_thread *only = thread(&process, 100, 10);
	struct step_summary summary;

	(void)state;
	only->phase_count = 2;
	only->totals.launches = 5000;
	step_phase__add_record(&only->phases[0], &many);
	step_phase__add_record(&only->phases[1], &few);
	step_summary__make(&process, &summary);
	assert_ptr_equal(summary.phase, &only->phases[1]);
	/* What repeats among sampled launches may be several steps, or a part of one. */
	only->phases[1].sampled = true;
	step_summary__make(&process, &summary);
	assert_ptr_equal(summary.phase, &only->phases[0]);
	only->phases[0].sampled = true;
	step_summary__make(&process, &summary);
	assert_ptr_equal(summary.phase, &only->phases[1]);
	free_process(&process);
}

static void excess(void **state)
{
	struct process process = {.pid = 100};
	struct step_record usual = record(100, 10 * MS, 10);
	struct step_thread *only = thread(&process, 100, 10);
	struct slow_step slow = {
		.ns = 50 * MS,
		.sums = {.launches = 10, .inside = {[TIME_LAUNCH] = MS, [TIME_MEMORY] = 40 * MS}}};
	struct step_summary summary;
	uint64_t ns;

	(void)state;
	usual.sums.inside[TIME_LAUNCH] = 100 * MS;
	step_phase__add_record(&only->phases[0], &usual);
	step_summary__make(&process, &summary);
	assert_int_equal(step_summary__excess(&summary, &slow, &ns),
			 STEP_EXCESS_INSIDE + TIME_MEMORY);
	assert_int_equal(ns, 40 * MS);
	slow.sums.inside[TIME_MEMORY] = 0;
	assert_int_equal(step_summary__excess(&summary, &slow, &ns), STEP_EXCESS_OUTSIDE);
	assert_int_equal(ns, 40 * MS);
	slow.sums.launches = 0;
	assert_int_equal(step_summary__excess(&summary, &slow, &ns), STEP_EXCESS_UNKNOWN);
	free_process(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_steps),	  cmocka_unit_test(main_thread),
		cmocka_unit_test(uneven_steps),	  cmocka_unit_test(steady),
		cmocka_unit_test(forgotten_sums), cmocka_unit_test(phases),
		cmocka_unit_test(excess),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
