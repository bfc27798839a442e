// SPDX-License-Identifier: BSD-2-Clause
// Why the GPU waits for threads: the cost per step of each reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "finding/step_cost.h"
#include "finding_run.h"
#include "host_reasons_case.h"
#include "model/steady.h"
#include "model/steps.h"

STACK(asks, PYTHON("item", "/usr/lib/python3/dist-packages/tensor.py", 9),
      PYTHON("train", "/home/user/train.py", 60), MAIN);

struct scene {
	struct process process;
	struct model model;
	struct call_site site;
	struct host_process host;
	struct host_thread thread;
};

/* Steps of 10 ms in the fifty steady seconds, after ten seconds of startup. */
static struct scene *scene(void)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct thread_profile *thread = calloc(1, sizeof(*thread));
	struct step_thread *steps;

	s->model = (struct model){
		.processes = &s->process, .process_count = 1, .now_ns = RUN_BEGAN + 10 * NS_PER_S};
	s->process = (struct process){.pid = 100, .start_ns = RUN_BEGAN, .host = &s->host};
	s->host = (struct host_process){.threads = &s->thread, .thread_count = 1};
	s->process.profile = profile__new();
	s->process.profile->threads = thread;
	s->process.profile->thread_count = 1;
	thread->tid = 100;
	thread->time[TIME_LAUNCH].calls = 1;
	s->process.steps = process_steps__new();
	steps = process_steps__add(s->process.steps);
	steps->tid = 100;
	steps->phase_count = 1;
	steps->phases[0].anchor = (struct step_anchor){.code = 1, .launches = 8};
	for (uint64_t i = 0; i < 5000; i++)
		step_phase__add(&steps->phases[0], s->model.now_ns - MS + i * 10 * MS, 10 * MS);
	assert_int_equal(steady__follow(&s->model, &s->process), 0);
	s->model.now_ns += 50 * NS_PER_S;
	thread->time[TIME_LAUNCH].calls = 40000;
	return s;
}

static void free_scene(struct scene *s)
{
	profile__free(s->process.profile);
	process_steps__free(s->process.steps);
	free(s);
}

static void is_near(double value, double expected)
{
	assert_true(value > 0.97 * expected && value < 1.03 * expected);
}

/*
 * Waits are counted by themselves, blocks by the scheduler; neither includes time before the steady
 * phase.
 */
static void costs_a_step(void **state)
{
	struct scene *s = scene();
	struct host_location *locations = LOCATIONS(
		{.activity = ACTIVITY_CPU, .ns = 25 * NS_PER_S, .times = 2500, .stack = &reads},
		{.class = HOST_WAITS, .ns = 20 * NS_PER_S, .times = 7000, .stack = &asks},
		{.activity = ACTIVITY_LOCK, .ns = 10 * NS_PER_S, .times = 10000, .stack = &takes});
	struct host_reasons reasons;

	(void)state;
	s->thread = thread(true, 100, locations, 3);
	s->thread.watched_ns = 50 * NS_PER_S;
	s->site = (struct call_site){.kind = SITE_WAIT,
				     .stack = &asks,
				     .calls = 5200,
				     .early_calls = 200,
				     .amount = 20 * NS_PER_S};
	s->process.sites = &s->site;
	s->process.site_count = 1;
	assert_int_equal(host_reasons__of(&s->process, s->model.now_ns, &reasons), 0);
	assert_int_equal(reasons.count, 3);
	/* Half of the time: half of a step. Samples are not calls. */
	is_near(step_cost__ns(&reasons.cost, reasons.items[0].ns), 5 * MS);
	assert_int_equal(reasons.items[0].calls, 0);
	assert_int_equal(reasons.items[1].kind, HOST_LOCK);
	is_near(step_cost__times(&reasons.cost, reasons.items[1].calls), 2);
	/* It takes longer, but the GPU works meanwhile. */
	assert_int_equal(reasons.items[2].kind, HOST_IN_WAIT);
	is_near(step_cost__times(&reasons.cost, reasons.items[2].calls), 1);
	host_reasons__clear(&reasons);
	free_scene(s);
}

/*
 * Followed for the second half of the steady time, which has half of the steps and half of the
 * calls.
 */
static void costs_a_step_of_what_was_followed(void **state)
{
	struct scene *s = scene();
	struct host_location *locations = LOCATIONS(
		{.class = HOST_WAITS, .ns = 15 * NS_PER_S, .times = 7000, .stack = &asks},
		{.activity = ACTIVITY_LOCK, .ns = 10 * NS_PER_S, .times = 2500, .stack = &takes});
	struct host_reasons reasons;

	(void)state;
	s->thread = thread(true, 100, locations, 2);
	s->thread.watched_ns = 25 * NS_PER_S;
	s->site = (struct call_site){
		.kind = SITE_WAIT, .stack = &asks, .calls = 5000, .amount = 30 * NS_PER_S};
	s->process.sites = &s->site;
	s->process.site_count = 1;
	assert_int_equal(host_reasons__of(&s->process, s->model.now_ns, &reasons), 0);
	is_near(step_cost__times(&reasons.cost, reasons.items[0].calls), 1);
	is_near(step_cost__ns(&reasons.cost, reasons.items[1].ns), 6 * MS);
	assert_int_equal(reasons.items[1].calls, 2500);
	is_near(step_cost__times(&reasons.cost, reasons.items[1].calls), 1);
	host_reasons__clear(&reasons);
	free_scene(s);
}

/* A counter that uses marks gets the time of each mark, and which one applies. */
static void reports_marks(void **state)
{
	struct scene *s = scene();
	struct steady_marks marks;

	(void)state;
	steady__marks(&s->process, s->model.now_ns, &marks);
	assert_int_equal(marks.mark, 0);
	assert_int_equal(marks.ns[0], RUN_BEGAN + 10 * NS_PER_S);
	assert_int_equal(marks.ns[1], 0);
	/* The time is still too short. */
	steady__marks(&s->process, RUN_BEGAN + 11 * NS_PER_S, &marks);
	assert_int_equal(marks.mark, -1);
	assert_int_equal(marks.ns[0], RUN_BEGAN + 10 * NS_PER_S);
	free_scene(s);
}

/* Nothing repeats: there is no cost per step. */
static void without_steps(void **state)
{
	struct scene *s = scene();
	struct step_cost cost;

	(void)state;
	process_steps__free(s->process.steps);
	s->process.steps = NULL;
	cost = step_cost__of(&s->process, s->model.now_ns);
	assert_int_equal(cost.step_ns, 0);
	assert_true(step_cost__ns(&cost, NS_PER_S) == 0 && step_cost__times(&cost, 10) == 0);
	free_scene(s);
}

/* A finding of the steady time says so, and gives its cost per step. */
static void finding_a_step(void **state)
{
	struct scene *s = scene();
	const struct finding *found;
	struct run run;

	(void)state;
	run__begin(&run, &s->process, 1);
	run.model.now_ns = s->model.now_ns;
	s->process.profile->totals.queues[0].launched_epoch = 1;
	s->process.profile->totals.queues[0].idle_ns = 40 * NS_PER_S;
	found = run__only(&run, "host-bound");
	assert_true(found->steady && found->step_ns);
	is_near(found->share, 0.8);
	is_near(found->a_step_ns, 8 * MS);
	assert_non_null(strstr(found->evidence, "the GPU is idle at least 80.0 % (proved), and"));
	/* Startup alone is no finding, however idle it was. */
	s->process.profile->totals.queues[0].idle_ns = 0;
	s->process.profile->threads[0].time[TIME_WAIT].ns = 20 * NS_PER_S;
	assert_int_equal(run__count(&run, "host-bound"), 0);
	run__end(&run);
	free_scene(s);
}

/*
 * The cost of host-bound if NVML calls the GPU busy for this share, and waits took 14 % of the only
 * thread's time.
 */
static double cost_beside(uint32_t busy_percent)
{
	struct gpu gpu = {.busy_percent = busy_percent};
	struct process_gpu used = {.gpu = 0};
	struct scene *s = scene();
	const struct finding *found;
	struct run run;
	double share;

	s->model.gpus = &gpu;
	s->model.gpu_count = 1;
	s->process.gpus = &used;
	s->process.gpu_count = 1;
	assert_int_equal(steady__follow(&s->model, &s->process), 0);
	s->process.profile->totals.queues[0].launched_epoch = 1;
	s->process.profile->threads[0].time[TIME_WAIT].ns = 7 * NS_PER_S;
	run__begin(&run, &s->process, 1);
	run.model.now_ns = s->model.now_ns;
	found = run__only(&run, "host-bound");
	share = found->share;
	/* Not "idle at least 0.0 %": nothing is proved. */
	assert_non_null(strstr(found->evidence, "the GPU is busy about "));
	assert_non_null(strstr(found->evidence, "0 % (NVML; no idle time is proved), and holds "));
	run__end(&run);
	free_scene(s);
	return share;
}

/* While the GPU holds the thread up it is working, however low NVML's value is. */
static void the_cost_is_no_more_than_the_gpu_leaves(void **state)
{
	(void)state;
	is_near(cost_beside(10), 0.86);
	is_near(cost_beside(50), 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_a_step),
		cmocka_unit_test(costs_a_step_of_what_was_followed),
		cmocka_unit_test(reports_marks),
		cmocka_unit_test(without_steps),
		cmocka_unit_test(finding_a_step),
		cmocka_unit_test(the_cost_is_no_more_than_the_gpu_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
