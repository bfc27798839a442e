// SPDX-License-Identifier: BSD-2-Clause
// When the probes of error queries are attached.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "govern/ask_probes.h"
#include "model/profile.h"

#define BEGAN_NS (100 * NS_PER_S)

/* A process whose first call is at BEGAN_NS, and one that may be added later. */
struct scene {
	struct model model;
	struct process processes[2];
	struct profile profiles[2];
	struct thread_profile threads[2];
	struct failure failure;
	struct ask_probes probes;
	bool in;
	int ret; /* result of watching */
};

static int watch(void *arg, bool in)
{
	struct scene *scene = arg;

	assert_true(in != scene->in);
	if (!scene->ret)
		scene->in = in;
	return scene->ret;
}

static int begin(void **state)
{
	struct scene *scene = test_calloc(1, sizeof(*scene));

	scene->in = true;
	scene->model.processes = scene->processes;
	scene->model.process_count = 1;
	for (int i = 0; i < 2; i++) {
		scene->processes[i].profile = &scene->profiles[i];
		scene->profiles[i].threads = &scene->threads[i];
		scene->profiles[i].thread_count = 1;
	}
	scene->threads[0].first_ns = BEGAN_NS;
	scene->processes[0].failures = &scene->failure;
	*state = scene;
	return 0;
}

static int end(void **state)
{
	test_free(*state);
	return 0;
}

/* Whether the probes are attached after a check this long after the first call. */
static bool is_in(struct scene *scene, double seconds)
{
	scene->model.now_ns = BEGAN_NS + (uint64_t)(seconds * 1e9);
	ask_probes__look(&scene->probes, &scene->model, watch, scene);
	return scene->in;
}

static void call_fails(struct scene *scene, double seconds)
{
	scene->processes[0].failure_count = 1;
	scene->failure.last_ns = BEGAN_NS + (uint64_t)(seconds * 1e9);
}

static void they_go_after_the_start(void **state)
{
	assert_true(is_in(*state, 4.9));
	assert_false(is_in(*state, 5));
	assert_false(is_in(*state, 1000));
}

static void who_was_there_before_has_had_its_start(void **state)
{
	struct scene *scene = *state;

	scene->processes[0].since_attach = true;
	assert_false(is_in(scene, 0));
}

static void where_they_begin_out_a_failure_brings_them(void **state)
{
	struct scene *scene = *state;

	scene->processes[0].since_attach = true;
	scene->probes.out = true;
	scene->in = false;
	assert_false(is_in(scene, 0));
	call_fails(scene, 20);
	assert_true(is_in(scene, 21));
}

static void before_the_first_call_they_stay(void **state)
{
	struct scene *scene = *state;

	scene->threads[0].first_ns = 0;
	assert_true(is_in(scene, 100));
	scene->model.process_count = 0;
	assert_true(is_in(scene, 200));
}

static void a_failure_of_the_start_holds_them(void **state)
{
	struct scene *scene = *state;

	call_fails(scene, 3);
	assert_true(is_in(scene, 5));
	assert_true(is_in(scene, 7.9));
	assert_false(is_in(scene, 8));
}

static void a_failure_brings_them_back_for_good(void **state)
{
	struct scene *scene = *state;

	assert_false(is_in(scene, 5));
	call_fails(scene, 20);
	assert_true(is_in(scene, 21));
	assert_true(is_in(scene, 1000));
}

static void a_new_process_brings_them_back_for_its_start(void **state)
{
	struct scene *scene = *state;

	assert_false(is_in(scene, 5));
	scene->model.process_count = 2;
	assert_false(is_in(scene, 6));
	scene->threads[1].first_ns = BEGAN_NS + 7 * NS_PER_S;
	assert_true(is_in(scene, 7.5));
	assert_true(is_in(scene, 11.9));
	assert_false(is_in(scene, 12));
}

static void who_has_ended_asks_no_more(void **state)
{
	struct scene *scene = *state;

	scene->processes[0].ended = true;
	assert_false(is_in(scene, 1));
}

static void what_fails_is_tried_again(void **state)
{
	struct scene *scene = *state;

	scene->ret = -1;
	assert_true(is_in(scene, 5));
	scene->ret = 0;
	assert_false(is_in(scene, 6));
	call_fails(scene, 7);
	scene->ret = -1;
	assert_false(is_in(scene, 8));
	scene->ret = 0;
	assert_true(is_in(scene, 9));
	assert_true(is_in(scene, 100));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(they_go_after_the_start),
		TEST(who_was_there_before_has_had_its_start),
		TEST(where_they_begin_out_a_failure_brings_them),
		TEST(before_the_first_call_they_stay),
		TEST(a_failure_of_the_start_holds_them),
		TEST(a_failure_brings_them_back_for_good),
		TEST(a_new_process_brings_them_back_for_its_start),
		TEST(who_has_ended_asks_no_more),
		TEST(what_fails_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
