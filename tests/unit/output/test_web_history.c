// SPDX-License-Identifier: BSD-2-Clause
// The history of the page at / (output/web/history.h): its points, its sites, its bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "output/web/history.h"

#define PROCESSES 40
#define SITES 12
#define BOUND ((size_t)128 << 10)

static struct process processes[PROCESSES];
static struct live_site sites[SITES];
static struct stack_frame frames[SITES];
static struct stack stacks[SITES];
static struct model model = {.processes = processes, .sections = SECTION_ALL};
static struct process_rates *rates;

static int start(void **state)
{
	memset(processes, 0, sizeof(processes));
	for (int i = 0; i < PROCESSES; i++) {
		processes[i].serial = (uint64_t)i + 1;
		processes[i].pid = 100 + i;
		processes[i].start_ns = (uint64_t)i + 1;
	}
	for (int i = 0; i < SITES; i++) {
		frames[i] = (struct stack_frame){.function = "site", .line = (uint32_t)i};
		stacks[i] = (struct stack){.serial = (uint64_t)i, .count = 1, .frames = &frames[i]};
		sites[i] = (struct live_site){.stack = &stacks[i]};
	}
	model.process_count = 1;
	model.now_ns = 1000 * NS_PER_S;
	model.wall = (struct timespec){.tv_sec = 5000};
	model.broken_off = false;
	rates = process_rates__new();
	*state = history__new(BOUND);
	return rates && *state ? 0 : -1;
}

static int end(void **state)
{
	history__free(*state);
	process_rates__free(rates);
	return 0;
}

static void add_after(struct history *history, uint64_t seconds)
{
	const struct history_input input = {.model = &model, .rates = rates};

	model.now_ns += seconds * NS_PER_S;
	model.wall.tv_sec += (time_t)seconds;
	assert_int_equal(process_rates__sample(rates, &model), 0);
	history__add(history, &input);
	assert_true(history__bytes(history) <= BOUND);
}

static void hold(struct process *process, uint64_t bytes)
{
	process->memory[MEMORY_DEVICE].live_bytes = bytes;
}

/* The answer has the history, or the sites of the process with that serial. */
static char *text_of(const struct history *history, uint64_t serial)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);
	struct json j;

	assert_non_null(out);
	json__init(&j, out);
	json__object_begin(&j);
	if (serial)
		history__write_sites(history, serial, &j);
	else
		history__write(history, &j);
	json__object_end(&j);
	fclose(out);
	return text;
}

static void has(const struct history *history, uint64_t serial, const char *part)
{
	char *text = text_of(history, serial);

	if (!strstr(text, part))
		fail_msg("no '%s' in %s", part, text);
	free(text);
}

static void has_not(const struct history *history, uint64_t serial, const char *part)
{
	char *text = text_of(history, serial);

	if (strstr(text, part))
		fail_msg("'%s' in %s", part, text);
	free(text);
}

static void has_values_at_times(void **state)
{
	hold(&processes[0], 100);
	add_after(*state, 0);
	hold(&processes[0], 300);
	processes[0].launches = 40;
	add_after(*state, 4);
	has(*state, 0, "\"times\":[5000,5004]");
	has(*state, 0, "\"id\":1,\"pid\":100");
	has(*state, 0, "\"memory_bytes\":[100,300]");
	has(*state, 0, "\"launches_per_second\":[null,10]");
	/* Nothing is profiled. */
	has(*state, 0, "\"proved_idle\":[null,null]");
}

static void is_null_before_and_after_a_process(void **state)
{
	add_after(*state, 1);
	model.process_count = 2;
	hold(&processes[1], 7);
	add_after(*state, 1);
	processes[1].ended = true;
	add_after(*state, 1);
	has(*state, 0, "\"memory_bytes\":[null,7,null]");
}

static void skips_a_broken_or_equal_reading(void **state)
{
	add_after(*state, 1);
	add_after(*state, 0);
	model.broken_off = true;
	add_after(*state, 1);
	assert_int_equal(history__points(*state), 1);
}

static void drops_what_is_older_than_its_span(void **state)
{
	model.process_count = 2;
	add_after(*state, 1);
	processes[1].ended = true;
	add_after(*state, 600);
	has(*state, 0, "\"id\":2");
	add_after(*state, 600);
	assert_int_equal(history__points(*state), 2);
	has_not(*state, 0, "\"id\":2");
}

static void keeps_a_number_of_points(void **state)
{
	for (uint64_t i = 0; i < HISTORY_POINTS + 10; i++) {
		hold(&processes[0], i);
		add_after(*state, 1);
	}
	assert_int_equal(history__points(*state), HISTORY_POINTS);
	has(*state, 0, "\"memory_bytes\":[10,11,");
	has(*state, 0, ",308,309]");
}

static void counts_what_has_no_room(void **state)
{
	model.process_count = PROCESSES;
	add_after(*state, 1);
	assert_true(history__left_out(*state) > 0);
	has(*state, 0, "\"id\":1,");
	has_not(*state, 0, "\"id\":40,");
}

static void what_ended_makes_room(void **state)
{
	model.process_count = PROCESSES;
	for (int i = PROCESSES / 2; i < PROCESSES; i++)
		processes[i].ended = true;
	for (int i = 0; i < PROCESSES / 2 - 1; i++)
		processes[i].ended = i > 0;
	add_after(*state, 1);
	processes[1].ended = false;
	for (int i = 2; i < PROCESSES; i++)
		processes[i].ended = true;
	processes[PROCESSES - 1].ended = false;
	for (int i = 0; i < 20; i++) {
		processes[PROCESSES - 1].serial++;
		processes[PROCESSES - 1].start_ns++;
		add_after(*state, 1);
	}
	assert_int_equal(history__left_out(*state), 0);
	has(*state, 0, "\"id\":60,");
	has(*state, 0, "\"id\":1,");
}

static void follows_the_largest_sites(void **state)
{
	processes[0].live_sites = sites;
	processes[0].live_site_count = 1;
	sites[0].bytes = 50;
	add_after(*state, 1);
	sites[0].bytes = 60;
	add_after(*state, 1);
	has(*state, 1, "\"memory_bytes\":[50,60]");
	processes[0].live_site_count = 0;
	add_after(*state, 1);
	has(*state, 1, "\"memory_bytes\":[50,60,0]");
}

static void a_large_site_takes_the_place_of_a_small_one(void **state)
{
	processes[0].live_sites = sites;
	processes[0].live_site_count = HISTORY_SITES;
	for (int i = 0; i < HISTORY_SITES; i++)
		sites[i].bytes = (uint64_t)(100 - i);
	add_after(*state, 1);
	has(*state, 1, "\"memory_bytes\":[93]");
	/* The ninth site is now the largest. */
	sites[HISTORY_SITES - 1] = sites[0];
	sites[0] = (struct live_site){.stack = &stacks[SITES - 1], .bytes = 5000};
	add_after(*state, 1);
	has(*state, 1, "\"memory_bytes\":[null,5000]");
	has_not(*state, 1, "\"memory_bytes\":[93");
}

static void knows_no_other_process(void **state)
{
	add_after(*state, 1);
	has(*state, 77, "\"sites\":[]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(has_values_at_times, start, end),
		cmocka_unit_test_setup_teardown(is_null_before_and_after_a_process, start, end),
		cmocka_unit_test_setup_teardown(skips_a_broken_or_equal_reading, start, end),
		cmocka_unit_test_setup_teardown(drops_what_is_older_than_its_span, start, end),
		cmocka_unit_test_setup_teardown(keeps_a_number_of_points, start, end),
		cmocka_unit_test_setup_teardown(counts_what_has_no_room, start, end),
		cmocka_unit_test_setup_teardown(what_ended_makes_room, start, end),
		cmocka_unit_test_setup_teardown(follows_the_largest_sites, start, end),
		cmocka_unit_test_setup_teardown(a_large_site_takes_the_place_of_a_small_one, start,
						end),
		cmocka_unit_test_setup_teardown(knows_no_other_process, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
