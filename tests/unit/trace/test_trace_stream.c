// SPDX-License-Identifier: BSD-2-Clause
// The stream, with a player of the BPF programs: when a call is shown, with which kernel and
// device, and what is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace_stream_scene.h"

static void a_call_is_shown_when_none_can_be_before_it(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1); /* the earlier one ends last */
	test->fake->clock += 100;
	call(test, 0, 2, 50);
	drain(test, MS);
	assert_int_equal(test->count, 0);
	fake__leave(test->fake, 1, 2);
	drain(test, MS);
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[0].serial, 1);
	assert_int_equal(test->got[0].tid, 102);
	assert_int_equal(test->got[1].serial, 2);
	assert_int_equal(test->got[1].process, 5);
	assert_string_equal(test->got[1].comm, "app");
	assert_int_equal(counts_of(test).calls, 2);
}

static void while_a_thread_is_entering_nothing_is_shown(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	call(test, 0, 1, 50);
	test->fake->began[1] = TRACE_ENTERING;
	drain(test, MS);
	assert_int_equal(test->count, 0);
	drain(test, 2000 * MS);
	assert_int_equal(test->count, 1); /* it is stuck, but not for ever */
	test->fake->began[1] = 0;
	call(test, 0, 2, 50);
	drain(test, MS);
	assert_int_equal(test->count, 2);
}

static void a_record_being_written_holds_up_what_follows(void **state)
{
	struct test *test = *state;
	struct fake_call ended;
	char *busy;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	test->fake->clock += 100;
	ended = fake__end(test->fake, 1, 0);
	busy = fake__reserve(test->fake, &ended.event, ended.size);
	call(test, 0, 2, 50);
	test->fake->began[1] = 0; /* only the ring has it */
	drain(test, MS);
	assert_int_equal(test->count, 0);
	fake__commit(busy);
	drain(test, MS);
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[0].serial, 1);
}

/* The thread that was to finish it may have been killed. */
static void a_record_that_is_never_finished_does_not_hold_up_the_end(void **state)
{
	struct test *test = *state;
	struct fake_call ended;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	call(test, 0, 1, 50);
	enter(test, 1, SIMPLE, 2);
	ended = fake__end(test->fake, 1, 0);
	fake__reserve(test->fake, &ended.event, ended.size);
	call(test, 0, 3, 50);
	finish(test);
	assert_int_equal(test->count, 1);
	assert_int_equal(test->got[0].serial, 1);
}

static void a_thread_number_given_anew_leaves_what_waits_alone(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "first");
	fake__announce(test->fake, 1, 6, 200, 201, "holder");
	enter(test, 1, SIMPLE, 1);
	test->fake->clock += 100;
	call(test, 0, 2, 50);
	fake__announce(test->fake, 0, 7, 300, 301, "second, longer than 15");
	call(test, 0, 3, 50);
	fake__announce(test->fake, 0, 7, 300, 302, "second, longer than 15");
	call(test, 0, 4, 50);
	fake__announce(test->fake, 0, 8, 400, 401, "third");
	drain(test, MS);
	fake__leave(test->fake, 1, 0);
	drain(test, MS);
	assert_int_equal(test->count, 4);
	assert_int_equal(test->got[3].tid, 302);
	assert_int_equal(test->got[1].tid, 101);
	assert_string_equal(test->got[1].comm, "first");
	assert_int_equal(test->got[2].tid, 301);
	assert_string_equal(test->got[2].comm, "second, longer ");
	assert_int_equal(test->got[2].process, 7);
}

static void a_thread_that_was_not_announced_is_shown(void **state)
{
	struct test *test = *state;

	test->fake->thread_count = 1;
	call(test, 0, 2, 50);
	drain(test, MS);
	assert_int_equal(test->count, 1);
	assert_int_equal(test->got[0].tid, 0);
	assert_string_equal(test->got[0].comm, "");
	assert_int_equal(test->got[0].process, PROCESS_NOT_TOLD);
}

static void what_is_no_record_is_counted_and_dropped(void **state)
{
	struct test *test = *state;
	struct fake_call bad;
	struct trace_thread_record thread = {.type = TRACE_THREAD, .thread = TRACE_THREADS};
	struct record_library library = {.header.type = RECORD_EXEC, .pid = 77};
	uint32_t unknown[2] = {99, 0};

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	enter(test, 0, SIMPLE, 1);
	bad = fake__end(test->fake, 0, 0);
	test->fake->began[0] = 0;
	for (size_t size = 0; size < bad.size; size++)
		fake__put(test->fake, &bad.event, size);
	bad.event.row = MAX_FUNCTIONS;
	fake__put(test->fake, &bad.event, bad.size);
	bad = (struct fake_call){.event = {.type = TRACE_CALL, .thread = TRACE_THREADS}};
	fake__put(test->fake, &bad.event, sizeof(bad));
	bad = (struct fake_call){.event = {.type = TRACE_CALL, .depth = TRACE_DEPTH}};
	fake__put(test->fake, &bad.event, sizeof(bad));
	bad = (struct fake_call){.event = {.type = TRACE_CALL, .words = TRACE_WORDS + 1}};
	fake__put(test->fake, &bad.event, sizeof(bad));
	fake__put(test->fake, &thread, sizeof(thread));
	fake__put(test->fake, &thread, sizeof(thread) - 1);
	fake__put(test->fake, &library, sizeof(library) - 1);
	fake__put(test->fake, unknown, sizeof(unknown));
	fake__put(test->fake, &library, sizeof(library));
	drain(test, MS);
	assert_int_equal(test->count, 0);
	assert_int_equal(counts_of(test).malformed, sizeof(bad.event) + sizeof(uint64_t) + 8);
	assert_int_equal(test->changes, 1);
	call(test, 0, 2, 50);
	drain(test, MS);
	assert_int_equal(test->count, 1);
}

/* A launch with this driver's handle or, if that is 0, of this host function. */
static void launch(struct test *test, uint32_t thread, uint64_t function, uint64_t handle,
		   uint32_t generation)
{
	struct fake_call *launched = enter(test, thread, LAUNCH, function);

	launched->payload[launched->event.words] = handle;
	launched->event.generation = generation;
	test->fake->clock += 50;
	fake__leave(test->fake, thread, 0);
}

static void launches_have_the_names_of_their_generation(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__name(test->fake, 5, 0x1000, 0, "_Z4vaddPfS_i");
	launch(test, 0, 0x55, 0x1000, 0);
	launch(test, 0, 0x55, 0x2000, 0); /* unknown */
	launch(test, 0, 0x55, 0x1000, 1);
	fake__name(test->fake, 5, 0x1000, 1, "other");
	launch(test, 0, 0x55, 0x1000, 1);
	launch(test, 0, 0x55, 0x1000, 0);
	fake__name(test->fake, 5, 0x3000, 1, "bad\x1bname");
	launch(test, 0, 0x55, 0x3000, 1);
	drain(test, MS);
	assert_int_equal(test->count, 6);
	assert_string_equal(test->got[0].kernel, "vadd");
	assert_string_equal(test->got[0].full, "_Z4vaddPfS_i");
	assert_string_equal(test->got[1].kernel, "");
	assert_string_equal(test->got[2].kernel, "other"); /* it came before the line was due */
	assert_string_equal(test->got[3].kernel, "other");
	assert_string_equal(test->got[4].kernel, "vadd");
	assert_string_equal(test->got[5].kernel, "");
	assert_int_equal(counts_of(test).malformed, 1);
}

static void full_names_are_demangled_whole(void **state)
{
	struct test *test = *state;

	test->options.full_names = true;
	open_stream(test);
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__name(test->fake, 5, 0x1000, 0, "_Z4vaddPfS_i");
	launch(test, 0, 0x55, 0x1000, 0);
	drain(test, MS);
	assert_string_equal(test->got[0].kernel, "vadd(float*, float*, int)");
}

static void set_device(struct test *test, uint32_t thread, int device, int result)
{
	enter(test, thread, "cudaSetDevice", (uint64_t)device | 0xabc00000000u);
	test->fake->clock += 50;
	fake__leave(test->fake, thread, result);
}

static void the_device_is_the_one_that_the_thread_has_set(void **state)
{
	struct test *test = *state;
	const int16_t devices[] = {-1, 3, 3, 3, -1};

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	call(test, 0, 1, 50);
	set_device(test, 0, 3, 0);
	call(test, 0, 2, 50);
	set_device(test, 0, 9, 101); /* fails */
	call(test, 1, 3, 50);
	drain(test, MS);
	assert_int_equal(test->count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(test->got[i].device, devices[i]);
}

static void make_context(struct test *test, uint32_t thread, uint64_t context, int device)
{
	struct fake_call *made = enter(test, thread, "cuCtxCreate_v2", 0x7000);
	uint16_t length = sizeof(context);

	made->payload[2] = (uint64_t)device;
	memcpy(&made->payload[3], &length, sizeof(length));
	memcpy((char *)&made->payload[3] + sizeof(length), &context, sizeof(context));
	made->size += sizeof(length) + sizeof(context);
	fake__leave(test->fake, thread, 0);
	test->fake->clock += 10;
}

/* A call about a context, and one that shows the device. */
static void use_context(struct test *test, const char *symbol, uint64_t context, uint64_t serial)
{
	enter(test, 0, symbol, context);
	fake__leave(test->fake, 0, 0);
	test->fake->clock += 10;
	call(test, 0, serial, 50);
}

static void contexts_are_of_the_device_that_they_were_made_on(void **state)
{
	struct test *test = *state;
	uint64_t context = 0xc0ffee;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	make_context(test, 0, context, 2);
	call(test, 0, 1, 50);
	enter(test, 0, "cuCtxPopCurrent_v2", 0x7000);
	fake__leave(test->fake, 0, 0);
	test->fake->clock += 10;
	call(test, 0, 2, 50);
	enter(test, 1, "cuCtxSetCurrent", context);
	fake__leave(test->fake, 1, 0);
	test->fake->clock += 10;
	call(test, 1, 3, 50);
	drain(test, MS);
	assert_int_equal(find_kind(test, 1, LINE_CALL)->device, 2);
	assert_int_equal(find_kind(test, 2, LINE_CALL)->device, -1);
	assert_int_equal(find_kind(test, 3, LINE_CALL)->device, 2);
}

static void pushed_contexts_cover_those_below(void **state)
{
	struct test *test = *state;
	const int16_t devices[] = {2, 4, 2, 4, -1, 2, 2, -1};

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	make_context(test, 0, 0xa, 2);
	make_context(test, 0, 0xb, 4);
	use_context(test, "cuCtxPushCurrent_v2", 0xa, 1);
	use_context(test, "cuCtxPopCurrent_v2", 0x7000, 2);
	use_context(test, "cuCtxPopCurrent_v2", 0x7000, 3);
	use_context(test, "cuCtxPushCurrent_v2", 0xb, 4);
	/* The current context is destroyed: it no longer exists, and its device is unknown. */
	use_context(test, "cuCtxDestroy_v2", 0xb, 6);
	enter(test, 0, "cuCtxPushCurrent_v2", 0xb);
	fake__leave(test->fake, 0, 0);
	test->fake->clock += 10;
	call(test, 0, 5, 50);
	use_context(test, "cuCtxPopCurrent_v2", 0x7000, 7);
	use_context(test, "cuCtxSetCurrent", 0, 8); /* none */
	drain(test, MS);
	for (uint64_t serial = 1; serial <= sizeof(devices) / sizeof(*devices); serial++)
		assert_int_equal(find_kind(test, serial, LINE_CALL)->device, devices[serial - 1]);
}

static void contexts_without_number_are_bounded(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	make_context(test, 0, 0x1000, 3);
	for (uint64_t i = 1; i <= CONTEXTS_PUSHED; i++)
		use_context(test, "cuCtxPushCurrent_v2", 0x1000, 1000 + i);
	for (uint64_t i = 1; i <= 2 * CONTEXTS_PUSHED; i++)
		use_context(test, "cuCtxPopCurrent_v2", 0x7000, 2000 + i);
	/* So many more are created that the first is forgotten, but the latest is not. */
	for (uint64_t i = 1; i <= CONTEXTS_KNOWN; i++)
		make_context(test, 0, 0x1000 + i, 5);
	for (uint64_t i = 1; i <= CONTEXTS_KNOWN; i++)
		use_context(test, "cuCtxPopCurrent_v2", 0x7000, 3000 + i);
	use_context(test, "cuCtxSetCurrent", 0x1000, 1);
	use_context(test, "cuCtxSetCurrent", 0x1000 + CONTEXTS_KNOWN, 2);
	use_context(test, "cuCtxSetCurrent", 0x1001, 3);
	drain(test, MS);
	/* The new context is one of those pushed. */
	assert_int_equal(find_kind(test, 1000 + CONTEXTS_PUSHED - 1, LINE_CALL)->device, 3);
	assert_int_equal(find_kind(test, 1000 + CONTEXTS_PUSHED, LINE_CALL)->device, -1);
	assert_int_equal(find_kind(test, 2001, LINE_CALL)->device, 3);
	assert_int_equal(find_kind(test, 2000 + CONTEXTS_PUSHED, LINE_CALL)->device, 3);
	assert_int_equal(find_kind(test, 2000 + CONTEXTS_PUSHED + 1, LINE_CALL)->device, -1);
	assert_int_equal(find_kind(test, 1, LINE_CALL)->device, -1);
	assert_int_equal(find_kind(test, 2, LINE_CALL)->device, 5);
	assert_int_equal(find_kind(test, 3, LINE_CALL)->device, 5);
}

static void losses_are_shown_where_they_were(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	call(test, 0, 1, 50);
	test->fake->clock += 100;
	for (int i = 0; i < 7; i++)
		fake__lose(test->fake, TRACE_LOST_RING);
	fake__lose(test->fake, TRACE_LOST_RETURN);
	test->fake->clock += 100;
	call(test, 0, 2, 50);
	drain(test, MS);
	assert_int_equal(test->count, 4);
	assert_int_equal(test->got[1].kind, LINE_LOST);
	assert_int_equal(test->got[1].lost, 7);
	assert_int_equal(test->got[3].serial, 2);
	assert_int_equal(counts_of(test).lost, 7);
	assert_int_equal(counts_of(test).losses[TRACE_LOST_RETURN], 1);
	test->fake->lost[TRACE_LOST_THREAD] =
		(struct trace_lost){.count = 2, .since_ns = FAKE_BEGIN};
	drain(test, MS);
	assert_int_equal(test->count, 5); /* late, which is better than never */
	assert_int_equal(counts_of(test).lost, 9);
}

static void a_drain_is_bounded(void **state)
{
	struct test *test = *state;

	test->fake->config.wake_bytes = 1000;
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	/* Records of the minimum size: discarded ones do not count. */
	for (unsigned int i = 0; i < 40000; i++) {
		const uint32_t nothing[2] = {99, 0};

		fake__put(test->fake, nothing, sizeof(nothing));
	}
	assert_int_equal(trace_stream__drain(test->stream), 1);
	assert_int_equal(trace_stream__drain(test->stream), 0);
	assert_int_equal(counts_of(test).malformed, 40000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_call_is_shown_when_none_can_be_before_it),
		TEST(while_a_thread_is_entering_nothing_is_shown),
		TEST(a_record_being_written_holds_up_what_follows),
		TEST(a_record_that_is_never_finished_does_not_hold_up_the_end),
		TEST(a_thread_number_given_anew_leaves_what_waits_alone),
		TEST(a_thread_that_was_not_announced_is_shown),
		TEST(what_is_no_record_is_counted_and_dropped),
		TEST(launches_have_the_names_of_their_generation),
		TEST(full_names_are_demangled_whole),
		TEST(the_device_is_the_one_that_the_thread_has_set),
		TEST(contexts_are_of_the_device_that_they_were_made_on),
		TEST(pushed_contexts_cover_those_below),
		TEST(contexts_without_number_are_bounded),
		TEST(losses_are_shown_where_they_were),
		TEST(a_drain_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
