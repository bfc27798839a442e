// SPDX-License-Identifier: BSD-2-Clause
// Time by code location: what is merged, how times are distributed, and how memory is bounded.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/kept_stack.h"
#include "host/code_locations.h"
#include "model/user_line.h"

#define PYTHON(name, path, number) \
	{ \
		.kind = FRAME_PYTHON, .function = name, .file = path, .line = number \
	}
#define MS 1000000ull

static const struct location_key on_cpu = {ACTIVITY_CPU, HOST_OUTSIDE, ~0u};
static const struct location_key launching = {ACTIVITY_CPU, HOST_LAUNCHES, ~0u};
static const struct location_key locked = {ACTIVITY_LOCK, HOST_OUTSIDE, ~0u};

static struct code_locations_budget budget;

static const struct stack_frame *line_of(const struct host_location *location)
{
	return user_line__find(location->stack);
}

static struct code_locations *new_locations(void)
{
	budget.left = 1 << 20;
	return code_locations__new(&budget);
}

static void add_stack(struct code_locations *locations, const struct location_key *key,
		      const struct stack *stack, uint64_t amount)
{
	const struct location_count count = {amount, 2, code_locations__marks_made(locations)};

	code_locations__add(locations, key, stack, &count);
}

static void add(struct code_locations *locations, const struct location_key *key,
		const char *function, uint32_t line, uint64_t amount)
{
	const struct stack_frame frames[] = {
		PYTHON("sqrt", "/usr/lib/python3/dist-packages/numpy/core.py", 3),
		PYTHON(function, "/home/user/train.py", line),
		PYTHON("<module>", "/home/user/train.py", 80),
	};
	const struct stack stack = {.count = 3, .frames = frames};

	add_stack(locations, key, &stack, amount);
}

static void shares_times_out(void **state)
{
	struct code_locations *locations = new_locations();
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0};
	struct host_location *found;

	(void)state;
	add(locations, &on_cpu, "normalise", 31, 20);
	add(locations, &on_cpu, "randn", 30, 10);
	add(locations, &on_cpu, "normalise", 31, 10);
	add(locations, &launching, "step", 40, 1);
	add(locations, &locked, "take", 50, 7 * MS);
	ns[ACTIVITY_CPU][HOST_OUTSIDE] = 80 * MS;
	ns[ACTIVITY_CPU][HOST_LAUNCHES] = 5 * MS;
	ns[ACTIVITY_LOCK][HOST_OUTSIDE] = 50 * MS;
	ns[ACTIVITY_SLEEP][HOST_OUTSIDE] = 1 * MS;
	assert_int_equal(code_locations__rank(locations, -1, ns, &found), 5);
	assert_string_equal(line_of(&found[0])->function, "normalise");
	assert_int_equal(line_of(&found[0])->line, 31);
	assert_int_equal(found[0].ns, 60 * MS);
	assert_int_equal(found[0].times, 4);
	assert_string_equal(found[0].stack->frames[2].function, "<module>");
	assert_int_equal(found[1].activity, ACTIVITY_LOCK);
	assert_int_equal(found[1].ns, 50 * MS);
	assert_string_equal(line_of(&found[2])->function, "randn");
	assert_int_equal(found[2].ns, 20 * MS);
	assert_int_equal(found[3].class, HOST_LAUNCHES);
	assert_int_equal(found[3].ns, 5 * MS);
	/* Nothing was counted for it: the time is there, without a line. */
	assert_int_equal(found[4].activity, ACTIVITY_SLEEP);
	assert_null(found[4].stack);
	free(found);
	code_locations__free(locations);
}

/* Entries merge only if kind, class, call and line are equal. */
static void reports_locations_apart(void **state)
{
	const struct location_key ioctl_call = {ACTIVITY_OTHER, HOST_OUTSIDE, 16},
				  wait_call = {ACTIVITY_OTHER, HOST_OUTSIDE, 61};
	struct code_locations *locations = new_locations();
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0};
	struct host_location *found;

	(void)state;
	add(locations, &ioctl_call, "step", 1, 30);
	add(locations, &wait_call, "step", 1, 20);
	add(locations, &wait_call, "step", 2, 10);
	ns[ACTIVITY_OTHER][HOST_OUTSIDE] = 60;
	assert_int_equal(code_locations__rank(locations, -1, ns, &found), 3);
	assert_string_equal(found[0].call_name, "ioctl");
	assert_string_equal(found[1].call_name, "wait4");
	assert_int_equal(line_of(&found[1])->line, 1);
	assert_int_equal(line_of(&found[2])->line, 2);
	free(found);
	code_locations__free(locations);
}

static void joins_want_of_a_cpu(void **state)
{
	struct code_locations *locations = new_locations();
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0};
	struct host_location *found;

	(void)state;
	ns[ACTIVITY_READY][HOST_OUTSIDE] = 5;
	ns[ACTIVITY_READY][HOST_LAUNCHES] = 3;
	ns[ACTIVITY_READY][HOST_WAITS] = 2;
	ns[ACTIVITY_THROTTLED][HOST_COPIES] = 1;
	assert_int_equal(code_locations__rank(locations, -1, ns, &found), 3);
	assert_int_equal(found[0].ns, 8);
	assert_int_equal(found[0].class, HOST_OUTSIDE);
	assert_int_equal(found[1].class, HOST_WAITS);
	assert_int_equal(found[2].activity, ACTIVITY_THROTTLED);
	free(found);
	code_locations__free(locations);
}

/* Without a line of the user's code the innermost frame counts. */
static void goes_by_the_innermost_frame(void **state)
{
	const struct stack_frame waits[] = {{.function = "futex_wait", .object = "libc.so.6"},
					    PYTHON("wait", "/usr/lib/python3.11/threading.py", 1)};
	const struct stack_frame reads[] = {{.function = "read", .object = "libc.so.6"},
					    PYTHON("wait", "/usr/lib/python3.11/threading.py", 1)};
	const struct stack stacks[] = {{.count = 2, .frames = waits},
				       {.count = 2, .frames = reads}};
	struct code_locations *locations = new_locations();
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0};
	struct host_location *found;

	(void)state;
	ns[ACTIVITY_LOCK][HOST_OUTSIDE] = 40;
	add_stack(locations, &locked, &stacks[0], 3);
	add_stack(locations, &locked, &stacks[1], 1);
	assert_int_equal(code_locations__rank(locations, -1, ns, &found), 2);
	assert_string_equal(found[0].stack->frames[0].function, "futex_wait");
	assert_int_equal(found[0].ns, 30);
	assert_int_equal(found[1].ns, 10);
	free(found);
	code_locations__free(locations);
}

/* Counts for time without a CPU distribute that time, in whichever call it was. */
static void joins_locations_too(void **state)
{
	const struct location_key calling = {ACTIVITY_READY, HOST_LAUNCHES, ~0u},
				  outside = {ACTIVITY_READY, HOST_OUTSIDE, ~0u};
	struct code_locations *locations = new_locations();
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0};
	struct host_location *found;

	(void)state;
	add(locations, &calling, "step", 1, 1);
	add(locations, &outside, "step", 1, 1);
	add(locations, &outside, "step", 2, 6);
	ns[ACTIVITY_READY][HOST_LAUNCHES] = 4;
	ns[ACTIVITY_READY][HOST_OUTSIDE] = 4;
	assert_int_equal(code_locations__rank(locations, -1, ns, &found), 2);
	assert_int_equal(line_of(&found[0])->line, 2);
	assert_int_equal(found[0].ns, 6);
	assert_int_equal(found[1].ns, 2);
	free(found);
	code_locations__free(locations);
}

/* Entries that do not fit count without a line, and no time is lost. */
static void has_bounds(void **state)
{
	struct code_locations *locations = new_locations();
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0}, sum = 0, bare = 0;
	struct host_location *found;
	long count;

	(void)state;
	budget.left = 64 << 20;
	for (uint32_t i = 0; i < 2 * LOCATIONS_MAX; i++)
		add(locations, &on_cpu, "step", i + 1, 1);
	ns[ACTIVITY_CPU][HOST_OUTSIDE] = 2 * LOCATIONS_MAX * MS;
	count = code_locations__rank(locations, -1, ns, &found);
	assert_int_equal(count, LOCATIONS_MAX + 1);
	for (long i = 0; i < count; i++) {
		sum += found[i].ns;
		bare += found[i].stack ? 0 : found[i].ns;
	}
	assert_int_equal(sum, ns[ACTIVITY_CPU][HOST_OUTSIDE]);
	assert_int_equal(bare, LOCATIONS_MAX * MS);
	free(found);
	code_locations__free(locations);
}

static void has_a_budget(void **state)
{
	struct code_locations *locations = new_locations();
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0};
	struct host_location *found;

	(void)state;
	budget.left = 64;
	add(locations, &on_cpu, "step", 1, 1);
	assert_int_equal(budget.left, 64);
	ns[ACTIVITY_CPU][HOST_OUTSIDE] = 10;
	assert_int_equal(code_locations__rank(locations, -1, ns, &found), 1);
	assert_null(found[0].stack);
	assert_int_equal(found[0].ns, 10);
	free(found);
	code_locations__free(locations);
}

static void keeps_whole_stacks(void **state)
{
	static char text[KEPT_TEXT_BYTES];
	struct stack_frame frames[2 * KEPT_FRAMES];
	const struct stack stack = {.count = 2 * KEPT_FRAMES, .frames = frames};
	struct stack *kept;

	(void)state;
	for (uint32_t i = 0; i < stack.count; i++)
		frames[i] = (struct stack_frame)PYTHON("f", "file.py", i);
	kept = kept_stack__new(&stack);
	assert_int_equal(kept->count, KEPT_FRAMES);
	assert_true(kept->truncated);
	assert_string_equal(kept->frames[KEPT_FRAMES - 1].file, "file.py");
	assert_null(kept->frames[3].object);
	assert_true(kept->frames[3].file != frames[3].file);
	free(kept);
	memset(text, 'x', sizeof(text) - 1);
	frames[1].function = text;
	kept = kept_stack__new(&stack);
	assert_int_equal(kept->count, 2);
	assert_string_equal(kept->frames[1].function, text);
	free(kept);
}

/* Counts from before a mark do not affect how later time is distributed. */
static void counts_from_a_mark(void **state)
{
	struct code_locations *locations = new_locations();
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0};
	struct host_location *found;

	(void)state;
	add(locations, &on_cpu, "load_model", 7, 900);
	add(locations, &on_cpu, "normalise", 31, 10);
	code_locations__mark(locations, 2, false);
	add(locations, &on_cpu, "normalise", 31, 30);
	add(locations, &on_cpu, "randn", 30, 10);
	ns[ACTIVITY_CPU][HOST_OUTSIDE] = 40 * MS;
	assert_int_equal(code_locations__rank(locations, 2, ns, &found), 2);
	assert_int_equal(line_of(&found[0])->line, 31);
	assert_int_equal(found[0].ns, 30 * MS);
	assert_int_equal(found[0].times, 2);
	assert_int_equal(line_of(&found[1])->line, 30);
	assert_int_equal(found[1].ns, 10 * MS);
	free(found);
	/* There was nothing before it: everything counts. */
	code_locations__mark(locations, 2, true);
	assert_int_equal(code_locations__rank(locations, 2, ns, &found), 3);
	assert_int_equal(line_of(&found[0])->line, 7);
	assert_int_equal(found[0].times, 2);
	free(found);
	code_locations__free(locations);
}

/* Counts whose stack got its names after a mark are before it, at a location old or new. */
static void late_names_stay_before_a_mark(void **state)
{
	const struct stack_frame frames[] = {PYTHON("load_model", "/home/user/train.py", 7)};
	const struct stack stack = {.count = 1, .frames = frames};
	struct code_locations *locations = new_locations();
	const struct location_count early = {900, 900, code_locations__marks_made(locations)};
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES] = {0};
	struct host_location *found;

	(void)state;
	add(locations, &on_cpu, "normalise", 31, 10);
	code_locations__mark(locations, 2, false);
	add(locations, &on_cpu, "normalise", 31, 30);
	code_locations__add(locations, &on_cpu, &stack, &early);
	ns[ACTIVITY_CPU][HOST_OUTSIDE] = 30 * MS;
	assert_int_equal(code_locations__rank(locations, 2, ns, &found), 1);
	assert_int_equal(line_of(&found[0])->line, 31);
	assert_int_equal(found[0].times, 2);
	free(found);
	/* Nothing is before a mark of zeros. */
	code_locations__mark(locations, 1, true);
	assert_int_equal(code_locations__rank(locations, 1, ns, &found), 2);
	assert_int_equal(line_of(&found[0])->line, 7);
	assert_int_equal(found[0].times, 900);
	free(found);
	code_locations__add(locations, &on_cpu, &stack, &early);
	assert_int_equal(code_locations__rank(locations, 2, ns, &found), 1);
	free(found);
	assert_int_equal(code_locations__rank(locations, 1, ns, &found), 2);
	assert_int_equal(found[0].times, 1800);
	free(found);
	code_locations__free(locations);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_times_out),
		cmocka_unit_test(reports_locations_apart),
		cmocka_unit_test(joins_want_of_a_cpu),
		cmocka_unit_test(joins_locations_too),
		cmocka_unit_test(goes_by_the_innermost_frame),
		cmocka_unit_test(has_bounds),
		cmocka_unit_test(has_a_budget),
		cmocka_unit_test(keeps_whole_stacks),
		cmocka_unit_test(counts_from_a_mark),
		cmocka_unit_test(late_names_stay_before_a_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
