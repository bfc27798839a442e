// SPDX-License-Identifier: BSD-2-Clause
// The difference of two readings: totals add up, what did nothing is left out, what exists stays.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/profile.h"
#include "model/steps.h"
#include "random_model.h"
#include "record/difference.h"

#define FROM 1000u
#define NOW 5000u

/* A process with one of most things, which has counted `n` times as much as with 1. */
struct scene {
	struct kernel kernels[2];
	struct call_site sites[3];
	struct function_totals functions[2];
	struct profile_function times[2];
	struct thread_profile threads[3];
	struct thread_missed missed[3];
	struct step_thread step_thread;
	struct step_thread *step_threads[1];
	struct process_steps steps;
	struct profile profile;
	struct process process;
	struct model model;
	struct recorded_reading reading;
};

static const struct stack stack = {.serial = 1};

static void scene__make(struct scene *s, uint64_t n, uint64_t now_ns)
{
	*s = (struct scene){
		.kernels = {{.serial = 1, .launches = 10 * n}, {.serial = 2, .launches = 5}},
		.sites = {{.stack = &stack, .kind = SITE_LAUNCH, .calls = 10 * n, .early_calls = 3},
			  {.stack = &stack, .kind = SITE_WAIT, .calls = 4, .amount = 40},
			  {.kind = SITE_OBJECT, .calls = n}},
		.functions = {{.row = 1, .calls = n}, {.row = 2, .calls = 7, .open = 1}},
		.times = {{.row = 1, .time = {.calls = n, .ns = 100 * n, .max_ns = 100}},
			  {.row = 2, .time = {.calls = 1, .ns = 9, .max_ns = 9}}},
		.threads = {{.tid = 1, .first_ns = 10, .ended_ns = FROM - 1, .launches = 9},
			    {.tid = 2, .first_ns = 20, .launches = 10 * n, .idle_max_ns = 50},
			    {.tid = 3, .first_ns = FROM + 5, .launches = n}},
		.missed = {{.launches = 1}, {.launches = 2 * n}, {.launches = n}},
		.step_thread = {.tid = 2,
				.phase_count = 1,
				.phases = {{.steps = 10 * n,
					    .latest_ns = now_ns - 1,
					    .first_ns = 30,
					    .first_count = 2,
					    .first = {{30, 5}, {FROM + 1, 5}}}}},
	};
	s->times[0].time.buckets[time_bucket(100)] = n;
	s->step_threads[0] = &s->step_thread;
	s->steps = (struct process_steps){.threads = s->step_threads, .count = 1};
	s->profile = (struct profile){
		.functions = s->times,
		.function_count = 2,
		.threads = s->threads,
		.thread_count = 3,
		.ended_count = 1,
		.missed = s->missed,
		.missed_count = 3,
	};
	s->profile.start.count = 1;
	s->process = (struct process){
		.serial = 7,
		.pid = 7,
		.kernels = s->kernels,
		.kernel_count = 2,
		.sites = s->sites,
		.site_count = 2,
		.object_call_count = 1,
		.functions = s->functions,
		.function_count = 2,
		.launches = 20 * n,
		.steps = &s->steps,
		.profile = &s->profile,
	};
	s->process.memory[0].live_bytes = 33;
	s->process.memory[0].allocations = 3 * n;
	s->model = (struct model){.now_ns = now_ns, .processes = &s->process, .process_count = 1};
	s->reading = (struct recorded_reading){.model = &s->model, .began_ns = 1};
}

static struct arena memory;

static void subtract(struct scene *after, const struct scene *before)
{
	assert_int_equal(recorded_reading__subtract(&after->reading, &before->reading, &memory), 0);
}

static void test_what_happened(void **state)
{
	static struct scene before, after;
	struct process *process = &after.process;

	(void)state;
	scene__make(&before, 2, FROM);
	before.profile.thread_count = before.profile.missed_count = 2;
	scene__make(&after, 5, NOW);
	subtract(&after, &before);
	assert_int_equal(after.reading.began_ns, FROM);
	assert_int_equal(process->launches, 60);
	assert_true(process->since_attach);
	assert_int_equal(process->memory[0].live_bytes, 33);
	assert_int_equal(process->memory[0].allocations, 9);
	/* Kernels and sites that did nothing are left out. */
	assert_int_equal(process->kernel_count, 1);
	assert_int_equal(process->kernels[0].launches, 30);
	assert_int_equal(process->site_count, 1);
	assert_int_equal(process->sites[0].calls, 30);
	assert_int_equal(process->object_call_count, 1);
	assert_int_equal(process->sites[1].kind, SITE_OBJECT);
	assert_int_equal(process->sites[1].calls, 3);
	/* A call in progress stays. */
	assert_int_equal(process->function_count, 2);
	assert_int_equal(process->functions[1].calls, 0);
	arena__clear(&memory);
}

static void test_profile(void **state)
{
	static struct scene before, after;
	struct profile *profile = &after.profile;
	const struct step_phase *phase = &after.step_thread.phases[0];

	(void)state;
	scene__make(&before, 2, FROM);
	before.profile.thread_count = before.profile.missed_count = 2;
	scene__make(&after, 5, NOW);
	subtract(&after, &before);
	assert_int_equal(profile->function_count, 1);
	assert_int_equal(profile->functions[0].time.calls, 3);
	assert_int_equal(profile->functions[0].time.ns, 300);
	/* The longest one may have been earlier: its bucket's end, but no more than it was. */
	assert_int_equal(profile->functions[0].time.max_ns, 100);
	/* The thread that had ended is left out with its estimates; one is new. */
	assert_int_equal(profile->thread_count, 2);
	assert_int_equal(profile->ended_count, 0);
	assert_int_equal(profile->threads[0].tid, 2);
	assert_int_equal(profile->threads[0].launches, 30);
	assert_int_equal(profile->threads[0].first_ns, FROM);
	assert_int_equal(profile->threads[0].idle_max_ns, 0);
	assert_int_equal(profile->missed[0].launches, 6);
	assert_int_equal(profile->threads[1].launches, 5);
	assert_int_equal(profile->threads[1].first_ns, FROM + 5);
	assert_int_equal(profile->missed[1].launches, 5);
	assert_int_equal(profile->start.count, 0);
	assert_int_equal(phase->steps, 30);
	assert_int_equal(phase->first_ns, FROM - 1);
	assert_int_equal(phase->first_count, 1);
	assert_int_equal(phase->first[0].begin_ns, FROM + 1);
	arena__clear(&memory);
}

/* The peak between readings with these peaks and live bytes of one device. */
static uint64_t peak_of(uint64_t peak_before, uint64_t live_before, uint64_t peak, uint64_t live)
{
	static struct scene before, after;
	struct device_totals earlier = {.live_bytes = live_before}, later = {.live_bytes = live};

	scene__make(&before, 2, FROM);
	scene__make(&after, 5, NOW);
	before.profile.peak_bytes = peak_before;
	before.process.devices = &earlier;
	after.profile.peak_bytes = peak;
	after.process.devices = &later;
	before.process.device_count = after.process.device_count = 1;
	subtract(&after, &before);
	arena__clear(&memory);
	return after.profile.peak_bytes;
}

/* A new peak is of the time between. Otherwise only what was live at its ends is known. */
static void test_peak(void **state)
{
	(void)state;
	assert_int_equal(peak_of(1000, 400, 1500, 300), 1500);
	assert_int_equal(peak_of(1000, 400, 1000, 300), 400);
	assert_int_equal(peak_of(1000, 400, 1000, 700), 700);
}

/* Ended threads move to the sums: what they did before is not in the difference. */
static void test_thread_that_is_not_listed_any_more(void **state)
{
	static struct scene before, after;

	(void)state;
	scene__make(&before, 1, FROM);
	scene__make(&after, 1, NOW);
	before.threads[1].time[TIME_WAIT] = (struct time_totals){4, 400};
	after.profile.threads++;
	after.profile.missed++;
	after.threads[1] = after.threads[2];
	after.profile.thread_count = after.profile.missed_count = 1;
	after.profile.ended_count = 0;
	after.profile.unlisted_threads = 1;
	after.profile.unlisted_time[TIME_WAIT] = (struct time_totals){6, 600};
	after.profile.unlisted_wall_ns = 3000;
	before.profile.threads++;
	before.profile.missed++;
	before.profile.thread_count = before.profile.missed_count = 1;
	subtract(&after, &before);
	assert_int_equal(after.profile.unlisted_time[TIME_WAIT].calls, 2);
	assert_int_equal(after.profile.unlisted_time[TIME_WAIT].ns, 200);
	assert_int_equal(after.profile.unlisted_wall_ns, 3000 - (FROM - 20));
	arena__clear(&memory);
}

static void test_ended_before(void **state)
{
	static struct scene before, after;

	(void)state;
	scene__make(&before, 1, FROM);
	scene__make(&after, 1, NOW);
	before.process.ended = after.process.ended = true;
	subtract(&after, &before);
	assert_int_equal(after.model.process_count, 0);
	scene__make(&after, 1, NOW);
	before.model.process_count = 0;
	subtract(&after, &before);
	assert_int_equal(after.model.process_count, 1);
	assert_int_equal(after.process.launches, 20);
	assert_false(after.process.since_attach);
	arena__clear(&memory);
}

/* As a reader bounds what it reads. */
static struct model *bounded_model(struct arena *arena)
{
	struct model *model = random_model(arena);

	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		process->object_call_count = process->site_count / 2;
		process->site_count -= process->object_call_count;
		if (process->profile)
			process->profile->ended_count = process->profile->missed_count =
				process->profile->thread_count / 2;
	}
	return model;
}

/* Whatever a file has. */
static void test_random_readings(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		struct arena readings = {0};
		struct recorded_reading *a = arena__take(&readings, 1, sizeof(*a)),
					*b = arena__take(&readings, 1, sizeof(*b));

		a->model = bounded_model(&readings);
		b->model = bounded_model(&readings);
		assert_int_equal(recorded_reading__subtract(b, a, &memory), 0);
		arena__clear(&memory);
		arena__clear(&readings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_happened),
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_thread_that_is_not_listed_any_more),
		cmocka_unit_test(test_peak),
		cmocka_unit_test(test_ended_before),
		cmocka_unit_test(test_random_readings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
