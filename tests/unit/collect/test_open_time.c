// SPDX-License-Identifier: BSD-2-Clause
// Time in calls in progress: added once to the counted time, and never below what was reported.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "collect/open_time.h"
#include "collect/tally.h"
#include "model/profile.h"
#include "api/api.h"

#define SLOT 3

/* A process that gpuprobe reads repeatedly. */
struct scene {
	struct collector collector;
	struct process process;
	struct open_time *time;
	uint32_t index_of[SLOT + 1];
	struct tally counted; /* of the wait, on device 0 */
	struct thread_profile thread;
};

static uint16_t row_of(const char *name)
{
	return (uint16_t)api__find(name, API_NEWEST);
}

static struct scene *scene__new(void)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->collector.options.max_processes = SLOT + 1;
	scene->collector.index_of = scene->index_of;
	memset(scene->index_of, 0xff, sizeof(scene->index_of));
	scene->index_of[SLOT] = 0;
	scene->process.slot = SLOT;
	scene->process.profile = profile__new();
	scene->collector.model.processes = &scene->process;
	scene->collector.model.process_count = 1;
	scene->thread.tid = 100;
	scene->thread.start_ns = NS_PER_S;
	scene->time = open_time__new();
	assert_non_null(scene->time);
	return scene;
}

static void scene__free(struct scene *scene)
{
	open_time__free(scene->time);
	process__clear(&scene->process);
	free(scene);
}

/* The first part of a reading: counters are taken from the maps. */
static void scene__count(struct scene *scene)
{
	const struct tally_key key = {
		.slot = SLOT, .row = row_of("cuStreamSynchronize"), .kind = WAIT_STREAM};
	struct profile *profile = scene->process.profile;
	const struct profile_function function = {
		.row = key.row, .time.ns = scene->counted.ns + scene->counted.other_ns};

	tally__reset(&scene->process);
	assert_int_equal(tally__apply(&scene->process, &key, &scene->counted), 0);
	profile->function_count = 0;
	assert_int_equal(ARRAY_APPEND(profile->functions, profile->function_count, function), 0);
	profile->thread_count = 1;
	if (!profile->threads)
		profile->threads = malloc(sizeof(*profile->threads));
	assert_non_null(profile->threads);
	profile->threads[0] = scene->thread;
	profile->threads[0].time[TIME_WAIT].ns = scene->counted.ns + scene->counted.other_ns;
}

/*
 * A reading at `now_ns`; the thread has been in its wait since `start_ns`, or is in none if that is
 * 0.
 */
static void scene__read(struct scene *scene, uint64_t start_ns, uint64_t now_ns)
{
	const struct reading reading = {.collector = &scene->collector};
	const struct open_call_record record = {
		.slot = SLOT,
		.tid = 100,
		.thread_start_ns = NS_PER_S,
		.start_ns = start_ns,
		.row = row_of("cuStreamSynchronize"),
		.outermost = 1,
	};

	scene__count(scene);
	if (start_ns)
		assert_int_equal(open_time__add(scene->time, &scene->process, &record, true,
						open_time__since(&record, now_ns)),
				 0);
	assert_int_equal(open_time__settle(scene->time, &reading), 0);
}

/* Checks that every place that has the wait shows these numbers. */
static void expect(const struct scene *scene, uint64_t ns, uint64_t open)
{
	const struct process *process = &scene->process;
	const struct profile *profile = process->profile;

	assert_int_equal(process->waits[WAIT_STREAM].ns, ns);
	assert_int_equal(process->waits[WAIT_STREAM].open, open);
	assert_int_equal(process->devices[0].waits[WAIT_STREAM].ns, ns);
	assert_int_equal(process->devices[0].wait_ns, ns);
	assert_int_equal(profile->threads[0].time[TIME_WAIT].ns, ns);
	assert_int_equal(profile->functions[0].open, open);
	assert_int_equal(profile_function__ns(&profile->functions[0]), ns);
}

static void test_adds_to_what_is_counted(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	scene->counted = (struct tally){.calls = 2, .ns = 30};
	scene__read(scene, 1000, 1500);
	expect(scene, 530, 1);
	assert_int_equal(scene->process.waits[WAIT_STREAM].calls, 2);
	assert_int_equal(scene->process.waits[WAIT_STREAM].beside_ns, 500);
	scene__read(scene, 1000, 1700);
	expect(scene, 730, 1);
	scene__free(scene);
}

static void test_once_when_it_has_returned(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	scene__read(scene, 1000, 1500);
	scene->counted = (struct tally){.calls = 1, .ns = 900};
	scene__read(scene, 0, 2000);
	assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 900);
	assert_int_equal(scene->process.waits[WAIT_STREAM].open, 0);
	assert_int_equal(scene->process.waits[WAIT_STREAM].beside_ns, 0);
	scene__read(scene, 3000, 3010);
	assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 910);
	scene__free(scene);
}

/* It returned after the counters were read, but before the calls in progress were. */
static void test_returns_between_the_two(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	scene__read(scene, 1000, 1500);
	scene__read(scene, 0, 2000);
	assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 500);
	assert_int_equal(scene->process.profile->threads[0].time[TIME_WAIT].ns, 500);
	/* And another wait has begun. */
	scene__read(scene, 1900, 2100);
	assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 500);
	scene->counted = (struct tally){.calls = 1, .ns = 900};
	scene__read(scene, 1900, 2200);
	assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 1200);
	assert_int_equal(scene->process.profile->threads[0].time[TIME_WAIT].ns, 1200);
	scene__free(scene);
}

/* Failed calls are not counted with the others, but their time is. */
static void test_fails(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	scene__read(scene, 1000, 1500);
	scene->counted = (struct tally){.failures = 1, .other_ns = 800};
	scene__read(scene, 0, 2000);
	expect(scene, 800, 0);
	assert_int_equal(scene->process.waits[WAIT_STREAM].calls, 0);
	scene__read(scene, 2000, 2300);
	assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 1100);
	scene__free(scene);
}

/* It began after the time of the reading. */
static void test_begins_meanwhile(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	scene__read(scene, 2000, 1999);
	expect(scene, 0, 1);
	scene__free(scene);
}

/* The slot belongs to another process, which does not inherit the reported time. */
static void test_another_process(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	scene__read(scene, 1000, 9000);
	scene->index_of[SLOT] = NO_PROCESS;
	assert_int_equal(
		open_time__settle(scene->time, &(struct reading){.collector = &scene->collector}),
		0);
	scene->index_of[SLOT] = 0;
	scene__read(scene, 9000, 9001);
	assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 1);
	scene__free(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_to_what_is_counted),
		cmocka_unit_test(test_once_when_it_has_returned),
		cmocka_unit_test(test_returns_between_the_two),
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_begins_meanwhile),
		cmocka_unit_test(test_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
