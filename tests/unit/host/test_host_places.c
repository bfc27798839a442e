// SPDX-License-Identifier: BSD-2-Clause
// Time by places in the code: what is merged, how times are shared out, and what memory bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/kept_stack.h"
#include "host/places.h"

#define PYTHON(name, path, number) \
	{ \
		.kind = FRAME_PYTHON, .function = name, .file = path, .line = number \
	}
#define MS 1000000ull

static const struct place_key on_cpu = {HOST_CPU, HOST_OUTSIDE, ~0u};
static const struct place_key launching = {HOST_CPU, HOST_LAUNCHES, ~0u};
static const struct place_key locked = {HOST_LOCK, HOST_OUTSIDE, ~0u};

static struct places_budget budget;

static struct places *new_places(void)
{
	budget.left = 1 << 20;
	return places__new(&budget);
}

static void add(struct places *places, const struct place_key *key, const char *function, uint32_t line, uint64_t amount)
{
	const struct stack_frame frames[] = {
		PYTHON("sqrt", "/usr/lib/python3/dist-packages/numpy/core.py", 3),
		PYTHON(function, "/home/user/train.py", line),
		PYTHON("<module>", "/home/user/train.py", 80),
	};
	const struct stack stack = {.count = 3, .frames = frames};

	places__add(places, key, &stack, "python3", amount);
}

static void shares_times_out(void **state)
{
	struct places *places = new_places();
	uint64_t ns[HOST_KINDS][HOST_CLASSES] = {0};
	struct host_reason *reasons;

	(void)state;
	add(places, &on_cpu, "normalise", 31, 20);
	add(places, &on_cpu, "randn", 30, 10);
	add(places, &on_cpu, "normalise", 31, 10);
	add(places, &launching, "step", 40, 1);
	add(places, &locked, "take", 50, 7 * MS);
	ns[HOST_CPU][HOST_OUTSIDE] = 80 * MS;
	ns[HOST_CPU][HOST_LAUNCHES] = 5 * MS;
	ns[HOST_LOCK][HOST_OUTSIDE] = 50 * MS;
	ns[HOST_SLEEP][HOST_OUTSIDE] = 1 * MS;
	assert_int_equal(places__rank(places, ns, &reasons), 5);
	assert_string_equal(reasons[0].line.function, "normalise");
	assert_int_equal(reasons[0].line.line, 31);
	assert_int_equal(reasons[0].frame, 1);
	assert_int_equal(reasons[0].ns, 60 * MS);
	assert_string_equal(reasons[0].stack->frames[2].function, "<module>");
	assert_int_equal(reasons[1].kind, HOST_LOCK);
	assert_int_equal(reasons[1].ns, 50 * MS);
	assert_string_equal(reasons[2].line.function, "randn");
	assert_int_equal(reasons[2].ns, 20 * MS);
	assert_int_equal(reasons[3].class, HOST_LAUNCHES);
	assert_int_equal(reasons[3].ns, 5 * MS);
	/* Nothing was counted of it: the time is there, without a line. */
	assert_int_equal(reasons[4].kind, HOST_SLEEP);
	assert_null(reasons[4].stack);
	assert_null(reasons[4].line.function);
	free(reasons);
	places__free(places);
}

/* Of one kind, class, call and line. */
static void tells_reasons_apart(void **state)
{
	const struct place_key ioctl_call = {HOST_OTHER, HOST_OUTSIDE, 16}, wait_call = {HOST_OTHER, HOST_OUTSIDE, 61};
	struct places *places = new_places();
	uint64_t ns[HOST_KINDS][HOST_CLASSES] = {0};
	struct host_reason *reasons;

	(void)state;
	add(places, &ioctl_call, "step", 1, 30);
	add(places, &wait_call, "step", 1, 20);
	add(places, &wait_call, "step", 2, 10);
	ns[HOST_OTHER][HOST_OUTSIDE] = 60;
	assert_int_equal(places__rank(places, ns, &reasons), 3);
	assert_string_equal(reasons[0].call_name, "ioctl");
	assert_string_equal(reasons[1].call_name, "wait4");
	assert_false(places__is_same(&reasons[0], &reasons[1]));
	assert_false(places__is_same(&reasons[1], &reasons[2]));
	assert_true(places__is_same(&reasons[2], &reasons[2]));
	free(reasons);
	places__free(places);
}

static void joins_want_of_a_cpu(void **state)
{
	struct places *places = new_places();
	uint64_t ns[HOST_KINDS][HOST_CLASSES] = {0};
	struct host_reason *reasons;

	(void)state;
	ns[HOST_READY][HOST_OUTSIDE] = 5;
	ns[HOST_READY][HOST_LAUNCHES] = 3;
	ns[HOST_READY][HOST_WAITS] = 2;
	ns[HOST_THROTTLED][HOST_COPIES] = 1;
	assert_int_equal(places__rank(places, ns, &reasons), 3);
	assert_int_equal(reasons[0].ns, 8);
	assert_int_equal(reasons[0].class, HOST_OUTSIDE);
	assert_int_equal(reasons[1].class, HOST_WAITS);
	assert_int_equal(reasons[2].kind, HOST_THROTTLED);
	free(reasons);
	places__free(places);
}

static void forgets(void **state)
{
	struct places *places = new_places();
	uint64_t ns[HOST_KINDS][HOST_CLASSES] = {0};
	struct host_reason *reasons;

	(void)state;
	ns[HOST_CPU][HOST_OUTSIDE] = 10;
	add(places, &on_cpu, "normalise", 31, 20);
	assert_true(budget.left < 1 << 20);
	places__clear(places);
	assert_int_equal(budget.left, 1 << 20);
	assert_int_equal(places__rank(places, ns, &reasons), 1);
	assert_null(reasons[0].stack);
	free(reasons);
	places__free(places);
}

/* What has no room counts without a line, and no time is lost. */
static void has_bounds(void **state)
{
	struct places *places = new_places();
	uint64_t ns[HOST_KINDS][HOST_CLASSES] = {0}, sum = 0, bare = 0;
	struct host_reason *reasons;
	long count;

	(void)state;
	budget.left = 64 << 20;
	for (uint32_t i = 0; i < 2 * PLACES_MAX; i++)
		add(places, &on_cpu, "step", i + 1, 1);
	ns[HOST_CPU][HOST_OUTSIDE] = 2 * PLACES_MAX * MS;
	count = places__rank(places, ns, &reasons);
	assert_int_equal(count, PLACES_MAX + 1);
	for (long i = 0; i < count; i++) {
		sum += reasons[i].ns;
		bare += reasons[i].stack ? 0 : reasons[i].ns;
	}
	assert_int_equal(sum, ns[HOST_CPU][HOST_OUTSIDE]);
	assert_int_equal(bare, PLACES_MAX * MS);
	free(reasons);
	places__free(places);
}

static void has_a_budget(void **state)
{
	struct places *places = new_places();
	uint64_t ns[HOST_KINDS][HOST_CLASSES] = {0};
	struct host_reason *reasons;

	(void)state;
	budget.left = 64;
	add(places, &on_cpu, "step", 1, 1);
	assert_int_equal(budget.left, 64);
	ns[HOST_CPU][HOST_OUTSIDE] = 10;
	assert_int_equal(places__rank(places, ns, &reasons), 1);
	assert_null(reasons[0].stack);
	assert_int_equal(reasons[0].ns, 10);
	free(reasons);
	places__free(places);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_times_out),
		cmocka_unit_test(tells_reasons_apart),
		cmocka_unit_test(joins_want_of_a_cpu),
		cmocka_unit_test(forgets),
		cmocka_unit_test(has_bounds),
		cmocka_unit_test(has_a_budget),
		cmocka_unit_test(keeps_whole_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
