// SPDX-License-Identifier: BSD-2-Clause
// What the governor learns about probe delays, how it plans windows and gaps, and what it derives
// from a window.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "governor_cycle.h"

/* --- delays --- */

/* A family is out since its window, in which it had `calls` in 100 ms; then come `late` more. */
static double lag_after(uint64_t calls, uint64_t late, bool other_ended)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);
	double lag_ns;

	hand__add(&hand, 0, BEGIN_NS);
	hand__add(&hand, 0, BEGIN_NS);
	governor__read(governor);
	for (size_t i = 0; i < 2; i++) {
		struct governed_calls *own = calls_of(governor, i, RATE_LAUNCH);

		own->rate = (double)calls / (100 * (double)MS);
		own->at_end = calls;
		own->now = calls + late;
	}
	hand__thread(&governor->threads, 1)->ended_ns = other_ended ? BEGIN_NS : 0;
	calls_of(governor, 1, RATE_LAUNCH)->now = other_ended ? calls : calls + late;
	governor->watched = ALL & ~LAUNCHES;
	governor__learn_lag(governor);
	lag_ns = governor->lag_ns;
	governor__free(governor);
	return lag_ns;
}

static void going_is_learned(void **state)
{
	double before = 10 * (double)MS;

	(void)state;
	/* 50 ms, of which a quarter is accepted at once. */
	assert_about(lag_after(1000, 500, false), before + (50 * (double)MS - before) / 4);
	/* An ended thread makes no calls, however late probes are detached. */
	assert_about(lag_after(1000, 500, true), before + (50 * (double)MS - before) / 4);
	/* Few calls say nothing; no delay is seconds long. */
	assert_about(lag_after(49, 500, false), before);
	assert_about(lag_after(100, 5000, false), before + (1e9 - before) / 4);
}

/*
 * A family's window had `calls` in 100 ms, after `early` calls before it was known to be attached.
 */
static double lead_after(uint64_t calls, uint64_t early, unsigned int sampled)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);
	struct governed_calls *own;
	double lead_ns;

	hand__add(&hand, 0, BEGIN_NS);
	governor__read(governor);
	own = calls_of(governor, 0, RATE_LAUNCH);
	own->rate = (double)calls / (100 * (double)MS);
	own->at_window = early;
	own->at_end = early + calls;
	/* An older window ends before the latest one begins. */
	calls_of(governor, 0, RATE_COPY)->at_window = 1000;
	calls_of(governor, 0, RATE_COPY)->rate = 1;
	governor->sampled = sampled;
	governor__learn_lead(governor);
	lead_ns = governor->lead_ns;
	governor__free(governor);
	return lead_ns;
}

static void coming_is_learned(void **state)
{
	(void)state;
	assert_about(lead_after(1000, 200, LAUNCHES), 20 * (double)MS / 4);
	assert_about(lead_after(99, 200, LAUNCHES), 0);
	assert_about(lead_after(1000, 200, COPIES << 1), 0);
	assert_about(lead_after(1000, 200, 0), 0);
}

/* --- windows --- */

static double window_of(const struct governor *governor, enum rate_family family)
{
	return (double)(governor->end_ns[family] - governor->window_ns);
}

static void windows_and_gaps_have_room(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = with_shares(&hand, 0.005, 1, 10 * (double)MS);

	(void)state;
	/* 20 ms, and 10 more until the probes are detached, are a 200th of it. */
	assert_about(governor->length_ns, 6e9);
	assert_about(window_of(governor, RATE_LAUNCH), 20 * (double)MS);
	governor__free(governor);
	governor = with_shares(&hand, 0.005, 1, 50 * (double)MS);
	assert_about(governor->length_ns, 10e9);
	governor__free(governor);
	/* 80 ms are the rest of it, for the family that is watched most. */
	governor = with_shares(&hand, 0.5, 0.95, 10 * (double)MS);
	assert_about(governor->length_ns, 1.6e9);
	assert_about(window_of(governor, RATE_LAUNCH), 790 * (double)MS);
	assert_about(window_of(governor, RATE_COPY), 1510 * (double)MS);
	governor__free(governor);
	governor = with_shares(&hand, 0.999, 1, 10 * (double)MS);
	assert_about(governor->length_ns, 10e9);
	governor__free(governor);
}

/* No program's period stays in phase with them. */
static void cycles_differ_in_length(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = with_shares(&hand, 0.5, 1, 10 * (double)MS);
	double least = governor->length_ns, most = least;

	(void)state;
	for (int i = 0; i < 50; i++) {
		governor__plan_windows(governor);
		assert_true(governor->length_ns >= 0.5e9 && governor->length_ns <= 1.5e9);
		least = governor->length_ns < least ? governor->length_ns : least;
		most = governor->length_ns > most ? governor->length_ns : most;
	}
	assert_true(most - least > 0.8e9);
	governor__free(governor);
}

/*
 * The expected rate in the next window: a family that is exact in between starts afresh when it is
 * sampled again.
 */
static void rates_are_expected_of_sampled_families(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS);
	governor__read(governor);
	calls_of(governor, 0, RATE_LAUNCH)->held_rate =
		calls_of(governor, 0, RATE_COPY)->held_rate = 1e-3;
	governor->sampled = LAUNCHES;
	governor__mark_windows(governor);
	assert_about(calls_of(governor, 0, RATE_LAUNCH)->held_rate, 1e-3);
	assert_about(calls_of(governor, 0, RATE_COPY)->held_rate, 0);
	/* Programs have phases: an idle window does not mean that it has ended. */
	hand.now_ns += 100 * MS;
	governor__end_windows(governor, LAUNCHES, hand.now_ns);
	assert_about(calls_of(governor, 0, RATE_LAUNCH)->held_rate, 0.6e-3);
	governor__free(governor);
}

/* A window of 100 ms with 20000 launches, copies and waits each: each family costs 20 ms of it. */
static double rate_after_window(unsigned int sampled, unsigned int unsettled)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);
	double rate;

	hand__add(&hand, 0, BEGIN_NS);
	governor__read(governor);
	for (int family = 0; family < RATE_EXACT; family++)
		call(&hand, (enum rate_family)family, 20000);
	hand.now_ns += 100 * MS;
	governor__read(governor);
	governor->sampled = sampled;
	governor->unsettled = unsettled;
	governor__end_windows(governor, LAUNCHES, hand.now_ns);
	assert_int_equal(governor->unsettled, unsettled & ~LAUNCHES);
	rate = calls_of(governor, 0, RATE_LAUNCH)->rate_without;
	governor__free(governor);
	return rate;
}

/*
 * The rate without probes excludes the cost of families that are out, or were: the others are
 * always paid.
 */
static void rates_are_without_what_is_out(void **state)
{
	const double rate = 20000 / (100 * (double)MS);

	(void)state;
	assert_about(rate_after_window(LAUNCHES, 0), rate / 0.8);
	assert_about(rate_after_window(LAUNCHES, LAUNCHES | COPIES), rate / 0.6);
	assert_about(rate_after_window(LAUNCHES | COPIES, 0), rate / 0.6);
	assert_about(rate_after_window(LAUNCHES, COPIES << 1), rate / 0.6);
}

/* A thread that ended before the window began may still be reported in it. */
static void threads_without_time_are_no_matter(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS - 100 * MS);
	hand.rates[0].ended_ns = BEGIN_NS - 1;
	governor__read(governor);
	governor->sampled = LAUNCHES;
	governor->lag_ns = 0;
	calls_of(governor, 0, RATE_LAUNCH)->held_rate = 1e-3;
	governor__end_windows(governor, LAUNCHES, BEGIN_NS + 50 * MS);
	assert_about(calls_of(governor, 0, RATE_LAUNCH)->held_rate, 1e-3);
	governor->watched = ALL & ~LAUNCHES;
	hand.now_ns += 100 * MS;
	assert_int_equal(missed(governor), 0);
	assert_about(governor->threads.processes[0].missed[RATE_LAUNCH], 0);
	governor__free(governor);
}

/*
 * A newly seen thread has been active since the family was detached, until the probes were
 * attached, which was before that was known.
 */
static void threads_that_were_not_seen_are_made_up(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS - 500 * MS);
	governor->out_ns[RATE_LAUNCH] = BEGIN_NS - 300 * MS;
	governor->lead_ns = 40 * (double)MS;
	governor__read(governor);
	call(&hand, RATE_LAUNCH, 20000);
	hand.now_ns += 100 * MS;
	governor__read(governor);
	governor->sampled = LAUNCHES;
	governor__end_windows(governor, LAUNCHES, hand.now_ns);
	assert_about(governor->threads.processes[0].missed[RATE_LAUNCH],
		     260 * (double)MS * (20000 / (80 * (double)MS)));
	governor__free(governor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(going_is_learned),
		cmocka_unit_test(coming_is_learned),
		cmocka_unit_test(windows_and_gaps_have_room),
		cmocka_unit_test(cycles_differ_in_length),
		cmocka_unit_test(rates_are_expected_of_sampled_families),
		cmocka_unit_test(rates_are_without_what_is_out),
		cmocka_unit_test(threads_without_time_are_no_matter),
		cmocka_unit_test(threads_that_were_not_seen_are_made_up),
	};

	return cmocka_run_group_tests_name("governor_windows", tests, NULL, NULL);
}
