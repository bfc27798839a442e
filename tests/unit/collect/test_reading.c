// SPDX-License-Identifier: BSD-2-Clause
// A reading of made-up maps: which steps run, which elements are taken, which are deleted and when.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include <cmocka.h>

#include "collect/ended_keys.h"
#include "collect/reading.h"
#include "gen/gpuprobe.skel.h"

#define ELEMENTS 4
#define STEPS_MAX 8

enum {
	LIVING,
	ENDED,
	UNKNOWN, /* a slot whose process the model does not have */
	SLOTS,
};

struct bpf_map {
	struct event_key keys[ELEMENTS];
	size_t count;
	size_t taken, deleted;
	bool deletes; /* what is taken in is to be deleted */
	bool skips;
	size_t fails_at; /* so many have been taken in; 0: never */
	size_t deleted_own;
};

/* What is under test works on these in place of libbpf's. */
static struct bpf_map map;

__u32 bpf_map__key_size(const struct bpf_map *of)
{
	(void)of;
	return sizeof(of->keys[0]);
}

__u32 bpf_map__value_size(const struct bpf_map *of)
{
	(void)of;
	return sizeof(uint64_t);
}

int bpf_map__fd(const struct bpf_map *of)
{
	(void)of;
	return 0;
}

int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys, void *values,
			 __u32 *count, const struct bpf_map_batch_opts *opts)
{
	(void)fd, (void)in_batch, (void)out_batch, (void)opts;
	memcpy(keys, map.keys, map.count * sizeof(*map.keys));
	memset(values, 0, map.count * sizeof(uint64_t));
	*count = (__u32)map.count;
	errno = ENOENT;
	return -ENOENT;
}

int bpf_map__delete_elem(const struct bpf_map *of, const void *key, size_t size, __u64 flags)
{
	(void)of, (void)flags;
	assert_int_equal(size, sizeof(map.keys[0]));
	for (size_t i = 0; i < map.count; i++)
		if (!memcmp(&map.keys[i], key, size)) {
			map.keys[i] = map.keys[--map.count];
			map.deleted++;
			return 0;
		}
	return -ENOENT;
}

/* --- a reading --- */

struct scene {
	struct gpuprobe_bpf skeleton;
	struct collector collector;
	struct process processes[UNKNOWN];
	uint32_t index_of[SLOTS];
	struct reading reading;
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	map = (struct bpf_map){0};
	scene->skeleton.maps.events = &map;
	scene->skeleton.maps.tallies = &map;
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		scene->index_of[slot] = slot == UNKNOWN ? NO_PROCESS : slot;
	for (uint32_t slot = 0; slot < UNKNOWN; slot++)
		scene->processes[slot] = (struct process){.slot = slot, .ended = slot == ENDED};
	scene->collector = (struct collector){
		.skeleton = &scene->skeleton,
		.options.max_processes = SLOTS,
		.index_of = scene->index_of,
		.model = {.processes = scene->processes, .process_count = UNKNOWN},
		.reader = map_reader__new(),
		.ended = ended_keys__new(),
	};
	assert_non_null(scene->collector.reader);
	assert_non_null(scene->collector.ended);
	scene->reading.collector = &scene->collector;
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	map_reader__free(scene->collector.reader);
	ended_keys__free(scene->collector.ended);
	free(scene->reading.to_delete.keys);
	free(scene);
	return 0;
}

static void add(uint32_t slot)
{
	map.keys[map.count] = (struct event_key){.event = 100 + map.count, .slot = slot};
	map.count++;
}

static int take(struct reading *reading, struct process *process, const void *key,
		const void *value)
{
	uint32_t slot = ((const struct event_key *)key)->slot;

	(void)value;
	assert_ptr_equal(process, collector__process_at(reading->collector, slot));
	assert_int_equal(map.deleted, 0);
	if (++map.taken == map.fails_at)
		return -EIO;
	return map.skips ? ELEMENT_SKIP : (map.deletes ? ELEMENT_DELETE : ELEMENT_KEEP);
}

static void delete_own(struct reading *reading, const void *key)
{
	assert_int_equal(map.taken, 3);
	map.deleted_own++;
	bpf_map__delete_elem(reading->collector->skeleton->maps.events, key,
			     sizeof(struct event_key), 0);
}

static const struct reading_step walk = {IN_MAP(events, event_key, slot), .take = take};

static bool has(uint32_t slot)
{
	for (size_t i = 0; i < map.count; i++)
		if (map.keys[i].slot == slot)
			return true;
	return false;
}

/* What of ended processes is noted is deleted at the end of a reading. */
static void end(struct scene *scene)
{
	ended_keys__delete(scene->collector.ended);
}

/* --- a walk --- */

static void test_what_is_kept_stays(void **state)
{
	struct scene *scene = *state;

	add(LIVING);
	add(ENDED);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	end(scene);
	assert_int_equal(map.taken, 2);
	assert_int_equal(map.count, 2);
}

static void test_ended_processes_go_at_the_end(void **state)
{
	struct scene *scene = *state;

	scene->reading.reap = true;
	add(LIVING);
	add(ENDED);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	assert_int_equal(map.count, 2);
	end(scene);
	assert_int_equal(map.count, 1);
	assert_true(has(LIVING));
}

static void test_without_a_function_it_is_the_same(void **state)
{
	static const struct reading_step plain = {IN_MAP(events, event_key, slot)};
	struct scene *scene = *state;

	scene->reading.reap = true;
	add(LIVING);
	add(ENDED);
	add(UNKNOWN);
	assert_int_equal(reading__walk(&scene->reading, &plain), 0);
	end(scene);
	assert_int_equal(map.count, 2);
	assert_false(has(ENDED));
}

/* `take` asserts that nothing is deleted while the map is walked. */
static void test_deleted_after_the_walk(void **state)
{
	struct scene *scene = *state;

	map.deletes = true;
	add(LIVING);
	add(ENDED);
	add(LIVING);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	assert_int_equal(map.count, 0);
}

static void test_a_reaped_process_comes_first(void **state)
{
	struct scene *scene = *state;

	scene->reading.reap = map.deletes = true;
	add(LIVING);
	add(ENDED);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	assert_int_equal(map.count, 1);
	assert_true(has(ENDED));
	end(scene);
	assert_int_equal(map.count, 0);
}

static void test_skipped_stays_without_its_process(void **state)
{
	struct scene *scene = *state;

	scene->reading.reap = map.skips = true;
	add(ENDED);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	end(scene);
	assert_int_equal(map.count, 1);
}

static void test_unknown_processes_are_left(void **state)
{
	struct scene *scene = *state;

	scene->reading.reap = map.deletes = true;
	add(UNKNOWN);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	end(scene);
	assert_int_equal(map.taken, 0);
	assert_int_equal(map.count, 1);
}

static void test_unknown_processes_where_they_are_asked_for(void **state)
{
	static const struct reading_step all = {IN_MAP(events, event_key, slot), .take = take,
						.of_unknown = true};
	struct scene *scene = *state;

	scene->reading.reap = map.deletes = true;
	add(UNKNOWN);
	assert_int_equal(reading__walk(&scene->reading, &all), 0);
	assert_int_equal(map.taken, 1);
	assert_int_equal(map.count, 0);
}

static void test_deleted_by_a_function_of_its_own(void **state)
{
	static const struct reading_step own = {IN_MAP(events, event_key, slot), .take = take,
						.delete = delete_own};
	struct scene *scene = *state;

	scene->reading.reap = map.deletes = true;
	add(LIVING);
	add(ENDED);
	add(LIVING);
	assert_int_equal(reading__walk(&scene->reading, &own), 0);
	/* All is done. */
	reading__delete(&scene->reading);
	end(scene);
	assert_int_equal(map.deleted_own, 2);
	assert_int_equal(map.deleted, 3);
}

/* The first was taken over for good; the others are for the next reading. */
static void test_a_walk_that_breaks_off(void **state)
{
	struct scene *scene = *state;

	map.deletes = true;
	map.fails_at = 2;
	for (int i = 0; i < 3; i++)
		add(LIVING);
	assert_int_equal(reading__walk(&scene->reading, &walk), -EIO);
	assert_int_equal(map.taken, 2);
	assert_int_equal(map.deleted, 1);
}

static void test_what_a_walk_left_is_not_deleted_by_the_next(void **state)
{
	struct scene *scene = *state;

	add(LIVING);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	assert_int_equal(reading__delete_later(&scene->reading, &map.keys[0]), 0);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	assert_int_equal(map.count, 1);
}

static void test_deleted_later_than_the_walk(void **state)
{
	struct scene *scene = *state;

	add(LIVING);
	assert_int_equal(reading__walk(&scene->reading, &walk), 0);
	assert_int_equal(reading__delete_later(&scene->reading, &map.keys[0]), 0);
	assert_int_equal(map.count, 1);
	assert_int_equal(reading__delete(&scene->reading), 0);
	assert_int_equal(map.count, 0);
}

static int take_narrow(struct reading *reading, struct process *process, const void *key,
		       const void *value)
{
	(void)value;
	assert_int_equal(((const struct tally_key *)key)->slot, ENDED);
	assert_ptr_equal(process, collector__process_at(reading->collector, ENDED));
	map.taken++;
	return ELEMENT_KEEP;
}

/* What stands behind a slot of 16 bits is no part of it. */
static void test_slots_of_16_bits(void **state)
{
	static const struct reading_step narrow = {IN_MAP(tallies, tally_key, slot),
						   .take = take_narrow};
	const struct tally_key key = {.slot = ENDED, .row = UINT16_MAX};
	struct scene *scene = *state;

	assert_true(sizeof(key) <= sizeof(map.keys[0]));
	memcpy(&map.keys[0], &key, sizeof(key));
	map.count = 1;
	reading__begin_walk(&scene->reading, &narrow);
	assert_int_equal(reading__take(&key, &(uint64_t){0}, &scene->reading), 0);
	assert_int_equal(map.taken, 1);
}

/* --- steps --- */

static char ran[STEPS_MAX + 1];

static int note(char letter, int ret)
{
	char text[] = {letter, '\0'};

	assert_true(strlen(ran) < STEPS_MAX);
	strcat(ran, text);
	return ret;
}

static int a(struct reading *reading)
{
	(void)reading;
	return note('a', 0);
}

static int b(struct reading *reading)
{
	(void)reading;
	return note('b', 0);
}

static int failing(struct reading *reading)
{
	(void)reading;
	return note('F', -EIO);
}

static int failing_too(struct reading *reading)
{
	(void)reading;
	return note('G', -ENOSPC);
}

#define RUN(...) \
	run(*state, (const struct reading_step[]){__VA_ARGS__}, \
	    sizeof((const struct reading_step[]){__VA_ARGS__}) / sizeof(struct reading_step))

static int run(struct scene *scene, const struct reading_step *steps, size_t count)
{
	ran[0] = '\0';
	return reading__run(&scene->reading, steps, count);
}

static void test_steps_run_in_their_order(void **state)
{
	assert_int_equal(RUN({.run = b}, {.run = a}, {.run = b, .on_failure = FAILED_STOP},
			     {.run = a, .on_failure = FAILED_RUN}),
			 0);
	assert_string_equal(ran, "baba");
}

static void test_a_step_walks_over_its_map(void **state)
{
	struct scene *scene = *state;

	scene->reading.reap = true;
	add(ENDED);
	assert_int_equal(RUN({IN_MAP(events, event_key, slot), .take = take}, {.run = a}), 0);
	assert_int_equal(map.taken, 1);
	assert_string_equal(ran, "a");
}

static void test_what_runs_after_a_failure(void **state)
{
	assert_int_equal(RUN({.run = a}, {.run = failing}, {.run = a},
			     {.run = b, .on_failure = FAILED_RUN}, {.run = a}),
			 -EIO);
	assert_string_equal(ran, "aFb");
}

static void test_where_a_failure_stops_all(void **state)
{
	assert_int_equal(RUN({.run = failing}, {.run = a, .on_failure = FAILED_STOP},
			     {.run = b, .on_failure = FAILED_RUN}),
			 -EIO);
	assert_string_equal(ran, "F");
}

/* Also where it would not have run itself. */
static void test_a_step_that_does_not_apply_stops_all(void **state)
{
	assert_int_equal(RUN({.run = failing},
			     {.run = a, .only = WITH_STACKS, .on_failure = FAILED_STOP},
			     {.run = b, .on_failure = FAILED_RUN}),
			 -EIO);
	assert_string_equal(ran, "F");
}

static void test_the_first_failure_is_reported(void **state)
{
	assert_int_equal(RUN({.run = failing}, {.run = failing_too, .on_failure = FAILED_RUN}),
			 -EIO);
	assert_string_equal(ran, "FG");
}

static void test_conditions(void **state)
{
	struct scene *scene = *state;

#define CONDITIONS \
	{.run = a, .only = ON_REAP}, {.run = b, .only = WITH_PROFILE}, \
		{.run = a, .only = WITH_STACKS}, {.run = b, .only = WITH_PROFILE | WITH_STACKS}
	assert_int_equal(RUN(CONDITIONS), 0);
	assert_string_equal(ran, "");
	scene->reading.reap = true;
	assert_int_equal(RUN(CONDITIONS), 0);
	assert_string_equal(ran, "a");
	scene->reading.reap = false;
	scene->collector.profile_maps = (void *)&map;
	assert_int_equal(RUN(CONDITIONS), 0);
	assert_string_equal(ran, "b");
	scene->collector.stacks = (void *)&map;
	assert_int_equal(RUN(CONDITIONS), 0);
	assert_string_equal(ran, "bab");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_kept_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ended_processes_go_at_the_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_without_a_function_it_is_the_same, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_deleted_after_the_walk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_reaped_process_comes_first, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_skipped_stays_without_its_process, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_unknown_processes_are_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unknown_processes_where_they_are_asked_for,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deleted_by_a_function_of_its_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_walk_that_breaks_off, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_a_walk_left_is_not_deleted_by_the_next,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deleted_later_than_the_walk, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_slots_of_16_bits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_steps_run_in_their_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_step_walks_over_its_map, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_runs_after_a_failure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_where_a_failure_stops_all, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_step_that_does_not_apply_stops_all, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_the_first_failure_is_reported, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_conditions, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
