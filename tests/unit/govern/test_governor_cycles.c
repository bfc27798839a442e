// SPDX-License-Identifier: BSD-2-Clause
// The governor's cycles step by step, with threads and probes set by hand: windows and gaps in
// turn, failures, messages.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "governor_cycle.h"

/* --- captured messages --- */

static FILE *usual_stderr;
static char *said;
static size_t said_size;

static int listen_to_log(void **state)
{
	(void)state;
	usual_stderr = stderr;
	stderr = open_memstream(&said, &said_size);
	return stderr ? 0 : -1;
}

static int end_listening(void **state)
{
	(void)state;
	fclose(stderr);
	stderr = usual_stderr;
	free(said);
	return 0;
}

/* How often the message was printed. */
static int times_said(const char *words)
{
	int times = 0;

	fflush(stderr);
	for (const char *at = said; (at = strstr(at, words)); at++)
		times++;
	return times;
}

/* --- cycles --- */

/* Launches take two fifths of the thread's time, twice the budget. */
static void busy(struct hand *hand, uint64_t ns)
{
	call(hand, RATE_LAUNCH, (uint64_t)(0.4 * (double)ns / HAND_CALL_NS));
}

/* Sampling begins after 600 ms: the budget of a period is spent. Returns the length of the gap. */
static uint64_t begin_sampling(struct hand *hand, struct governor *governor)
{
	uint64_t gap_ns = 0;

	hand__add(hand, 0, BEGIN_NS);
	for (int slice = 0; slice < 6; slice++) {
		busy(hand, 100 * MS);
		gap_ns = after(hand, governor, 100 * MS);
	}
	return gap_ns;
}

static void the_first_gap_fits_to_what_was_before(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);
	uint64_t gap_ns = begin_sampling(&hand, governor);

	(void)state;
	assert_int_equal(hand.in, ALL & ~LAUNCHES);
	/* Half of the cycle, including the time until the probes are detached. */
	assert_about((double)gap_ns, 2 * 610e6 - 600e6);
	/*
	 * From then on calls are missed, at the thread's rate without probes: 0.4 in 600 us is 1 in
	 * 1500 ns.
	 */
	hand.now_ns += 100 * MS;
	assert_about((double)missed(governor), (double)(90 * MS / 1500));
	governor__free(governor);
}

/* Calls that were seen after the family's window, and before it was known to be attached again. */
static void delays_are_learned_in_each_cycle(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);
	uint64_t gap_ns = begin_sampling(&hand, governor);
	double rate = 0.4 / HAND_CALL_NS, learned;

	(void)state;
	busy(&hand, 30 * MS);
	hand.early = (uint64_t)(rate * 20 * (double)MS);
	after(&hand, governor, gap_ns);
	assert_about(governor->lag_ns, 10e6 + (30e6 - 10e6) / 4);
	assert_about(governor->lead_ns, 0);
	hand.early = 0;
	busy(&hand, governor->end_ns[RATE_LAUNCH] - hand.now_ns);
	after(&hand, governor, governor->end_ns[RATE_LAUNCH] - hand.now_ns);
	assert_int_equal(governor->mode, MODE_GAP);
	learned = governor->lead_ns;
	assert_true(fabs(learned - 5e6) < 1e4); /* whole calls */
	governor__free(governor);
}

/*
 * However much a gap would have to make up for, it is no longer than the longest planned one. Nor
 * is it shorter than detaching takes.
 */
static void gaps_have_bounds(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS);
	call(&hand, RATE_EXACT, 300000);
	call(&hand, RATE_LAUNCH, 10000);
	assert_int_equal(after(&hand, governor, 500 * MS), 9500 * MS);
	call(&hand, RATE_EXACT, 6000000);
	after(&hand, governor, 9500 * MS);
	assert_int_equal(governor->mode, MODE_WINDOW);
	/* Called late: the cycle should be over. */
	assert_int_equal(after(&hand, governor, 20 * NS_PER_S), GOVERNOR_MIN_GAP_NS);
	governor__free(governor);
}

/*
 * After a second in which no sampling was needed another one begins: calls seen then do not count
 * for both.
 */
static void exact_time_goes_by_seconds(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS);
	for (int second = 0; second < 3; second++) {
		busy(&hand, 100 * MS);
		assert_int_equal(after(&hand, governor, NS_PER_S), NS_PER_S / 10);
	}
	assert_int_equal(hand.watches, 0);
	assert_about(governor__overhead(governor), 0.04 / 0.96);
	/* It may use the savings of two seconds, and uses more. */
	call(&hand, RATE_LAUNCH, 700000);
	after(&hand, governor, NS_PER_S);
	assert_int_equal(hand.in, ALL & ~LAUNCHES);
	assert_about(governor__share(governor, RATE_LAUNCH), 0.6 / 0.7);
	assert_about(calls_of(governor, 0, RATE_LAUNCH)->rate, 0.7 / HAND_CALL_NS);
	governor__free(governor);
}

/* The first second is reported while it lasts; later reports cover whole cycles. */
static void overhead_is_of_the_latest_cycle(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS);
	call(&hand, RATE_LAUNCH, 10000);
	hand.now_ns += 100 * MS;
	governor__refresh(governor);
	assert_about(governor__overhead(governor), 0.1 / 0.9);
	after(&hand, governor, 900 * MS);
	assert_about(governor__overhead(governor), 0.01 / 0.99);
	hand.now_ns += 500 * MS;
	call(&hand, RATE_LAUNCH, 50000);
	governor__refresh(governor);
	assert_about(governor__overhead(governor), 0.01 / 0.99);
	governor__free(governor);
}

/*
 * A gap began while the thread was busy. At its end, when everything is exact again, the thread was
 * idle: half of the gap was idle.
 */
static void gaps_before_exact_time_are_settled(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);
	uint64_t before;

	(void)state;
	after(&hand, governor, begin_sampling(&hand, governor));
	before = missed(governor);
	assert_true(before > 100000);
	/*
	 * Half of the budget is available again; no calls are made any more, and the remembered
	 * rate fades.
	 */
	for (int tick = 0; governor->mode != MODE_EXACT; tick++) {
		assert_true(tick < 40);
		after(&hand, governor,
		      governor__next_end(governor) ?
			      governor__next_end(governor) - hand.now_ns + 1 :
			      NS_PER_S);
	}
	assert_int_equal(governor->unsettled, LAUNCHES);
	after(&hand, governor, 100 * MS);
	assert_int_equal(governor->unsettled, 0);
	assert_int_equal(missed(governor), before);
	governor__free(governor);
}

static void settled_is_what_is_not_sampled(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);
	struct governed_calls *own;

	(void)state;
	hand__add(&hand, 0, BEGIN_NS);
	governor__read(governor);
	for (int family = 0; family < 2; family++) {
		own = calls_of(governor, 0, (enum rate_family)family);
		own->rate_without = 1e-3;
		own->gap_ns = 100 * (double)MS;
	}
	governor->unsettled = LAUNCHES | COPIES;
	governor->sampled = COPIES;
	governor->mode = MODE_WINDOW;
	governor->end_ns[RATE_COPY] = BEGIN_NS + 200 * MS;
	assert_int_equal(after(&hand, governor, 100 * MS), 100 * MS);
	assert_int_equal(governor->unsettled, COPIES);
	assert_about(governor->threads.processes[0].missed[RATE_LAUNCH], -50000);
	assert_about(governor->threads.processes[0].missed[RATE_COPY], 0);
	governor__free(governor);
}

/*
 * The probes of copies are detached first, those of launches later: the next tick is due at the
 * earlier time.
 */
static void windows_end_one_after_the_other(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = with_shares(&hand, 0.6, 0.3, 10 * (double)MS);

	(void)state;
	governor->mode = MODE_WINDOW;
	assert_int_equal(governor__next_end(governor), governor->end_ns[RATE_COPY]);
	after(&hand, governor, governor->end_ns[RATE_COPY] - BEGIN_NS);
	assert_int_equal(hand.in, ALL & ~COPIES);
	assert_int_equal(governor->mode, MODE_WINDOW);
	after(&hand, governor, governor->end_ns[RATE_LAUNCH] - hand.now_ns);
	assert_int_equal(hand.in, ALL & ~(COPIES | LAUNCHES));
	assert_int_equal(governor->mode, MODE_GAP);
	assert_int_equal(governor->gap_end_ns, BEGIN_NS + (uint64_t)governor->length_ns);
	governor__free(governor);
}

/* --- probes that cannot be detached or attached --- */

static void all_stays_exact_where_probes_stay_in(void **state)
{
	struct hand hand = {.watch_result = -EIO};
	struct governor *governor = begin(&hand);

	(void)state;
	assert_int_equal(begin_sampling(&hand, governor), NS_PER_S / 10);
	assert_true(hand.watches > 0 && hand.in == ALL);
	assert_true(governor__share(governor, RATE_LAUNCH) == 1);
	assert_int_equal(governor->mode, MODE_EXACT);
	hand.now_ns += 300 * MS;
	assert_int_equal(missed(governor), 0);
	hand.watch_result = 0;
	after(&hand, governor, 1);
	assert_int_equal(hand.in, ALL & ~LAUNCHES);
	assert_true(governor__share(governor, RATE_LAUNCH) < 1);
	governor__free(governor);
}

static void what_fails_later_is_tried_again(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);
	uint64_t gap_ns = begin_sampling(&hand, governor), before;

	(void)state;
	hand.watch_result = -EIO;
	assert_int_equal(after(&hand, governor, gap_ns), NS_PER_S / 10);
	assert_int_equal(governor->mode, MODE_GAP);
	before = missed(governor);
	hand.now_ns += 150 * MS; /* still out */
	assert_int_equal(missed(governor), before + 100000);
	hand.watch_result = 0;
	after(&hand, governor, 1);
	assert_int_equal(governor->mode, MODE_WINDOW);
	assert_int_equal(hand.in, ALL);
	hand.watch_result = -EIO;
	assert_int_equal(after(&hand, governor, 3 * NS_PER_S), NS_PER_S / 10);
	assert_int_equal(governor->mode, MODE_WINDOW);
	assert_int_equal(hand.in, ALL);
	hand.watch_result = 0;
	after(&hand, governor, NS_PER_S / 10);
	assert_int_equal(governor->mode, MODE_GAP);
	assert_int_equal(hand.in, ALL & ~LAUNCHES);
	governor__free(governor);
}

/* A thread's end is reported once, possibly only after the last reading of its process. */
static void late_ends_are_not_of_the_next_process(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS);
	call(&hand, RATE_LAUNCH, 10);
	after(&hand, governor, 100 * MS);
	call(&hand, RATE_LAUNCH, 10);
	hand.rates[0].ended_ns = hand.now_ns;
	governor__forget(governor, 0);
	after(&hand, governor, 100 * MS);
	assert_int_equal(governor__seen(governor, 0, RATE_LAUNCH), 0);
	governor__free(governor);
}

static void threads_that_ended_are_kept_for_their_cycle(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS);
	hand__add(&hand, 0, BEGIN_NS);
	after(&hand, governor, 100 * MS);
	hand.rates[0].ended_ns = hand.now_ns;
	after(&hand, governor, 100 * MS);
	assert_int_equal(HASH_COUNT(governor->threads.table), 2);
	after(&hand, governor, NS_PER_S);
	assert_int_equal(HASH_COUNT(governor->threads.table), 1);
	governor__free(governor);
}

/* --- messages --- */

static void changes_are_said_once(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	after(&hand, governor, begin_sampling(&hand, governor));
	for (int tick = 0; tick < 3; tick++) {
		busy(&hand, NS_PER_S);
		after(&hand, governor, NS_PER_S);
	}
	assert_int_equal(times_said("launches are watched 50.0 % of the time"), 1);
	assert_int_equal(times_said("launches are watched"), 1);
	assert_int_equal(times_said("watched again"), 0);
	for (int tick = 0; tick < 60 && governor->mode != MODE_EXACT; tick++)
		after(&hand, governor, 10 * NS_PER_S);
	after(&hand, governor, NS_PER_S);
	assert_int_equal(times_said("all launches are watched again"), 1);
	assert_int_equal(times_said("copies") + times_said("waits"), 0);
	governor__free(governor);
}

static void budgets_that_cannot_be_kept_are_said_once(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	hand__add(&hand, 0, BEGIN_NS);
	for (int second = 0; second < 4; second++) {
		call(&hand, RATE_EXACT, 300000);
		after(&hand, governor, NS_PER_S);
	}
	assert_int_equal(times_said("make a thread 42.9 % slower"), 1);
	assert_int_equal(times_said("cannot keep to --max-overhead"), 1);
	governor__free(governor);
}

static void threads_that_are_not_known_are_said_once(void **state)
{
	struct hand hand = {.count = 0};
	struct governor *governor = begin(&hand);

	(void)state;
	governor->threads.incomplete = true;
	governor__read(governor);
	assert_int_equal(times_said("no memory"), 0);
	governor__free(governor);
}

#define WITH_LOG(test) cmocka_unit_test_setup_teardown(test, listen_to_log, end_listening)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LOG(the_first_gap_fits_to_what_was_before),
		WITH_LOG(delays_are_learned_in_each_cycle),
		WITH_LOG(gaps_have_bounds),
		WITH_LOG(exact_time_goes_by_seconds),
		WITH_LOG(overhead_is_of_the_latest_cycle),
		WITH_LOG(gaps_before_exact_time_are_settled),
		cmocka_unit_test(settled_is_what_is_not_sampled),
		WITH_LOG(windows_end_one_after_the_other),
		WITH_LOG(all_stays_exact_where_probes_stay_in),
		WITH_LOG(what_fails_later_is_tried_again),
		WITH_LOG(late_ends_are_not_of_the_next_process),
		WITH_LOG(threads_that_ended_are_kept_for_their_cycle),
		WITH_LOG(changes_are_said_once),
		WITH_LOG(budgets_that_cannot_be_kept_are_said_once),
		WITH_LOG(threads_that_are_not_known_are_said_once),
	};

	return cmocka_run_group_tests_name("governor_cycles", tests, NULL, NULL);
}
