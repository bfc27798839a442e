// SPDX-License-Identifier: BSD-2-Clause
// Long calls, as the stream shows them: in progress and resumed, by entry and return, unfinished at
// the end.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace_stream_scene.h"

static void a_long_call_is_shown_in_progress_and_then_resumed(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	test->fake->clock += 100;
	enter(test, 1, DRIVER, 2); /* within it */
	test->fake->clock += 100;
	call(test, 0, 3, 50);
	drain(test, 900 * MS);
	assert_int_equal(test->count, 0);
	drain(test, 200 * MS);
	assert_int_equal(test->count, 3);
	assert_int_equal(test->got[0].kind, LINE_IN_PROGRESS);
	assert_int_equal(test->got[0].serial, 1);
	assert_true(test->got[0].duration > 1000 * MS);
	assert_int_equal(test->got[1].kind, LINE_IN_PROGRESS);
	assert_int_equal(test->got[1].depth, 1);
	assert_int_equal(test->got[2].serial, 3);
	assert_int_equal(counts_of(test).calls, 1);
	fake__leave(test->fake, 1, 0);
	test->fake->clock += 10;
	/* Another one inside it: the thread cannot be at its beginning any more. */
	enter(test, 1, DRIVER, 4);
	call(test, 0, 5, 50);
	drain(test, MS);
	fake__leave(test->fake, 1, 0);
	test->fake->clock += 10;
	fake__leave(test->fake, 1, 0);
	call(test, 1, 6, 50);
	drain(test, MS);
	assert_sorted(test);
	assert_int_equal(test->count, 8);
	assert_non_null(find_kind(test, 1, LINE_RESUMED));
	assert_int_equal(find_kind(test, 1, LINE_RESUMED)->start, FAKE_BEGIN);
	assert_non_null(find_kind(test, 5, LINE_CALL));
	assert_non_null(find_kind(test, 6, LINE_CALL));
	assert_int_equal(counts_of(test).calls, 6);
}

static void calls_that_may_not_be_reported_are_not_shown_in_progress(void **state)
{
	struct test *test = *state;

	test->fake->config.min_duration_ns = 5000 * MS;
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	test->fake->clock += 100;
	call(test, 0, 2, 50); /* as if it were long */
	drain(test, 1100 * MS);
	drain(test, 100 * MS);
	assert_int_equal(test->count, 1);
	assert_int_equal(test->got[0].serial, 2);
	test->fake->clock += 5000 * MS;
	fake__leave(test->fake, 1, 0);
	drain(test, MS);
	assert_int_equal(test->got[1].kind, LINE_RESUMED);
	enter(test, 1, SIMPLE, 3);
	test->fake->clock += 100;
	finish(test);
	assert_int_equal(test->count, 2); /* it has not been unfinished for so long */
}

static void a_call_that_nobody_knows_of_does_not_hold_for_ever(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	test->fake->hides_calls = true;
	test->fake->clock += 100;
	call(test, 0, 2, 50);
	for (int i = 0; i < 8; i++)
		drain(test, 200 * MS);
	assert_int_equal(test->count, 1);
	fake__leave(test->fake, 1, 0);
	drain(test, MS);
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[1].kind, LINE_RESUMED);
	assert_sorted(test);
}

static void much_that_waits_is_let_go(void **state)
{
	struct test *test = *state;

	test->options.hold_bytes = 20000;
	open_stream(test);
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	for (uint64_t i = 0; i < 1000; i++) {
		test->fake->clock += 1000;
		call(test, 0, 100 + i, 500);
	}
	drain(test, MS); /* 3 ms after it began */
	assert_int_equal(test->count, 1001);
	assert_int_equal(test->got[0].kind, LINE_IN_PROGRESS);
	assert_sorted(test);
}

static void entries_and_returns_are_lines_of_their_own(void **state)
{
	struct test *test = *state;
	struct fake_call begun;
	uint64_t entry;

	test->options.entry_return = true;
	open_stream(test);
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	begun = *enter(test, 0, SIMPLE, 1);
	entry = test->fake->clock;
	begun.event.type = TRACE_ENTRY;
	fake__put(test->fake, &begun.event, begun.size);
	test->fake->began[0] = 0;
	drain(test, MS);
	assert_int_equal(test->count, 1);
	assert_int_equal(test->got[0].kind, LINE_ENTRY);
	assert_int_equal(counts_of(test).calls, 1);
	fake__leave(test->fake, 0, 0);
	drain(test, MS);
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[1].kind, LINE_RETURN);
	assert_int_equal(test->got[1].start, entry);
	assert_int_equal(test->got[1].duration, MS);
	assert_int_equal(counts_of(test).calls, 1);
}

static void what_is_in_progress_at_the_end_is_unfinished(void **state)
{
	struct test *test = *state;
	struct fake_call late;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	fake__announce(test->fake, 2, 5, 100, 103, "app");
	enter(test, 2, SIMPLE, 1);
	drain(test, 1100 * MS); /* shown in progress */
	assert_int_equal(test->count, 1);
	enter(test, 0, SIMPLE, 2);
	test->fake->clock += 100;
	enter(test, 0, DRIVER, 3);
	test->fake->clock += 100;
	call(test, 1, 4, 50);
	late = test->fake->calls[2][0]; /* its thread has just ended: the ring has the same */
	late.event.type = TRACE_UNFINISHED;
	fake__put(test->fake, &late.event, late.size);
	test->fake->depth[2] = 0;
	finish(test);
	assert_int_equal(test->count, 5);
	assert_int_equal(test->got[1].serial, 1);
	assert_int_equal(test->got[1].kind, LINE_UNFINISHED);
	assert_sorted(test);
	assert_int_equal(test->got[2].serial, 2);
	assert_int_equal(test->got[2].kind, LINE_UNFINISHED);
	assert_int_equal(test->got[2].duration, 250);
	assert_int_equal(test->got[3].serial, 3);
	assert_int_equal(test->got[4].serial, 4);
	assert_int_equal(counts_of(test).calls, 4);
	assert_int_equal(counts_of(test).unfinished, 3);
}

static void a_thread_that_ends_at_the_end_reports_its_calls_once(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	enter(test, 0, SIMPLE, 1);
	enter(test, 0, DRIVER, 2);
	test->fake->clock += 100;
	test->fake->ends_threads = true;
	finish(test);
	assert_int_equal(test->count, 2);
	assert_int_equal(counts_of(test).calls, 2);
}

static void the_last_line_may_be_any(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	for (uint64_t i = 0; i < 10; i++)
		call(test, 0, i, 50);
	test->stop_at = 4;
	test->fake->clock += MS;
	assert_int_equal(trace_stream__drain(test->stream), -ECANCELED);
	assert_int_equal(trace_stream__drain(test->stream), -ECANCELED);
	assert_int_equal(trace_stream__finish(test->stream), -ECANCELED);
	assert_int_equal(test->count, 4);
	assert_int_equal(counts_of(test).calls, 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_long_call_is_shown_in_progress_and_then_resumed),
		TEST(calls_that_may_not_be_reported_are_not_shown_in_progress),
		TEST(a_call_that_nobody_knows_of_does_not_hold_for_ever),
		TEST(much_that_waits_is_let_go),
		TEST(entries_and_returns_are_lines_of_their_own),
		TEST(what_is_in_progress_at_the_end_is_unfinished),
		TEST(a_thread_that_ends_at_the_end_reports_its_calls_once),
		TEST(the_last_line_may_be_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
