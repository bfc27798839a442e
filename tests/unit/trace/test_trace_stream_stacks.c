// SPDX-License-Identifier: BSD-2-Clause
// The stacks of the calls that the stream emits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace_stream_scene.h"
#include "target/proc.h"

#define UNMAPPED (1ull << 44) /* with some unmapped GiB above it, under valgrind too */

/* As BPF does: a stack of this process, whose caller is at `caller`, where nothing is mapped. */
static char *reserve_stack(struct test *test, uint64_t id, uint64_t caller)
{
	struct stack_record record = {.id = id, .function = 8, .pid = getpid(), .natives = 1};
	struct process_info info;
	char *at;

	assert_int_equal(proc__info(getpid(), &info), 0);
	record.start_ns = info.start_ns;
	record.native[0] = caller;
	at = fake_ring__reserve(&test->fake->stacks, &record, sizeof(record));
	assert_non_null(at);
	return at;
}

static void open_with_stacks(struct test *test, size_t max)
{
	test->options.stack_mode = STACK_FP;
	test->options.max_stacks = max;
	open_stream(test);
}

static void call_from(struct test *test, const char *symbol, uint64_t stack)
{
	test->fake->stack = stack;
	fake__enter(test->fake, test->functions, 0, symbol, stack);
	test->fake->clock += MS;
	fake__leave(test->fake, 0, 0);
	test->fake->clock += MS;
}

static void calls_have_the_stacks_of_their_ids(void **state)
{
	struct test *test = *state;

	open_with_stacks(test, 100);
	fake__announce(test->fake, 0, 1, getpid(), getpid(), "test");
	fake__commit(reserve_stack(test, 11, 0x111110));
	call_from(test, SIMPLE, 11);
	fake__commit(reserve_stack(test, 12, 0x121210));
	call_from(test, LAUNCH, 12);
	call_from(test, SIMPLE, 11);
	call_from(test, SIMPLE, 13);
	call_from(test, SIMPLE, 0);
	assert_int_equal(trace_stream__drain(test->stream), 0);
	assert_int_equal(test->count, 5);
	assert_int_equal(test->got[0].caller, 0x111110);
	assert_int_equal(test->got[0].frames, 3); /* and a mark that it breaks off */
	assert_int_equal(test->got[1].caller, 0x121210);
	assert_int_equal(test->got[2].caller, 0x111110);
	assert_int_equal(test->got[3].frames, 0);
	assert_int_equal(test->got[4].frames, 0);
	assert_int_equal(counts_of(test).unknown_stacks, 2);
	assert_int_equal(counts_of(test).evicted, 0);
}

/* An earlier record in the ring, another thread's, is being written. */
static void a_call_waits_until_its_stack_is_read(void **state)
{
	struct test *test = *state;
	char *busy;

	open_with_stacks(test, 100);
	busy = reserve_stack(test, 10, 0x101010);
	fake__commit(reserve_stack(test, 11, 0x111110));
	call_from(test, SIMPLE, 11);
	trace_stream__drain(test->stream);
	trace_stream__drain(test->stream);
	assert_int_equal(test->count, 0);
	fake__commit(busy);
	trace_stream__drain(test->stream);
	assert_int_equal(test->count, 1);
	assert_int_equal(test->got[0].caller, 0x111110);
}

/* More stacks than one drain names. */
static void stacks_are_named_a_part_at_a_time(void **state)
{
	struct test *test = *state;
	unsigned int drains = 0;

	open_with_stacks(test, 1000);
	for (uint64_t id = 1; id <= 200; id++) {
		fake__commit(reserve_stack(test, id, UNMAPPED + (id << 20)));
		call_from(test, SIMPLE, id);
	}
	while (trace_stream__drain(test->stream))
		drains++;
	assert_true(drains > 2);
	assert_int_equal(test->count, 200);
	for (uint64_t id = 1; id <= 200; id++)
		assert_int_equal(test->got[id - 1].caller, UNMAPPED + (id << 20));
}

static void a_stack_that_had_to_leave_is_not_known(void **state)
{
	struct test *test = *state;

	open_with_stacks(test, 1);
	fake__commit(reserve_stack(test, 11, 0x111110));
	call_from(test, SIMPLE, 11);
	fake__commit(reserve_stack(test, 12, 0x121210));
	call_from(test, SIMPLE, 12);
	while (trace_stream__drain(test->stream))
		;
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[0].frames, 0);
	assert_int_equal(test->got[1].caller, 0x121210);
	assert_int_equal(counts_of(test).unknown_stacks, 1);
	assert_int_equal(counts_of(test).evicted, 1);
}

static void lost_stacks_are_no_lost_calls(void **state)
{
	struct test *test = *state;

	open_with_stacks(test, 100);
	call_from(test, SIMPLE, 11);
	fake__lose(test->fake, TRACE_LOST_STACK);
	test->fake->clock += MS;
	trace_stream__drain(test->stream);
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[1].kind, LINE_LOST);
	assert_int_equal(test->got[1].lost, 1);
	assert_int_equal(counts_of(test).losses[TRACE_LOST_STACK], 1);
	assert_int_equal(counts_of(test).lost, 0);
}

/* Calls in progress at the end have their stacks, too. */
static void unfinished_calls_have_stacks(void **state)
{
	struct test *test = *state;

	open_with_stacks(test, 100);
	test->fake->stack = 11;
	fake__enter(test->fake, test->functions, 0, LAUNCH, 1);
	fake__commit(reserve_stack(test, 11, 0x111110));
	test->fake->clock += MS;
	assert_int_equal(trace_stream__finish(test->stream), 0);
	assert_int_equal(test->count, 1);
	assert_int_equal(test->got[0].kind, LINE_UNFINISHED);
	assert_int_equal(test->got[0].caller, 0x111110);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(calls_have_the_stacks_of_their_ids),
		TEST(a_call_waits_until_its_stack_is_read),
		TEST(stacks_are_named_a_part_at_a_time),
		TEST(a_stack_that_had_to_leave_is_not_known),
		TEST(lost_stacks_are_no_lost_calls),
		TEST(unfinished_calls_have_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
