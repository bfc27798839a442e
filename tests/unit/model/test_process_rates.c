// SPDX-License-Identifier: BSD-2-Clause
// Rates of processes between two readings (model/process_rates.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/process_rates.h"

static struct process processes[2];
static struct model model = {.processes = processes};

static int start(void **state)
{
	processes[0] = (struct process){.pid = 10, .start_ns = 5};
	processes[1] = (struct process){.pid = 10, .start_ns = 6};
	model.process_count = 1;
	model.now_ns = 100 * NS_PER_S;
	model.broken_off = false;
	*state = process_rates__new();
	return 0;
}

static int end(void **state)
{
	process_rates__free(*state);
	return 0;
}

static struct process_rate rate_of(const struct process_rates *rates, size_t i)
{
	struct process_rate rate;

	process_rates__of(rates, &processes[i], &rate);
	return rate;
}

static void after(struct process_rates *rates, uint64_t seconds)
{
	model.now_ns += seconds * NS_PER_S;
	assert_int_equal(process_rates__sample(rates, &model), 0);
}

static void says_nothing_before_the_second_reading(void **state)
{
	processes[0].launches = 1000;
	after(*state, 0);
	assert_int_equal(rate_of(*state, 0).interval_ns, 0);
	assert_false(rate_of(*state, 0).has_slope);
}

static void divides_what_was_added(void **state)
{
	struct process_rate rate;

	processes[0].launches = 1000;
	after(*state, 0);
	processes[0].launches += 30;
	processes[0].graph_launches += 10;
	processes[0].copies[COPY_H2D][1].bytes = 200;
	processes[0].copies[COPY_H2D][0].unfollowed_bytes = 200;
	processes[0].copies[COPY_D2H][0].bytes = 40;
	processes[0].copies[COPY_SET][0].calls = 8;
	processes[0].waits[WAIT_EVENT].ns = NS_PER_S;
	processes[0].copy_waits.ns = 2 * NS_PER_S;
	processes[0].free_waits.ns = 3 * NS_PER_S;
	after(*state, 4);
	rate = rate_of(*state, 0);
	assert_int_equal(rate.interval_ns, 4 * NS_PER_S);
	assert_true(rate.launches == 10);
	assert_true(rate.to_device == 100);
	assert_true(rate.to_host == 10);
	assert_true(rate.copies == 2);
	assert_true(rate.waiting == 1.5);
}

static void knows_a_process_by_its_start(void **state)
{
	processes[0].launches = 1000;
	after(*state, 0);
	processes[1].launches = 6;
	model.process_count = 2;
	after(*state, 2);
	assert_true(rate_of(*state, 0).launches == 0);
	/* It is new: it has made all its launches since the first reading. */
	assert_true(rate_of(*state, 1).launches == 3);
}

static void forgets_a_process_that_is_gone(void **state)
{
	after(*state, 0);
	model.process_count = 0;
	after(*state, 2);
	assert_int_equal(rate_of(*state, 0).interval_ns, 0);
}

static void skips_a_broken_reading(void **state)
{
	processes[0].launches = 1000;
	after(*state, 0);
	model.broken_off = true;
	processes[0].launches = 10;
	after(*state, 2);
	model.broken_off = false;
	processes[0].launches = 1100;
	after(*state, 2);
	assert_true(rate_of(*state, 0).launches == 25);
}

static void falls_to_nothing_not_below(void **state)
{
	processes[0].launches = 1000;
	after(*state, 0);
	processes[0].launches = 900;
	after(*state, 2);
	assert_true(rate_of(*state, 0).launches == 0);
}

static void takes_the_slope_over_a_minute(void **state)
{
	struct process_rate rate;

	for (uint64_t i = 0; i < 60; i++) {
		processes[0].memory[MEMORY_DEVICE].live_bytes = 4000 + i * (i < 20 ? 1000 : 200);
		after(*state, 2);
	}
	rate = rate_of(*state, 0);
	assert_true(rate.has_slope);
	assert_true(rate.memory_slope > 99 && rate.memory_slope < 101);
	assert_true(rate.memory_change == 200);
}

static void counts_memory_of_devices(void **state)
{
	(void)state;
	processes[0].memory[MEMORY_MANAGED].live_bytes = 3;
	processes[0].memory[MEMORY_UNKNOWN].live_bytes = 4;
	processes[0].memory[MEMORY_HOST].live_bytes = 100;
	assert_int_equal(process__live_device_bytes(&processes[0]), 7);
	processes[0].ended = true;
	assert_int_equal(process__live_device_bytes(&processes[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_nothing_before_the_second_reading, start, end),
		cmocka_unit_test_setup_teardown(divides_what_was_added, start, end),
		cmocka_unit_test_setup_teardown(knows_a_process_by_its_start, start, end),
		cmocka_unit_test_setup_teardown(forgets_a_process_that_is_gone, start, end),
		cmocka_unit_test_setup_teardown(skips_a_broken_reading, start, end),
		cmocka_unit_test_setup_teardown(falls_to_nothing_not_below, start, end),
		cmocka_unit_test_setup_teardown(takes_the_slope_over_a_minute, start, end),
		cmocka_unit_test_setup_teardown(counts_memory_of_devices, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
