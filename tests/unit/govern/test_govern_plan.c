// SPDX-License-Identifier: BSD-2-Clause
// What threads are assumed to have paid, and the plan based on it: each rule by itself, with
// threads set by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "governor_hand.h"

#define ALLOWED 0.1

struct scene {
	struct hand hand;
	struct governor_hooks hooks;
	struct governed_threads threads;
	struct call_costs costs;
};

static struct scene begin(void)
{
	struct scene scene = {.hand = {.now_ns = BEGIN_NS}};

	for (int family = 0; family < RATE_FAMILIES; family++)
		scene.costs.ns[family] = HAND_CALL_NS;
	assert_int_equal(governed_threads__init(&scene.threads), 0);
	return scene;
}

static void read_threads(struct scene *scene)
{
	scene->hooks = hand__hooks(&scene->hand);
	governed_threads__read(&scene->threads, &scene->hooks);
}

static struct governed_thread *thread_of(struct scene *scene, size_t number)
{
	return hand__thread(&scene->threads, number);
}

/* The basis of a cycle that began with the scene. */
static struct plan_basis basis_of(const struct scene *scene, unsigned int sampled)
{
	return (struct plan_basis){.threads = &scene->threads,
				   .costs = &scene->costs,
				   .allowed = ALLOWED,
				   .cold = 1,
				   .sampling = GOVERNED_FAMILIES,
				   .cycle_ns = BEGIN_NS,
				   .now_ns = scene->hand.now_ns,
				   .sampled = sampled};
}

/* --- plans --- */

static double planned(const struct scene *scene, unsigned int sampled)
{
	const struct plan_basis basis = basis_of(scene, sampled);
	double share[RATE_FAMILIES], exact_cost;

	plan__shares(&basis, share, &exact_cost);
	assert_true(share[RATE_COPY] == 1 && share[RATE_WAIT] == 1 && share[RATE_EXACT] == 1);
	return share[RATE_LAUNCH];
}

/* A thread's first moments do not predict its rate. */
static void young_threads_are_taken_to_be_older(void **state)
{
	struct scene scene = begin();
	size_t thread = hand__add(&scene.hand, 0, BEGIN_NS + 999 * MS);
	struct plan_basis basis;

	(void)state;
	scene.hand.now_ns = BEGIN_NS + 1000 * MS;
	scene.hand.rates[thread].calls[RATE_LAUNCH] = 900;
	read_threads(&scene);
	basis = basis_of(&scene, 0);
	assert_about(plan__overhead(&basis), 0.018 / (1 - 0.018)); /* 0.9 of 50 ms, not of 1 */
	assert_true(planned(&scene, 0) == 1);
	governed_threads__clear(&scene.threads);
}

/* An ended thread has paid, but will not pay again. */
static void ended_threads_ask_for_nothing(void **state)
{
	struct scene scene = begin();
	size_t thread = hand__add(&scene.hand, 0, BEGIN_NS);
	struct plan_basis basis;

	(void)state;
	scene.hand.now_ns = BEGIN_NS + 1000 * MS;
	scene.hand.rates[thread].calls[RATE_LAUNCH] = 500000;
	read_threads(&scene);
	assert_about(planned(&scene, 0), 0.2);
	scene.hand.rates[thread].ended_ns = scene.hand.now_ns;
	read_threads(&scene);
	assert_true(planned(&scene, 0) == 1);
	basis = basis_of(&scene, 0);
	assert_about(plan__overhead(&basis), 1);
	governed_threads__clear(&scene.threads);
}

/*
 * A family at the edge of the budget does not switch back and forth: once sampled, it becomes exact
 * only well below the budget.
 */
static void sampled_families_stay_sampled_near_the_budget(void **state)
{
	struct scene scene = begin();
	size_t thread = hand__add(&scene.hand, 0, BEGIN_NS);
	struct governed_calls *calls;

	(void)state;
	scene.hand.now_ns = BEGIN_NS + 1000 * MS;
	scene.hand.rates[thread].calls[RATE_LAUNCH] = 90000; /* 9 % */
	read_threads(&scene);
	assert_true(planned(&scene, 0) == 1);
	calls = &thread_of(&scene, thread)->calls[RATE_LAUNCH];
	calls->held_rate = 0.09 / HAND_CALL_NS;
	assert_about(planned(&scene, 1u << RATE_LAUNCH), 0.95);
	calls->held_rate = 0.079 / HAND_CALL_NS;
	assert_true(planned(&scene, 1u << RATE_LAUNCH) == 1);
	/*
	 * Above the budget the rate in its windows counts, not that of the cycle, for part of which
	 * it was out.
	 */
	calls->held_rate = 0.4 / HAND_CALL_NS;
	assert_about(planned(&scene, 1u << RATE_LAUNCH), 0.25);
	governed_threads__clear(&scene.threads);
}

static void the_thread_that_pays_most_decides(void **state)
{
	struct scene scene = begin();
	struct plan_basis basis;
	double share[RATE_FAMILIES], exact_cost;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		hand__add(&scene.hand, 0, BEGIN_NS);
	scene.hand.now_ns = BEGIN_NS + 1000 * MS;
	for (size_t i = 0; i < 3; i++)
		scene.hand.rates[i].calls[RATE_LAUNCH] = i == 1 ? 300000 : 10000;
	for (size_t i = 0; i < 3; i++)
		scene.hand.rates[i].calls[RATE_EXACT] = i == 1 ? 50000 : 1000;
	read_threads(&scene);
	basis = basis_of(&scene, 0);
	plan__shares(&basis, share, &exact_cost);
	assert_about(share[RATE_LAUNCH], 0.05 / 0.3);
	assert_about(exact_cost, 0.05);
	assert_about(plan__overhead(&basis), 0.35 / 0.65);
	governed_threads__clear(&scene.threads);
}

/* --- debts --- */

static double carried(struct scene *scene)
{
	const struct plan_basis basis = basis_of(scene, 0);

	plan__carry_over(&basis);
	return thread_of(scene, 0)->debt_ns;
}

/*
 * One costly cycle does not keep probes out for ever, and years of calm do not pay for a minute of
 * overload.
 */
static void debts_and_savings_have_bounds(void **state)
{
	struct scene scene = begin();
	double period = ALLOWED * (double)PLAN_PERIOD_NS;

	(void)state;
	hand__add(&scene.hand, 0, BEGIN_NS);
	read_threads(&scene);
	scene.hand.now_ns = BEGIN_NS + 1000 * MS;
	assert_about(carried(&scene), -period);
	assert_about(carried(&scene), -2 * period);
	assert_about(carried(&scene), -2 * period);
	scene.hand.rates[0].calls[RATE_COPY] = 150000;
	read_threads(&scene);
	assert_about(carried(&scene), -1.5 * period);
	scene.hand.rates[0].calls[RATE_COPY] = 1000000;
	read_threads(&scene);
	assert_about(carried(&scene), 0.8 * period);
	governed_threads__clear(&scene.threads);
}

static bool is_overspent(const struct scene *scene)
{
	const struct plan_basis basis = basis_of(scene, 0);

	return plan__is_overspent(&basis);
}

static void debts_are_set_off(void **state)
{
	struct scene scene = begin();
	double period = ALLOWED * (double)PLAN_PERIOD_NS;

	(void)state;
	hand__add(&scene.hand, 0, BEGIN_NS);
	read_threads(&scene);
	assert_false(is_overspent(&scene)); /* no time has passed */
	scene.hand.now_ns = BEGIN_NS + 500 * MS;
	scene.hand.rates[0].calls[RATE_LAUNCH] = 60000;
	read_threads(&scene);
	assert_false(is_overspent(&scene));
	thread_of(&scene, 0)->debt_ns = 0.5 * period;
	assert_true(is_overspent(&scene));
	assert_about(planned(&scene, 0), 0.05 / 0.12);
	/* Savings may be spent. */
	scene.hand.rates[0].calls[RATE_LAUNCH] = 250000;
	read_threads(&scene);
	thread_of(&scene, 0)->debt_ns = -2 * period;
	assert_false(is_overspent(&scene));
	assert_about(planned(&scene, 0), 0.3 / 0.5);
	governed_threads__clear(&scene.threads);
}

/* A thread that gets part of a CPU pays from that part. */
static void budgets_are_of_the_time_that_threads_get(void **state)
{
	struct scene scene = begin();

	(void)state;
	hand__add(&scene.hand, 0, BEGIN_NS);
	scene.hand.knows_run = true;
	scene.threads.read_ns = BEGIN_NS;
	scene.hand.now_ns = BEGIN_NS + 1;
	scene.hand.rates[0].calls[RATE_LAUNCH] = 10;
	read_threads(&scene);
	scene.hand.now_ns = BEGIN_NS + 500 * MS;
	scene.hand.run[0] = (struct run_time){.ran_ns = 150 * MS, .waited_ns = 350 * MS};
	scene.hand.rates[0].calls[RATE_LAUNCH] = 29000;
	read_threads(&scene);
	assert_false(is_overspent(&scene));
	scene.hand.rates[0].calls[RATE_LAUNCH] = 31000;
	read_threads(&scene);
	assert_true(is_overspent(&scene));
	governed_threads__clear(&scene.threads);
}

/* --- the time available to a thread --- */

static double active(const struct governed_thread *thread, uint64_t ns)
{
	return governed_thread__active(thread, BEGIN_NS, BEGIN_NS + ns, &thread->run_at_cycle);
}

static void what_is_waited_is_not_active(void **state)
{
	struct governed_thread thread = {.key = {.start_ns = BEGIN_NS}, .run_known = true};
	double ns = 100 * (double)MS;

	(void)state;
	thread.run = (struct run_time){.ran_ns = 60 * MS, .waited_ns = 30 * MS};
	assert_about(active(&thread, 100 * MS), 0.7 * ns);
	/*
	 * It waited longer than it was off the CPU, or longer than the elapsed time: reported a
	 * tick late.
	 */
	thread.run.waited_ns = 50 * MS;
	assert_about(active(&thread, 100 * MS), 0.6 * ns);
	thread.run.ran_ns = 104 * MS;
	assert_about(active(&thread, 100 * MS), ns);
	/* It is never zero: rates divide by it. */
	thread.run = (struct run_time){.waited_ns = 100 * MS};
	assert_about(active(&thread, 100 * MS), 0.03 * ns);
	thread.run_known = false;
	assert_about(active(&thread, 100 * MS), ns);
}

/*
 * Time spent waiting is only reported when the thread runs again: until then it is assumed to wait
 * as in earlier cycles.
 */
static void waiting_is_as_it_was_lately(void **state)
{
	struct governed_thread thread = {.key = {.start_ns = BEGIN_NS}, .run_known = true};
	double ns = 20 * (double)MS;

	(void)state;
	thread.run = (struct run_time){.ran_ns = 40 * MS, .waited_ns = 60 * MS};
	governed_thread__end_cycle(&thread, BEGIN_NS, BEGIN_NS + 100 * MS);
	/* 10 ms of a 20 ms window, for which nothing is reported yet. */
	thread.run.ran_ns += 10 * MS;
	assert_about(active(&thread, 20 * MS), ns - 60.0 / 70 * 10 * (double)MS);
	/* A cycle without waiting: earlier values count for three quarters. */
	thread.run.ran_ns = 140 * MS;
	governed_thread__end_cycle(&thread, BEGIN_NS, BEGIN_NS + 100 * MS);
	thread.run.ran_ns += 10 * MS;
	assert_about(active(&thread, 20 * MS), ns - 45.0 / 55 * 10 * (double)MS);
	thread.run.waited_ns += 10 * MS;
	assert_about(active(&thread, 20 * MS), ns - 10 * (double)MS);
}

/*
 * When a thread's run time becomes known, earlier time is attributed to nobody; it is queried only
 * if it matters.
 */
static void run_times_begin_when_they_are_known(void **state)
{
	struct scene scene = begin();
	struct governed_thread *thread;

	(void)state;
	hand__add(&scene.hand, 0, BEGIN_NS - 5000 * MS);
	scene.hand.knows_run = true;
	scene.hand.run[0] = (struct run_time){.ran_ns = 700 * MS, .waited_ns = 4000 * MS};
	scene.hand.rates[0].calls[RATE_LAUNCH] = 1;
	scene.threads.read_ns = BEGIN_NS - 100 * MS;
	read_threads(&scene);
	assert_int_equal(scene.hand.asked, 0);
	scene.hand.now_ns += 10 * MS;
	scene.hand.rates[0].calls[RATE_LAUNCH] = 1001;
	read_threads(&scene);
	assert_int_equal(scene.hand.asked, 1);
	thread = thread_of(&scene, 0);
	thread->off_ns = thread->waited_ns = 1e9;
	assert_about(active(thread, 10 * MS), 10 * (double)MS - 10 * (double)MS * 0.97);
	/* It does little for a while, and is not queried. */
	scene.hand.now_ns += 1000 * MS;
	read_threads(&scene);
	assert_int_equal(scene.hand.asked, 1);
	assert_false(thread->run_known);
	/* It is busy again: its history is gone. */
	scene.hand.run[0].ran_ns += 5 * MS;
	scene.hand.now_ns += 10 * MS;
	scene.hand.rates[0].calls[RATE_LAUNCH] = 2001;
	read_threads(&scene);
	assert_int_equal(scene.hand.asked, 2);
	assert_true(thread->run_known);
	assert_about(thread->off_ns + thread->waited_ns, 0);
	assert_int_equal(thread->run_at_cycle.ran_ns, 705 * MS);
	assert_int_equal(thread->run_at_window.waited_ns, 4000 * MS);
	/* Once it has ended, its number may belong to another thread. */
	scene.hand.rates[0].calls[RATE_LAUNCH] = 3001;
	scene.hand.rates[0].ended_ns = scene.hand.now_ns;
	read_threads(&scene);
	assert_int_equal(scene.hand.asked, 2);
	governed_threads__clear(&scene.threads);
}

static void cycles_begin_where_the_last_ended(void **state)
{
	struct governed_thread thread = {.key = {.start_ns = BEGIN_NS}, .run_known = true};

	(void)state;
	thread.run = (struct run_time){.ran_ns = 40 * MS, .waited_ns = 60 * MS};
	thread.calls[RATE_WAIT].now = 7;
	governed_thread__end_cycle(&thread, BEGIN_NS, BEGIN_NS + 100 * MS);
	assert_int_equal(thread.calls[RATE_WAIT].at_cycle, 7);
	assert_memory_equal(&thread.run_at_cycle, &thread.run, sizeof(thread.run));
}

/* --- missed calls --- */

static double missed(const struct scene *scene)
{
	return governed_threads__process(&scene->threads, 0)->missed[RATE_LAUNCH];
}

static void gaps_are_counted_once(void **state)
{
	struct scene scene = begin();
	struct governed_calls *calls;

	(void)state;
	hand__add(&scene.hand, 0, BEGIN_NS);
	read_threads(&scene);
	calls = &thread_of(&scene, 0)->calls[RATE_LAUNCH];
	/* If a thread has not been through a window, nothing is known about it or its gaps. */
	governed_threads__miss(&scene.threads, RATE_LAUNCH, BEGIN_NS + 50 * MS);
	governed_threads__rate(&scene.threads, thread_of(&scene, 0), RATE_LAUNCH, 1e-3);
	assert_about(missed(&scene), 0);
	calls->rated = true;
	calls->missed_from = BEGIN_NS + 100 * MS;
	governed_threads__miss(&scene.threads, RATE_LAUNCH, BEGIN_NS + 200 * MS);
	assert_about(missed(&scene), 1e5);
	governed_threads__miss(&scene.threads, RATE_LAUNCH, BEGIN_NS + 150 * MS);
	governed_threads__miss(&scene.threads, RATE_LAUNCH, BEGIN_NS + 200 * MS);
	assert_about(missed(&scene), 1e5);
	governed_threads__miss(&scene.threads, RATE_LAUNCH, BEGIN_NS + 300 * MS);
	assert_about(missed(&scene), 2e5);
	/*
	 * It was idle at the end, so each half of the gap had one of the rates. And the gap is
	 * over.
	 */
	governed_threads__rate(&scene.threads, thread_of(&scene, 0), RATE_LAUNCH, 0);
	assert_about(missed(&scene), 1e5);
	governed_threads__rate(&scene.threads, thread_of(&scene, 0), RATE_LAUNCH, 1e-3);
	assert_about(missed(&scene), 1e5);
	governed_threads__clear(&scene.threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(young_threads_are_taken_to_be_older),
		cmocka_unit_test(ended_threads_ask_for_nothing),
		cmocka_unit_test(sampled_families_stay_sampled_near_the_budget),
		cmocka_unit_test(the_thread_that_pays_most_decides),
		cmocka_unit_test(debts_and_savings_have_bounds),
		cmocka_unit_test(debts_are_set_off),
		cmocka_unit_test(budgets_are_of_the_time_that_threads_get),
		cmocka_unit_test(what_is_waited_is_not_active),
		cmocka_unit_test(waiting_is_as_it_was_lately),
		cmocka_unit_test(run_times_begin_when_they_are_known),
		cmocka_unit_test(cycles_begin_where_the_last_ended),
		cmocka_unit_test(gaps_are_counted_once),
	};

	return cmocka_run_group_tests_name("governor_plan", tests, NULL, NULL);
}
