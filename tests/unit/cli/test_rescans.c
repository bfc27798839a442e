// SPDX-License-Identifier: BSD-2-Clause
// Rescans of processes whose mappings are slow to read: together they take a tenth of the time, and
// none is dropped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "cli/session/rescans.h"
#include "fake_clock.h"

#define TAKES_NS (25 * NS_PER_MS)
#define PAUSE_NS (10 * TAKES_NS)
#define LOOP_NS (2 * NS_PER_MS) /* The loop waits for whole milliseconds. */
#define SLOW 1			/* and all pids below QUICK */
#define QUICK 10		/* and all above */

/* Replaces libc's: the loop's waits end at once, but the clocks advance as if they had not. */
int epoll_wait(int fd, struct epoll_event *events, int room, int timeout_ms)
{
	(void)fd;
	(void)events;
	(void)room;
	assert_true(timeout_ms >= 0);
	pass_ms((uint64_t)timeout_ms);
	return 0;
}

struct seen {
	struct event_base *loop;
	struct rescans *rescans;
	struct rescan last, last_missed;
	uint64_t last_ns;
	size_t count, missed;
	size_t parts; /* number of scans that are not finished yet */
	uint64_t part_ns;
};

/* Pretends to have taken long, and does nothing. */
static uint64_t look(const struct rescan *rescan, uint64_t *ready_ns, void *arg)
{
	struct seen *seen = arg;

	if (seen->parts) {
		seen->parts--;
		*ready_ns = clock__boot_ns() + seen->part_ns;
	}

	seen->last = *rescan;
	seen->last_ns = clock__boot_ns();
	seen->count++;
	return rescan->pid < QUICK ? TAKES_NS : 0;
}

static void miss(const struct rescan *rescan, void *arg)
{
	struct seen *seen = arg;

	seen->last_missed = *rescan;
	seen->missed++;
}

static int begin(void **state)
{
	static struct seen seen;
	const struct rescans_hooks hooks = {.look = look, .missed = miss, .arg = &seen};

	fake_monotonic = true;
	seen = (struct seen){.loop = event_base_new()};
	seen.rescans = rescans__new(seen.loop, &hooks);
	assert_non_null(seen.rescans);
	*state = &seen;
	return 0;
}

static int end(void **state)
{
	struct seen *seen = *state;

	rescans__free(seen->rescans);
	event_base_free(seen->loop);
	return 0;
}

static void add(struct seen *seen, pid_t pid, enum process_scan scan, uint64_t since_ns)
{
	const struct rescan rescan = {.pid = pid, .scan = scan, .since_ns = since_ns};

	rescans__add(seen->rescans, &rescan, clock__boot_ns());
}

static void quick_ones_are_looked_at_at_once(void **state)
{
	struct seen *seen = *state;

	add(seen, SLOW, SCAN_NAMED, 1);
	for (size_t i = 0; i < 100; i++) {
		add(seen, QUICK + (pid_t)(i % 2), SCAN_NAMED, i);
		assert_int_equal(seen->count, i + 2);
	}
}

/* For a hundred requests there is one more scan, as soon as permitted: it covers all of them. */
static void slow_ones_wait(void **state)
{
	struct seen *seen = *state;
	uint64_t began;

	add(seen, SLOW, SCAN_NAMED, 1000);
	assert_false(seen->last.waited);
	began = seen->last_ns;
	for (uint64_t i = 0; i < 100; i++)
		add(seen, SLOW, SCAN_NAMED, 2000 - i);
	assert_int_equal(seen->count, 1);
	event_base_dispatch(seen->loop);
	assert_int_equal(seen->count, 2);
	assert_int_equal(seen->last.since_ns, 1901);
	assert_true(seen->last.waited);
	assert_int_equal(seen->missed, 0);
	assert_in_range(seen->last_ns - began, PAUSE_NS, PAUSE_NS + LOOP_NS);
}

/* A program's mappings can no longer be scanned once another program has replaced it. */
static void another_program_misses_what_waits(void **state)
{
	struct seen *seen = *state;

	add(seen, SLOW, SCAN_NAMED, 1);
	add(seen, SLOW, SCAN_PROGRAM, 2);
	assert_int_equal(seen->missed, 0);
	add(seen, SLOW, SCAN_NAMED, 3);
	assert_int_equal(seen->missed, 0);
	add(seen, SLOW, SCAN_PROGRAM, 4);
	assert_int_equal(seen->missed, 1);
	assert_int_equal(seen->last_missed.since_ns, 2);
	add(seen, SLOW, SCAN_NAMED, 5);
	event_base_dispatch(seen->loop);
	assert_int_equal(seen->count, 2);
	assert_int_equal(seen->last.since_ns, 4);
	assert_int_equal(seen->last.scan, SCAN_PROGRAM);
	assert_int_equal(seen->missed, 1);
}

/* Three slow processes share the time that one would have. */
static void slow_ones_wait_for_each_other(void **state)
{
	struct seen *seen = *state;
	uint64_t began = clock__boot_ns();

	for (pid_t pid = SLOW; pid < SLOW + 3; pid++)
		add(seen, pid, SCAN_NAMED, 1);
	assert_int_equal(seen->count, 3);
	for (pid_t pid = SLOW; pid < SLOW + 3; pid++)
		add(seen, pid, SCAN_NAMED, 2);
	assert_int_equal(seen->count, 3);
	event_base_dispatch(seen->loop);
	assert_int_equal(seen->count, 6);
	assert_int_equal(seen->last.pid, SLOW + 2);
	assert_in_range(seen->last_ns - began, 3 * PAUSE_NS, 3 * (PAUSE_NS + LOOP_NS));
}

/* Pending scans are reported as missed at the end; those that need not wait are still made. */
static void the_end_misses_those_that_wait(void **state)
{
	struct seen *seen = *state;

	for (pid_t pid = SLOW; pid < SLOW + 3; pid++)
		add(seen, pid, SCAN_NAMED, 1);
	add(seen, SLOW, SCAN_NAMED, 3);
	add(seen, SLOW, SCAN_NAMED, 2);
	add(seen, SLOW + 1, SCAN_NAMED, 4);
	rescans__end(seen->rescans);
	assert_int_equal(seen->missed, 2);
	assert_int_equal(seen->last_missed.pid, SLOW + 1);
	assert_int_equal(seen->last_missed.since_ns, 4);
	add(seen, SLOW, SCAN_NAMED, 5);
	assert_int_equal(seen->missed, 3);
	assert_int_equal(seen->last_missed.since_ns, 5);
	add(seen, QUICK, SCAN_NAMED, 6);
	assert_int_equal(seen->count, 4);
	event_base_dispatch(seen->loop);
	assert_int_equal(seen->count, 4);
	assert_int_equal(seen->missed, 3);
}

/* It continues in the loop, so that others get their turn. Requests made meanwhile join it. */
static void what_is_unfinished_goes_on(void **state)
{
	struct seen *seen = *state;

	seen->parts = 3;
	add(seen, QUICK, SCAN_NAMED, 7);
	assert_int_equal(seen->count, 1);
	add(seen, QUICK, SCAN_NAMED, 5);
	assert_int_equal(seen->count, 1);
	add(seen, QUICK + 1, SCAN_NAMED, 9);
	assert_int_equal(seen->last.pid, QUICK + 1);
	event_base_dispatch(seen->loop);
	assert_int_equal(seen->count, 5);
	assert_int_equal(seen->last.pid, QUICK);
	assert_int_equal(seen->missed, 0);
}

/* It continues once its user's share permits. */
static void what_is_unfinished_waits(void **state)
{
	struct seen *seen = *state;
	uint64_t began = clock__boot_ns();

	seen->parts = 2;
	seen->part_ns = NS_PER_S;
	add(seen, QUICK, SCAN_NAMED, 7);
	event_base_dispatch(seen->loop);
	assert_int_equal(seen->count, 3);
	assert_in_range(seen->last_ns - began, 2 * NS_PER_S, 2 * (NS_PER_S + LOOP_NS));
	assert_int_equal(seen->last.since_ns, 7);
	assert_true(seen->last.waited);
}

static void the_end_misses_what_is_unfinished(void **state)
{
	struct seen *seen = *state;

	seen->parts = 1;
	add(seen, QUICK, SCAN_NAMED, 7);
	rescans__end(seen->rescans);
	assert_int_equal(seen->missed, 1);
	assert_int_equal(seen->last_missed.pid, QUICK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(quick_ones_are_looked_at_at_once, begin, end),
		cmocka_unit_test_setup_teardown(slow_ones_wait, begin, end),
		cmocka_unit_test_setup_teardown(another_program_misses_what_waits, begin, end),
		cmocka_unit_test_setup_teardown(slow_ones_wait_for_each_other, begin, end),
		cmocka_unit_test_setup_teardown(the_end_misses_those_that_wait, begin, end),
		cmocka_unit_test_setup_teardown(what_is_unfinished_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(what_is_unfinished_waits, begin, end),
		cmocka_unit_test_setup_teardown(the_end_misses_what_is_unfinished, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
