// SPDX-License-Identifier: BSD-2-Clause
// The load of processes in the latest minute: windows, processes that end, and bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding/load_history.h"
#include "load_scene.h"

struct trend {
	struct load_scene *scene;
	struct load_history *history;
};

static int begin(void **state)
{
	struct trend *trend = test_calloc(1, sizeof(*trend));

	trend->scene = scene__new();
	trend->history = load_history__new();
	*state = trend;
	return trend->history ? 0 : -1;
}

static int end(void **state)
{
	struct trend *trend = *state;

	load_history__free(trend->history);
	scene__free(trend->scene);
	test_free(trend);
	return 0;
}

static void sample(struct trend *trend)
{
	assert_int_equal(load_history__sample(trend->history, &trend->scene->model), 0);
}

/*
 * Repeatedly takes a sample and lets a second with ten launches pass: the third sample is kept,
 * then each fourth one.
 */
static void go_on(struct trend *trend, unsigned int seconds)
{
	const struct stretch second = {.ns = NS_PER_S, .launches = 10, .waited_ns = 100 * MS};

	while (seconds--) {
		sample(trend);
		scene__pass(trend->scene, &second);
	}
}

static bool window_from(const struct trend *trend, uint64_t from_ns, struct load *window)
{
	return load_history__window(trend->history, &trend->scene->model, &trend->scene->process,
				    from_ns, window);
}

static void a_window_begins_at_a_sample(void **state)
{
	struct trend *trend = *state;
	struct load window;

	go_on(trend, 10);
	assert_int_equal(load_history__first_ns(trend->history, &trend->scene->process),
			 SCENE_BEGAN);
	assert_true(window_from(trend, 0, &window));
	assert_int_equal(window.ns, 10 * NS_PER_S);
	assert_int_equal(window.launches, 100);
	assert_int_equal(window.held_ns, NS_PER_S);
	/* The latest sample that is not after it. */
	assert_true(window_from(trend, SCENE_BEGAN + 2 * NS_PER_S, &window));
	assert_int_equal(window.ns, 8 * NS_PER_S);
	assert_true(window_from(trend, SCENE_BEGAN + 6 * NS_PER_S - 1, &window));
	assert_int_equal(window.ns, 8 * NS_PER_S);
	assert_int_equal(window.launches, 80);
	assert_true(window_from(trend, SCENE_BEGAN + 6 * NS_PER_S, &window));
	assert_int_equal(window.ns, 4 * NS_PER_S);
	/* No time has passed since. */
	go_on(trend, 4);
	sample(trend);
	assert_false(window_from(trend, SCENE_BEGAN + 14 * NS_PER_S, &window));
}

static uint64_t settled_ns(const struct trend *trend)
{
	return load_history__settled_ns(trend->history, &trend->scene->process);
}

/* Idle time may be proved from the first sample on that is two seconds after the first one. */
static void earlier_work_has_settled(void **state)
{
	struct trend *trend = *state;

	assert_int_equal(settled_ns(trend), 0);
	go_on(trend, 2);
	assert_int_equal(settled_ns(trend), 0);
	go_on(trend, 9);
	assert_int_equal(settled_ns(trend), SCENE_BEGAN + 2 * NS_PER_S);
	go_on(trend, 100);
	assert_true(settled_ns(trend) > SCENE_BEGAN + 40 * NS_PER_S);
}

static void nothing_is_known_of_who_was_not_sampled(void **state)
{
	struct trend *trend = *state;
	struct process other = trend->scene->process;
	struct load window;

	assert_false(window_from(trend, 0, &window));
	assert_int_equal(load_history__first_ns(trend->history, &trend->scene->process), 0);
	go_on(trend, 2);
	/* The pid has been reused. */
	other.start_ns++;
	assert_int_equal(load_history__first_ns(trend->history, &other), 0);
	assert_false(
		load_history__window(trend->history, &trend->scene->model, &other, 0, &window));
	trend->scene->process.profile = NULL;
	assert_false(window_from(trend, 0, &window));
}

static void the_first_work_begins_it(void **state)
{
	struct trend *trend = *state;

	trend->scene->thread.time[TIME_LAUNCH].calls = 0;
	sample(trend);
	assert_int_equal(load_history__first_ns(trend->history, &trend->scene->process), 0);
	trend->scene->model.now_ns += NS_PER_S;
	trend->scene->thread.time[TIME_COPY].calls = 1;
	sample(trend);
	assert_int_equal(load_history__first_ns(trend->history, &trend->scene->process),
			 SCENE_BEGAN + NS_PER_S);
}

static void an_ended_process_has_had_its_last_sample(void **state)
{
	struct trend *trend = *state;
	struct load window;

	go_on(trend, 4);
	trend->scene->process.ended_ns = trend->scene->model.now_ns;
	trend->scene->model.now_ns += 20 * NS_PER_S;
	sample(trend);
	assert_true(window_from(trend, 0, &window));
	assert_int_equal(window.ns, 4 * NS_PER_S);
	assert_int_equal(window.launches, 40);
}

/* The latest minute is always available. */
static void the_latest_samples_stay(void **state)
{
	struct trend *trend = *state;
	struct load window;

	go_on(trend, 10000);
	assert_int_equal(load_history__first_ns(trend->history, &trend->scene->process),
			 SCENE_BEGAN);
	assert_true(window_from(trend, trend->scene->model.now_ns - 60 * NS_PER_S, &window));
	/* They are four seconds apart. */
	assert_in_range(window.ns, 60 * NS_PER_S, 64 * NS_PER_S);
	assert_int_equal(window.launches, window.ns / NS_PER_S * 10);
	assert_true(window_from(trend, trend->scene->model.now_ns - 8 * NS_PER_S, &window));
	assert_in_range(window.ns, 8 * NS_PER_S, 12 * NS_PER_S);
}

static void processes_without_an_profile_are_followed(void **state)
{
	struct trend *trend = *state;
	struct load window;

	trend->scene->process.profile = NULL;
	trend->scene->process.launches = 1;
	go_on(trend, 5);
	trend->scene->process.launches = 8;
	assert_true(window_from(trend, 0, &window));
	assert_int_equal(window.launches, 7);
	assert_false(window.profile);
}

static void nvml_counts_at_each_sample(void **state)
{
	struct trend *trend = *state;
	const uint32_t busy[] = {80}, less[] = {20}, unknown[] = {GPU_UNKNOWN_PERCENT};
	struct load window;

	scene__set_gpus(trend->scene, 1, busy);
	go_on(trend, 30);
	scene__set_gpus(trend->scene, 1, unknown);
	go_on(trend, 10);
	scene__set_gpus(trend->scene, 1, less);
	go_on(trend, 10);
	assert_true(window_from(trend, SCENE_BEGAN, &window));
	/* The reading of the first sample was before the window. */
	assert_int_equal(window.busy_readings, 39);
	assert_int_equal(window.busy_percent, 29 * 80 + 10 * 20);
}

static void gone_processes_are_forgotten(void **state)
{
	struct trend *trend = *state;
	struct process *process = &trend->scene->process;
	int32_t gone = process->pid;

	go_on(trend, 2);
	process->pid = 200;
	go_on(trend, 40);
	assert_int_not_equal(load_history__first_ns(trend->history, process), 0);
	process->pid = gone;
	assert_int_equal(load_history__first_ns(trend->history, process), 0);
}

static void processes_have_a_bound(void **state)
{
	struct trend *trend = *state;
	struct process *many = test_calloc(LOAD_PROCESSES + 1, sizeof(*many));

	for (int i = 0; i <= LOAD_PROCESSES; i++) {
		many[i] = trend->scene->process;
		many[i].pid = i + 1;
	}
	trend->scene->model.processes = many;
	trend->scene->model.process_count = LOAD_PROCESSES + 1;
	sample(trend);
	for (int i = 0; i < LOAD_PROCESSES; i++)
		assert_int_equal(load_history__first_ns(trend->history, &many[i]), SCENE_BEGAN);
	assert_int_equal(load_history__first_ns(trend->history, &many[LOAD_PROCESSES]), 0);
	test_free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_window_begins_at_a_sample, begin, end),
		cmocka_unit_test_setup_teardown(earlier_work_has_settled, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_known_of_who_was_not_sampled, begin,
						end),
		cmocka_unit_test_setup_teardown(the_first_work_begins_it, begin, end),
		cmocka_unit_test_setup_teardown(an_ended_process_has_had_its_last_sample, begin,
						end),
		cmocka_unit_test_setup_teardown(the_latest_samples_stay, begin, end),
		cmocka_unit_test_setup_teardown(processes_without_an_profile_are_followed, begin,
						end),
		cmocka_unit_test_setup_teardown(nvml_counts_at_each_sample, begin, end),
		cmocka_unit_test_setup_teardown(gone_processes_are_forgotten, begin, end),
		cmocka_unit_test_setup_teardown(processes_have_a_bound, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
