// SPDX-License-Identifier: BSD-2-Clause
// When ended processes leave the model: collect/processes.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "collect/private.h"

#define NOW (1000 * NS_PER_S)
#define MANY 1500 /* more than are kept for a report to come */

/* So many that ended at this moment, whose slots others have by now. */
static void add_ended(struct model *model, size_t count, uint64_t ended_ns)
{
	model->processes = realloc(model->processes, (model->process_count + count) * sizeof(*model->processes));
	assert_non_null(model->processes);
	for (size_t i = 0; i < count; i++)
		model->processes[model->process_count++] = (struct process){
			.slot = NO_PROCESS, .ended = true, .ended_ns = ended_ns, .pid = (pid_t)i};
}

static void set_up(struct collector *collector, uint64_t ended_ns)
{
	*collector = (struct collector){0};
	collector->model.now_ns = NOW;
	add_ended(&collector->model, MANY, ended_ns);
}

/* The moment of a reading is taken first: who ends while it is made has ended after it. */
static void test_ended_after_the_reading_began(void **state)
{
	struct collector collector;

	(void)state;
	set_up(&collector, NOW + 1);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, MANY);
	free(collector.model.processes);
}

static void test_its_last_values_can_be_read(void **state)
{
	struct collector collector;

	(void)state;
	set_up(&collector, NOW - SERIES_ENDED_NS + 1);
	collector__reported(&collector);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, MANY);
	free(collector.model.processes);
}

static void test_leaves_once_reported(void **state)
{
	struct collector collector;

	(void)state;
	set_up(&collector, NOW - SERIES_ENDED_NS);
	collector__expect_reports(&collector);
	collector__reported(&collector);
	add_ended(&collector.model, 1, NOW);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, 1);
	assert_int_equal(collector.model.processes[0].ended_ns, NOW);
	assert_int_equal(collector.model.lost[LOSS_ENDED_FORGOTTEN], 0);
	free(collector.model.processes);
}

/* Of those that no report has shown so many are kept; the others are a loss where one was to come. */
static void check_unreported(bool reports, uint64_t lost)
{
	struct collector collector;

	set_up(&collector, NOW - SERIES_ENDED_NS);
	if (reports)
		collector__expect_reports(&collector);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, 1000);
	assert_int_equal(collector.model.lost[LOSS_ENDED_FORGOTTEN], lost);
	free(collector.model.processes);
}

static void test_unreported(void **state)
{
	(void)state;
	check_unreported(true, MANY - 1000);
	check_unreported(false, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended_after_the_reading_began),
		cmocka_unit_test(test_its_last_values_can_be_read),
		cmocka_unit_test(test_leaves_once_reported),
		cmocka_unit_test(test_unreported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
