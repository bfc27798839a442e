// SPDX-License-Identifier: BSD-2-Clause
// When ended processes are removed from the model: collect/processes.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "collect/ended_share.h"
#include "collect/private.h"

#define NOW (1000 * NS_PER_S)
#define MANY 1500 /* more than are kept for the next report */

/* Adds `count` processes that ended at this moment and whose slots have been reused. */
static void add_ended(struct model *model, size_t count, uint64_t ended_ns)
{
	model->processes = realloc(model->processes,
				   (model->process_count + count) * sizeof(*model->processes));
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

/* A reading's time is taken first: a process that ends during the reading has ended after it. */
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

/*
 * 1,000 ended processes that no report has shown are kept. If reports are expected, the others
 * count as lost.
 */
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

/* --- room --- */

#define SHARE (ENDED_BYTES_MAX / 32)

static void add_large(struct model *model, size_t count, uint32_t uid)
{
	size_t first = model->process_count;

	add_ended(model, count, NOW - NS_PER_S);
	for (size_t i = first; i < model->process_count; i++) {
		model->processes[i].identified = true;
		model->processes[i].uid = uid;
		model->processes[i].kept_bytes = SHARE;
		model->processes[i].ended_ns += i;
	}
}

static size_t count_of(const struct model *model, uint32_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < model->process_count; i++)
		count += model->processes[i].uid == uid;
	return count;
}

/* Processes of the user who has most are removed, the oldest first; other users' stay. */
static void test_one_user_does_not_crowd_out_another(void **state)
{
	struct collector collector = {.model.now_ns = NOW};

	(void)state;
	add_large(&collector.model, 3, 1);
	add_large(&collector.model, 40, 2);
	add_large(&collector.model, 2, 3);
	collector__drop_old_processes(&collector);
	assert_int_equal(count_of(&collector.model, 1), 3);
	assert_int_equal(count_of(&collector.model, 2), 27);
	assert_int_equal(count_of(&collector.model, 3), 2);
	assert_int_equal(collector.model.processes[3].ended_ns, NOW - NS_PER_S + 3 + 13);
	free(collector.model.processes);
}

static void test_what_fits_stays(void **state)
{
	struct collector collector = {.model.now_ns = NOW};

	(void)state;
	add_large(&collector.model, 32, 1);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, 32);
	free(collector.model.processes);
}

/* A final report shows all profiles: many full ones fit, but not without limit. */
static void test_profiles_have_more_room(void **state)
{
	const size_t fit = ENDED_PROFILES_BYTES_MAX / SHARE;
	struct collector collector = {.model.now_ns = NOW, .options.profile = true};

	(void)state;
	collector__expect_reports(&collector);
	assert_true(fit * SHARE >
		    ENDED_PROFILES * PROFILE_ENDED_KEPT * sizeof(struct thread_profile));
	add_large(&collector.model, fit, 1);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, fit);
	add_large(&collector.model, 10, 1);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, fit);
	assert_int_equal(collector.model.lost[LOSS_ENDED_FORGOTTEN], 10);
	free(collector.model.processes);
}

/* A process that is still in the maps is in use. */
static void test_what_is_in_the_maps_stays(void **state)
{
	struct collector collector = {.model.now_ns = NOW};
	uint32_t index_of[1];

	(void)state;
	collector.index_of = index_of;
	add_large(&collector.model, 40, 1);
	collector.model.processes[0].slot = 0;
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, 33);
	assert_int_equal(collector.model.processes[0].slot, 0);
	free(collector.model.processes);
}

/*
 * Processes already shown are removed first and are no loss. The others are a loss for each reader
 * that was not shown them.
 */
static void test_loss_of_what_nobody_was_shown(void **state)
{
	struct collector collector = {.model.now_ns = NOW};

	(void)state;
	add_large(&collector.model, 4, 1);
	collector__reported(&collector);
	collector__paged(&collector);
	add_large(&collector.model, 32, 1);
	collector__expect_reports(&collector);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, 32);
	assert_int_equal(collector.model.lost[LOSS_ENDED_FORGOTTEN], 0);
	add_large(&collector.model, 2, 1);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.lost[LOSS_ENDED_FORGOTTEN], 2);
	assert_int_equal(collector.model.lost[LOSS_ENDED_EARLY], 2);
	collector__reported(&collector);
	add_large(&collector.model, 3, 1);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.lost[LOSS_ENDED_FORGOTTEN], 2);
	assert_int_equal(collector.model.lost[LOSS_ENDED_EARLY], 5);
	collector__paged(&collector);
	add_large(&collector.model, 4, 1);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.lost[LOSS_ENDED_FORGOTTEN], 2);
	assert_int_equal(collector.model.lost[LOSS_ENDED_EARLY], 5);
	free(collector.model.processes);
}

/* Nobody reads pages, so nothing removed is missed. */
static void test_no_loss_without_pages(void **state)
{
	struct collector collector = {.model.now_ns = NOW};

	(void)state;
	add_large(&collector.model, 40, 1);
	collector__drop_old_processes(&collector);
	assert_int_equal(collector.model.process_count, 32);
	assert_int_equal(collector.model.lost[LOSS_ENDED_FORGOTTEN] +
				 collector.model.lost[LOSS_ENDED_EARLY],
			 0);
	free(collector.model.processes);
}

/* Each name is read once in a round of turns, and no reading reads many. */
static void test_names_take_turns(void **state)
{
	static const size_t counts[] = {1, NAMES_READ - 1, NAMES_READ, 500, 65536};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		size_t turns = counts[i] / NAMES_READ + 1, read = 0;

		for (uint32_t turn = 7; turn < 7 + turns; turn++) {
			size_t now = 0;

			for (uint32_t slot = 0; slot < counts[i]; slot++)
				now += collector__is_name_due(slot, turn, counts[i]);
			assert_true(now <= NAMES_READ);
			read += now;
		}
		assert_int_equal(read, counts[i]);
	}
	assert_true(collector__is_name_due(5, 9, NAMES_READ - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended_after_the_reading_began),
		cmocka_unit_test(test_its_last_values_can_be_read),
		cmocka_unit_test(test_leaves_once_reported),
		cmocka_unit_test(test_unreported),
		cmocka_unit_test(test_one_user_does_not_crowd_out_another),
		cmocka_unit_test(test_what_fits_stays),
		cmocka_unit_test(test_profiles_have_more_room),
		cmocka_unit_test(test_what_is_in_the_maps_stays),
		cmocka_unit_test(test_loss_of_what_nobody_was_shown),
		cmocka_unit_test(test_no_loss_without_pages),
		cmocka_unit_test(test_names_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
