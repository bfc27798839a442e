// SPDX-License-Identifier: BSD-2-Clause
// What threads that submit work do in the steady time of a process, and what that and findings cost in a step.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "finding/host_reasons.h"
#include "finding/step_cost.h"
#include "finding_run.h"
#include "model/steady.h"
#include "model/steps.h"

#define MS 1000000ull

static const struct stack_frame lines[] = {
	{.kind = FRAME_PYTHON, .function = "item", .file = "/usr/lib/python3/tensor.py", .line = 9},
	{.kind = FRAME_PYTHON, .function = "train", .file = "train.py", .line = 60},
	{.kind = FRAME_PYTHON, .function = "load", .file = "data.py", .line = 30},
	{.kind = FRAME_PYTHON, .function = "main", .file = "train.py", .line = 5},
};
static const struct stack at_item = {.count = 2, .frames = lines}, at_load = {.count = 1, .frames = &lines[2]},
			  at_start = {.count = 1, .frames = &lines[3]};

struct scene {
	struct process process;
	struct model model;
	struct call_site sites[8];
};

static void add_site(struct scene *s, struct call_site site)
{
	s->sites[s->process.site_count++] = site;
}

/* Steps of 10 ms in the fifty seconds that are steady, after ten of start. */
static struct scene *scene(void)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct thread_account *thread = calloc(1, sizeof(*thread));
	struct step_thread *steps;

	s->model = (struct model){.processes = &s->process, .process_count = 1, .now_ns = RUN_BEGAN + 10 * NS_PER_S};
	s->process = (struct process){.pid = 100, .start_ns = RUN_BEGAN, .sites = s->sites};
	s->process.account = account__new();
	s->process.account->threads = thread;
	s->process.account->thread_count = 1;
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
	account__free(s->process.account);
	process_steps__free(s->process.steps);
	free(s);
}

static void is_near(double value, double expected)
{
	assert_true(value > 0.97 * expected && value < 1.03 * expected);
}

/* What was before it is left out, wholly where nothing came after. */
static void of_the_steady_time(void **state)
{
	struct scene *s = scene();
	struct host_reasons reasons;

	(void)state;
	add_site(s, (struct call_site){.kind = SITE_HOST, .row = HOST_CPU, .stack = &at_start, .calls = 900, .early_calls = 900, .amount = 9 * NS_PER_S, .early_amount = 9 * NS_PER_S});
	add_site(s, (struct call_site){.kind = SITE_HOST, .row = HOST_CPU, .stack = &at_load, .calls = 2600, .early_calls = 100, .amount = 26 * NS_PER_S, .early_amount = NS_PER_S});
	assert_int_equal(host_reasons__of(&s->process, s->model.now_ns, &reasons), 0);
	assert_int_equal(reasons.count, 1);
	assert_int_equal(reasons.ns, 25 * NS_PER_S);
	assert_string_equal(reasons.items[0].line->file, "data.py");
	/* Half of the time: half of a step. */
	is_near(step_cost__ns(&reasons.cost, reasons.items[0].ns), 5 * MS);
	assert_int_equal(reasons.items[0].calls, 0);
	host_reasons__clear(&reasons);
	free_scene(s);
}

/* Waits are counted by themselves, blocks by the scheduler. */
static void times_a_step(void **state)
{
	struct scene *s = scene();
	struct host_reasons reasons;

	(void)state;
	add_site(s, (struct call_site){.kind = SITE_HOST, .row = HOST_IN_WAIT, .stack = &at_item, .calls = 7000, .amount = 20 * NS_PER_S});
	add_site(s, (struct call_site){.kind = SITE_WAIT, .stack = &at_item, .calls = 5200, .early_calls = 200, .amount = 20 * NS_PER_S});
	add_site(s, (struct call_site){.kind = SITE_HOST, .row = HOST_LOCK, .stack = &at_load, .calls = 10000, .amount = 10 * NS_PER_S});
	assert_int_equal(host_reasons__of(&s->process, s->model.now_ns, &reasons), 0);
	assert_int_equal(reasons.count, 2);
	assert_int_equal(reasons.items[0].kind, HOST_IN_WAIT);
	is_near(step_cost__times(&reasons.cost, reasons.items[0].calls), 1);
	is_near(step_cost__times(&reasons.cost, reasons.items[1].calls), 2);
	host_reasons__clear(&reasons);
	free_scene(s);
}

/* Nothing repeats: there is no cost in a step. */
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

/* A finding of the steady time says so, and what it costs in a step. */
static void finding_a_step(void **state)
{
	struct scene *s = scene();
	const struct finding *found;
	struct run run;

	(void)state;
	run__begin(&run, &s->process, 1);
	run.model.now_ns = s->model.now_ns;
	s->process.account->totals.queues[0].launched_epoch = 1;
	s->process.account->totals.queues[0].idle_ns = 40 * NS_PER_S;
	found = run__only(&run, "host-bound");
	assert_true(found->steady && found->step_ns);
	is_near(found->share, 0.8);
	is_near(found->a_step_ns, 8 * MS);
	/* The start alone is no finding, however idle it was. */
	s->process.account->totals.queues[0].idle_ns = 0;
	s->process.account->threads[0].time[TIME_WAIT].ns = 20 * NS_PER_S;
	assert_int_equal(run__count(&run, "host-bound"), 0);
	run__end(&run);
	free_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_steady_time),
		cmocka_unit_test(times_a_step),
		cmocka_unit_test(without_steps),
		cmocka_unit_test(finding_a_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
