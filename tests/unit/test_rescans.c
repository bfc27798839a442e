// SPDX-License-Identifier: BSD-2-Clause
// Looks at processes whose mappings take long to be read: a tenth of the time together, and none is dropped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>

#include "base/clock.h"
#include "cli/rescans.h"

#define TAKES_NS (25 * NS_PER_MS)
#define PAUSE_NS (10 * TAKES_NS)
#define SLOW 1	 /* and all pids below QUICK */
#define QUICK 10 /* and all above */

struct seen {
	struct event_base *loop;
	struct rescans *rescans;
	struct rescan last;
	uint64_t last_ns;
	size_t count;
};

/* Says that it took long, and does nothing. */
static uint64_t look(const struct rescan *rescan, void *arg)
{
	struct seen *seen = arg;

	seen->last = *rescan;
	seen->last_ns = clock__boot_ns();
	seen->count++;
	return rescan->pid < QUICK ? TAKES_NS : 0;
}

static int begin(void **state)
{
	static struct seen seen;

	seen = (struct seen){.loop = event_base_new()};
	seen.rescans = rescans__new(seen.loop, look, &seen);
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

/* Of a hundred looks one more is made, as soon as it may be, and it stands for all. */
static void slow_ones_wait(void **state)
{
	struct seen *seen = *state;
	uint64_t began;

	add(seen, SLOW, SCAN_NAMED, 1000);
	began = seen->last_ns;
	for (uint64_t i = 0; i < 100; i++)
		add(seen, SLOW, i == 50 ? SCAN_PROGRAM : SCAN_NAMED, 2000 - i);
	assert_int_equal(seen->count, 1);
	event_base_dispatch(seen->loop);
	assert_int_equal(seen->count, 2);
	assert_int_equal(seen->last.scan, SCAN_PROGRAM);
	assert_int_equal(seen->last.since_ns, 1901);
	assert_true(seen->last_ns >= began + PAUSE_NS);
}

/* Three that are slow have no more of the time than one. */
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
	assert_true(seen->last_ns >= began + 3 * PAUSE_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(quick_ones_are_looked_at_at_once, begin, end),
		cmocka_unit_test_setup_teardown(slow_ones_wait, begin, end),
		cmocka_unit_test_setup_teardown(slow_ones_wait_for_each_other, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
