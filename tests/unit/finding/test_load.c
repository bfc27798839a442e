// SPDX-License-Identifier: BSD-2-Clause
// How much work a process has given its GPUs, and how long they held it up.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_scene.h"

static struct load load_of(const struct load_scene *scene)
{
	struct load load;

	load__of(&scene->process, scene->model.now_ns, &load);
	load__add_use(&scene->model, &scene->process, &load);
	return load;
}

static int begin(void **state)
{
	*state = scene__new();
	return 0;
}

static int end(void **state)
{
	scene__free(*state);
	return 0;
}

/* --- sums --- */

static void threads_are_summed_up_with_those_that_are_gone(void **state)
{
	struct load_scene *scene = *state;
	struct load load;

	scene->thread.time[TIME_LAUNCH] = (struct time_totals){.calls = 5, .ns = 50};
	scene->thread.time[TIME_COPY] = (struct time_totals){.calls = 3, .ns = 30};
	scene->profile.unlisted_time[TIME_LAUNCH] = (struct time_totals){.calls = 2, .ns = 20};
	scene->profile.unlisted_time[TIME_WAIT] = (struct time_totals){.calls = 1, .ns = 70};
	load = load_of(scene);
	assert_int_equal(load.ns, SCENE_BEGAN);
	assert_int_equal(load.launches, 7);
	assert_int_equal(load.copies, 3);
	assert_int_equal(load.time[TIME_LAUNCH].ns, 70);
	assert_int_equal(load.held_ns, 70);
}

static void it_is_as_of_the_end_of_the_process(void **state)
{
	struct load_scene *scene = *state;

	scene->process.ended_ns = SCENE_BEGAN - 5;
	assert_int_equal(load_of(scene).ns, SCENE_BEGAN - 5);
	/* Its end has been seen since. */
	scene->process.ended_ns = SCENE_BEGAN + 5;
	assert_int_equal(load_of(scene).ns, SCENE_BEGAN);
}

static void a_difference_is_never_below_zero(void **state)
{
	struct load_scene *scene = *state;
	const struct stretch second = {.ns = NS_PER_S,
				       .launches = 10,
				       .copies = 4,
				       .waited_ns = 300 * MS,
				       .idle_ns = 200 * MS};
	struct load before = load_of(scene), after, difference;

	scene__pass(scene, &second);
	scene->profile.totals.queues[0].idle_times = 3;
	after = load_of(scene);
	load__since(&after, &before, &difference);
	assert_int_equal(difference.ns, NS_PER_S);
	assert_int_equal(difference.launches, 10);
	assert_int_equal(difference.copies, 4);
	assert_int_equal(difference.held_ns, 300 * MS);
	assert_int_equal(difference.queues[0].idle_ns, 200 * MS);
	assert_int_equal(difference.queues[0].idle_times, 3);
	assert_true(difference.queues[0].used);
	assert_true(difference.proves);
	load__since(&before, &after, &difference);
	assert_int_equal(difference.ns, 0);
	assert_int_equal(difference.launches, 0);
	assert_int_equal(difference.held_ns, 0);
	assert_int_equal(difference.queues[0].idle_ns, 0);
}

/* --- queues --- */

static void idle_time_goes_on_while_nobody_submits(void **state)
{
	struct load_scene *scene = *state;
	struct device_queue *queue = &scene->profile.totals.queues[0];

	queue->idle_ns = 100;
	queue->idle_since_ns = SCENE_BEGAN - 40;
	assert_int_equal(load_of(scene).queues[0].idle_ns, 140);
	/* A call that may submit work has begun, and may have ended the idle time. */
	scene->thread.submitting_ns = SCENE_BEGAN - 10;
	assert_int_equal(load_of(scene).queues[0].idle_ns, 100);
	/* The thread has ended. */
	scene->profile.ended_count = 1;
	assert_int_equal(load_of(scene).queues[0].idle_ns, 140);
	/* It began after the time of the reading. */
	queue->idle_since_ns = SCENE_BEGAN + 1;
	assert_int_equal(load_of(scene).queues[0].idle_ns, 100);
}

static void devices_have_queues_of_their_own(void **state)
{
	struct load_scene *scene = *state;
	struct load load;

	scene->profile.totals.queues[0].idle_ns = 10;
	scene->profile.totals.queues[1].idle_ns = 20;
	scene->profile.totals.queues[1].launched_epoch = 1;
	load = load_of(scene);
	assert_int_equal(load.queues[0].idle_ns, 10);
	assert_int_equal(load.queues[1].idle_ns, 20);
	assert_true(load.queues[0].used && load.queues[1].used && !load.queues[2].used);
}

static void what_is_not_seen_proves_nothing(void **state)
{
	struct load_scene *scene = *state;

	assert_true(load_of(scene).proves);
	scene->profile.totals.unproven = 1;
	assert_false(load_of(scene).proves);
}

/* --- being held up --- */

static struct duration_record durations(uint64_t count, uint64_t ns, uint64_t more,
					uint64_t more_ns)
{
	struct duration_record time = {.ns = count * ns + more * more_ns,
				       .max_ns = ns > more_ns ? ns : more_ns};

	time.buckets[time_bucket(ns)] += count;
	time.buckets[time_bucket(more_ns)] += more;
	return time;
}

static void assert_about(uint64_t ns, uint64_t expected)
{
	assert_in_range(ns, expected - expected / 16, expected + expected / 16);
}

/* How long launches of these durations were held up. */
static uint64_t held_in_launches(const struct duration_record *time)
{
	struct load_scene *scene = scene__new();
	uint64_t held_ns;

	scene->profile.function_count = 1;
	scene->functions[0].row = (uint16_t)api__find("cuLaunchKernel", API_NEWEST);
	scene->functions[0].time = *time;
	held_ns = load_of(scene).held_launch_ns;
	scene__free(scene);
	return held_ns;
}

static void launches_that_find_no_room_are_held_up(void **state)
{
	struct duration_record time = durations(900, 5 * US, 100, 2000 * US);

	(void)state;
	assert_about(held_in_launches(&time), 100 * 1995 * US);
	/* All of them, as after a late attach. */
	time = durations(0, 0, 100, 2000 * US);
	assert_about(held_in_launches(&time), 100 * 1990 * US);
}

static void slow_launches_are_not_held_up_by_that_alone(void **state)
{
	struct duration_record time = durations(900, 5 * US, 100, 19 * US);

	(void)state;
	/* Four times the usual duration, but less than LAUNCH_HELD_NS. */
	assert_int_equal(held_in_launches(&time), 0);
	/* Longer than that, but the usual one takes nearly as long. */
	time = durations(900, 9 * US, 100, 30 * US);
	assert_int_equal(held_in_launches(&time), 0);
	time = durations(900, 9 * US, 100, 45 * US);
	assert_about(held_in_launches(&time), 100 * 36 * US);
	time = (struct duration_record){0};
	assert_int_equal(held_in_launches(&time), 0);
}

static void held_is_no_more_than_the_time_inside(void **state)
{
	struct duration_record time = durations(0, 0, 10, 2000 * US);

	(void)state;
	time.ns = 1000;
	assert_int_equal(held_in_launches(&time), 1000);
}

static void only_launches_count(void **state)
{
	struct load_scene *scene = *state;

	scene->profile.function_count = 2;
	scene->functions[0].row = (uint16_t)api__find("cuLaunchKernel", API_NEWEST);
	scene->functions[0].time = durations(90, 5 * US, 10, 1000 * US);
	scene->functions[1].row = (uint16_t)api__find("cuMemAlloc_v2", API_NEWEST);
	scene->functions[1].time = scene->functions[0].time;
	assert_about(load_of(scene).held_ns, 10 * 995 * US);
	scene->functions[1].row = (uint16_t)api__find("cuGraphLaunch", API_NEWEST);
	assert_about(load_of(scene).held_ns, 2 * 10 * 995 * US);
	/* An unknown function does not count. */
	scene->functions[1].row = UINT16_MAX;
	assert_about(load_of(scene).held_ns, 10 * 995 * US);
}

/* Ten copies of 4,000,000 bytes, which take at most 1,020 us each by themselves. */
static void add_copies(struct load_scene *scene, uint8_t kind, uint8_t async, uint8_t host)
{
	struct profile_copies *copies = &scene->copies[0];

	scene->profile.copy_count = 1;
	copies->key = (struct copy_size_key){.kind = kind, .async = async, .host = host};
	copies->record.calls[21] = 10;
	copies->record.bytes[21] = 40000000;
	copies->record.ns[21] = 10 * 1520 * US;
}

static void copies_to_the_host_wait_for_what_was_before(void **state)
{
	struct load_scene *scene = *state;

	add_copies(scene, COPY_D2H, 0, COPY_HOST_PINNED);
	assert_int_equal(load_of(scene).held_ns, 10 * 500 * US);
	add_copies(scene, COPY_D2H, 1, COPY_HOST_PAGEABLE);
	assert_int_equal(load_of(scene).held_ns, 10 * 500 * US);
	add_copies(scene, COPY_D2H, 1, COPY_HOST_PINNED);
	assert_int_equal(load_of(scene).held_ns, 0);
	add_copies(scene, COPY_H2D, 0, COPY_HOST_PAGEABLE);
	assert_int_equal(load_of(scene).held_ns, 0);
	/* They took no longer than necessary. */
	add_copies(scene, COPY_D2H, 0, COPY_HOST_PAGEABLE);
	scene->copies[0].record.ns[21] = 10 * 1020 * US;
	assert_int_equal(load_of(scene).held_ns, 0);
}

/* --- without a profile --- */

static void totals_stand_in_for_an_profile(void **state)
{
	struct load_scene *scene = *state;
	struct load load;

	scene->process.profile = NULL;
	scene->process.launches = 5;
	scene->process.graph_launches = 2;
	scene->process.copies[COPY_H2D][0].calls = 3;
	scene->process.copies[COPY_SET][1].calls = 4;
	scene->process.waits[WAIT_STREAM].ns = 10;
	scene->process.waits[WAIT_CONTEXT].ns = 20;
	scene->process.copy_waits.ns = 100;
	scene->process.free_waits.ns = 200;
	load = load_of(scene);
	assert_false(load.profile);
	assert_false(load.proves);
	assert_false(load.estimated);
	assert_int_equal(load.launches, 7);
	assert_int_equal(load.copies, 7);
	assert_int_equal(load.held_ns, 30);
	assert_int_equal(load.blocked_ns, 300);
	for (int i = 0; i < PROFILE_DEVICES; i++)
		assert_false(load.queues[i].used);
	scene->process.unfollowed.calls = 1;
	assert_true(load_of(scene).estimated);
	scene->process.unfollowed.calls = 0;
	scene->process.family_calls[RATE_WAIT].sampled = true;
	assert_true(load_of(scene).estimated);
}

/* --- threads --- */

static void lives_of_threads_that_submit(void **state)
{
	struct load_scene *scene = *state;

	scene->model.now_ns = SCENE_BEGAN + 10 * NS_PER_S;
	scene->thread.first_ns = SCENE_BEGAN + NS_PER_S;
	scene->profile.unlisted_wall_ns = NS_PER_S;
	assert_int_equal(load_of(scene).thread_ns, 10 * NS_PER_S);
	scene->thread.ended_ns = SCENE_BEGAN + 3 * NS_PER_S;
	assert_int_equal(load_of(scene).thread_ns, 3 * NS_PER_S);
	/* It only waits, or allocates. */
	scene->thread.time[TIME_LAUNCH].calls = 0;
	scene->thread.time[TIME_WAIT].calls = 5;
	assert_int_equal(load_of(scene).thread_ns, NS_PER_S);
	scene->thread.time[TIME_COPY].calls = 1;
	assert_int_equal(load_of(scene).thread_ns, 3 * NS_PER_S);
}

/* --- NVML --- */

static void the_busiest_gpu_counts(void **state)
{
	struct load_scene *scene = *state;
	const uint32_t percents[] = {20, 70}, one_unknown[] = {GPU_UNKNOWN_PERCENT, 30},
		       unknown[] = {GPU_UNKNOWN_PERCENT, GPU_UNKNOWN_PERCENT};
	struct load load = load_of(scene);

	assert_int_equal(load.busy_readings, 0);
	scene__set_gpus(scene, 2, percents);
	load = load_of(scene);
	assert_int_equal(load.busy_percent, 70);
	assert_int_equal(load.busy_readings, 1);
	scene__set_gpus(scene, 2, one_unknown);
	assert_int_equal(load_of(scene).busy_percent, 30);
	scene__set_gpus(scene, 2, unknown);
	assert_int_equal(load_of(scene).busy_readings, 0);
	/* Which GPU it is, is unknown. */
	scene__set_gpus(scene, 2, percents);
	scene->used[0].gpu = scene->used[1].gpu = GPU_NONE;
	assert_int_equal(load_of(scene).busy_readings, 0);
	scene->used[1].gpu = 2;
	assert_int_equal(load_of(scene).busy_readings, 0);
	/* The process is gone; others may use the GPU. */
	scene__set_gpus(scene, 2, percents);
	scene->process.ended_ns = SCENE_BEGAN;
	assert_int_equal(load_of(scene).busy_readings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_are_summed_up_with_those_that_are_gone,
						begin, end),
		cmocka_unit_test_setup_teardown(it_is_as_of_the_end_of_the_process, begin, end),
		cmocka_unit_test_setup_teardown(a_difference_is_never_below_zero, begin, end),
		cmocka_unit_test_setup_teardown(idle_time_goes_on_while_nobody_submits, begin, end),
		cmocka_unit_test_setup_teardown(devices_have_queues_of_their_own, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_seen_proves_nothing, begin, end),
		cmocka_unit_test(launches_that_find_no_room_are_held_up),
		cmocka_unit_test(slow_launches_are_not_held_up_by_that_alone),
		cmocka_unit_test(held_is_no_more_than_the_time_inside),
		cmocka_unit_test_setup_teardown(only_launches_count, begin, end),
		cmocka_unit_test_setup_teardown(copies_to_the_host_wait_for_what_was_before, begin,
						end),
		cmocka_unit_test_setup_teardown(totals_stand_in_for_an_profile, begin, end),
		cmocka_unit_test_setup_teardown(lives_of_threads_that_submit, begin, end),
		cmocka_unit_test_setup_teardown(the_busiest_gpu_counts, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
