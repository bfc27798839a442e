// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stream against a player of the BPF programs: what is handed out is in
 * the order of its times, nothing is missing, nothing is there twice.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "target/process.h"
#include "trace_fake.h"

#define MS 1000000ull
#define SIMPLE "cudaFree"
#define DRIVER "cuMemFree_v2"
#define LAUNCH "cudaLaunchKernel"
#define LINES_MAX 200000

/* What is kept of a line. */
struct got {
	enum trace_line_kind kind;
	uint64_t time;	 /* by which it is ordered */
	uint64_t serial; /* the first argument word */
	uint64_t start, duration, lost;
	uint32_t process;
	pid_t tid;
	uint8_t depth;
	int16_t device;
	char comm[COMM_SIZE];
	char kernel[64];
	char full[64];
	uint32_t frames; /* of its stack; 0 where that is not known */
	uint64_t caller; /* its second frame's offset */
};

struct test {
	struct fake *fake;
	struct trace_stream *stream;
	struct trace_functions *functions;
	struct trace_stream_options options;
	struct got *got;
	size_t count;
	size_t stop_at; /* the line that ends the reading; 0: none */
	unsigned int changes;
};

static int keep_line(const struct trace_line *line, void *arg)
{
	struct test *test = arg;
	struct got *got = &test->got[test->count++];

	bool at_end = line->kind == LINE_RETURN || line->kind == LINE_RESUMED;

	assert_true(test->count <= LINES_MAX);
	*got = (struct got){
		.kind = line->kind,
		.time = line->start_ns,
		.duration = line->duration_ns,
		.start = line->start_ns - (at_end ? line->duration_ns : 0),
		.lost = line->lost,
		.tid = line->tid,
		.depth = line->depth,
		.device = line->device,
	};
	if (line->process) {
		got->process = line->process->number;
		memcpy(got->comm, line->process->comm, COMM_SIZE);
	}
	if (line->field_count && line->fields[0].form != FORM_DIM3)
		got->serial = line->fields[0].number;
	if (line->stack) {
		got->frames = line->stack->count;
		got->caller = line->stack->frames[1].offset;
	}
	snprintf(got->kernel, sizeof(got->kernel), "%s", line->kernel ? line->kernel : "");
	snprintf(got->full, sizeof(got->full), "%s", line->kernel_full ? line->kernel_full : "");
	return test->count == test->stop_at;
}

static void change(const struct record_library *record, void *arg)
{
	struct test *test = arg;

	assert_int_equal(record->pid, 77);
	test->changes++;
}

static void open_stream(struct test *test)
{
	struct error err = {0};

	trace_stream__free(test->stream);
	test->count = 0;
	test->fake = fake__new(test->options.stack_mode);
	test->options.line = keep_line;
	test->options.process_changed = change;
	test->options.arg = test;
	assert_int_equal(trace_stream__open(&test->fake->source, test->functions, &test->options, NULL,
					    &test->stream, &err),
			 0);
}

static int set_up(void **state)
{
	struct test *test = calloc(1, sizeof(*test));

	test->got = calloc(LINES_MAX, sizeof(*test->got));
	test->functions = trace_functions__new(false);
	open_stream(test);
	*state = test;
	return 0;
}

static int tear_down(void **state)
{
	struct test *test = *state;

	trace_stream__free(test->stream);
	trace_functions__free(test->functions);
	free(test->got);
	free(test);
	return 0;
}

static struct fake_call *enter(struct test *test, uint32_t thread, const char *symbol, uint64_t serial)
{
	return fake__enter(test->fake, test->functions, thread, symbol, serial);
}

/* A call that is over after `ns`. */
static void call(struct test *test, uint32_t thread, uint64_t serial, uint64_t ns)
{
	enter(test, thread, SIMPLE, serial);
	test->fake->clock += ns;
	fake__leave(test->fake, thread, 0);
}

/* Time goes on by so much, and all that is to be had is taken. */
static void drain(struct test *test, uint64_t ns)
{
	int ret;

	test->fake->clock += ns;
	do {
		ret = trace_stream__drain(test->stream);
	} while (ret == 1);
	assert_int_equal(ret, 0);
}

static void finish(struct test *test)
{
	assert_int_equal(trace_stream__finish(test->stream), 0);
}

static struct trace_counts counts_of(const struct test *test)
{
	struct trace_counts counts;

	trace_stream__count(test->stream, &counts);
	return counts;
}

static void assert_sorted(const struct test *test)
{
	for (size_t i = 1; i < test->count; i++)
		assert_true(test->got[i].time >= test->got[i - 1].time);
}

static const struct got *find_kind(const struct test *test, uint64_t serial, enum trace_line_kind kind)
{
	for (size_t i = 0; i < test->count; i++) {
		if (test->got[i].serial == serial && test->got[i].kind == kind)
			return &test->got[i];
	}
	return NULL;
}

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
	assert_int_equal(test->count, 1); /* it is stuck: not for ever */
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
	test->fake->began[1] = 0; /* no one but the ring tells of it */
	drain(test, MS);
	assert_int_equal(test->count, 0);
	fake__commit(busy);
	drain(test, MS);
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[0].serial, 1);
}

static void a_long_call_is_shown_in_progress_and_then_resumed(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	test->fake->clock += 100;
	enter(test, 1, DRIVER, 2); /* within it */
	test->fake->clock += 100;
	call(test, 0, 3, 50);
	drain(test, 900 * MS);
	assert_int_equal(test->count, 0);
	drain(test, 200 * MS);
	assert_int_equal(test->count, 3);
	assert_int_equal(test->got[0].kind, LINE_IN_PROGRESS);
	assert_int_equal(test->got[0].serial, 1);
	assert_true(test->got[0].duration > 1000 * MS);
	assert_int_equal(test->got[1].kind, LINE_IN_PROGRESS);
	assert_int_equal(test->got[1].depth, 1);
	assert_int_equal(test->got[2].serial, 3);
	assert_int_equal(counts_of(test).calls, 1);
	fake__leave(test->fake, 1, 0);
	test->fake->clock += 10;
	enter(test, 1, DRIVER, 4); /* another within it: it cannot be where it began any more */
	call(test, 0, 5, 50);
	drain(test, MS);
	fake__leave(test->fake, 1, 0);
	test->fake->clock += 10;
	fake__leave(test->fake, 1, 0);
	call(test, 1, 6, 50);
	drain(test, MS);
	assert_sorted(test);
	assert_int_equal(test->count, 8);
	assert_non_null(find_kind(test, 1, LINE_RESUMED));
	assert_int_equal(find_kind(test, 1, LINE_RESUMED)->start, FAKE_BEGIN);
	assert_non_null(find_kind(test, 5, LINE_CALL));
	assert_non_null(find_kind(test, 6, LINE_CALL));
	assert_int_equal(counts_of(test).calls, 6);
}

static void calls_that_may_not_be_told_are_not_shown_in_progress(void **state)
{
	struct test *test = *state;

	test->fake->config.min_duration_ns = 5000 * MS;
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	test->fake->clock += 100;
	call(test, 0, 2, 50); /* as if it were long */
	drain(test, 1100 * MS);
	drain(test, 100 * MS);
	assert_int_equal(test->count, 1);
	assert_int_equal(test->got[0].serial, 2);
	test->fake->clock += 5000 * MS;
	fake__leave(test->fake, 1, 0);
	drain(test, MS);
	assert_int_equal(test->got[1].kind, LINE_RESUMED);
	enter(test, 1, SIMPLE, 3);
	test->fake->clock += 100;
	finish(test);
	assert_int_equal(test->count, 2); /* it is not unfinished for so long */
}

static void a_call_that_nobody_knows_of_does_not_hold_for_ever(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	test->fake->hides_calls = true;
	test->fake->clock += 100;
	call(test, 0, 2, 50);
	for (int i = 0; i < 8; i++)
		drain(test, 200 * MS);
	assert_int_equal(test->count, 1);
	fake__leave(test->fake, 1, 0);
	drain(test, MS);
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[1].kind, LINE_RESUMED);
	assert_sorted(test);
}

static void much_that_waits_is_let_go(void **state)
{
	struct test *test = *state;

	test->options.hold_bytes = 20000;
	open_stream(test);
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	enter(test, 1, SIMPLE, 1);
	for (uint64_t i = 0; i < 1000; i++) {
		test->fake->clock += 1000;
		call(test, 0, 100 + i, 500);
	}
	drain(test, MS); /* 3 ms after it began */
	assert_int_equal(test->count, 1001);
	assert_int_equal(test->got[0].kind, LINE_IN_PROGRESS);
	assert_sorted(test);
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

/* A launch with this driver's handle, or, if that is 0, of this host function. */
static void launch(struct test *test, uint32_t thread, uint64_t function, uint64_t handle, uint32_t generation)
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
	launch(test, 0, 0x55, 0x2000, 0); /* not known */
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

static void contexts_are_of_the_device_that_they_were_made_on(void **state)
{
	struct test *test = *state;
	struct fake_call *made;
	uint16_t length = sizeof(uint64_t);
	uint64_t context = 0xc0ffee;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	made = enter(test, 0, "cuCtxCreate_v2", 0x7000);
	made->payload[2] = 2;
	memcpy(&made->payload[3], &length, sizeof(length));
	memcpy((char *)&made->payload[3] + sizeof(length), &context, sizeof(context));
	made->size += sizeof(length) + sizeof(context);
	fake__leave(test->fake, 0, 0);
	test->fake->clock += 10;
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
	test->fake->lost[TRACE_LOST_THREAD] = (struct trace_lost){.count = 2, .since_ns = FAKE_BEGIN};
	drain(test, MS);
	assert_int_equal(test->count, 5); /* later than its time is better than never */
	assert_int_equal(counts_of(test).lost, 9);
}

static void entries_and_returns_are_lines_of_their_own(void **state)
{
	struct test *test = *state;
	struct fake_call begun;
	uint64_t entry;

	test->options.entry_return = true;
	open_stream(test);
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	begun = *enter(test, 0, SIMPLE, 1);
	entry = test->fake->clock;
	begun.event.type = TRACE_ENTRY;
	fake__put(test->fake, &begun.event, begun.size);
	test->fake->began[0] = 0;
	drain(test, MS);
	assert_int_equal(test->count, 1);
	assert_int_equal(test->got[0].kind, LINE_ENTRY);
	assert_int_equal(counts_of(test).calls, 1);
	fake__leave(test->fake, 0, 0);
	drain(test, MS);
	assert_int_equal(test->count, 2);
	assert_int_equal(test->got[1].kind, LINE_RETURN);
	assert_int_equal(test->got[1].start, entry);
	assert_int_equal(test->got[1].duration, MS);
	assert_int_equal(counts_of(test).calls, 1);
}

static void what_is_in_progress_at_the_end_is_unfinished(void **state)
{
	struct test *test = *state;
	struct fake_call late;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	fake__announce(test->fake, 1, 5, 100, 102, "app");
	fake__announce(test->fake, 2, 5, 100, 103, "app");
	enter(test, 2, SIMPLE, 1);
	drain(test, 1100 * MS); /* is shown in progress */
	assert_int_equal(test->count, 1);
	enter(test, 0, SIMPLE, 2);
	test->fake->clock += 100;
	enter(test, 0, DRIVER, 3);
	test->fake->clock += 100;
	call(test, 1, 4, 50);
	late = test->fake->calls[2][0]; /* its thread ended just now: the ring tells the same */
	late.event.type = TRACE_UNFINISHED;
	fake__put(test->fake, &late.event, late.size);
	test->fake->depth[2] = 0;
	finish(test);
	assert_int_equal(test->count, 5);
	assert_int_equal(test->got[1].serial, 1);
	assert_int_equal(test->got[1].kind, LINE_UNFINISHED);
	assert_sorted(test);
	assert_int_equal(test->got[2].serial, 2);
	assert_int_equal(test->got[2].kind, LINE_UNFINISHED);
	assert_int_equal(test->got[2].duration, 250);
	assert_int_equal(test->got[3].serial, 3);
	assert_int_equal(test->got[4].serial, 4);
	assert_int_equal(counts_of(test).calls, 4);
	assert_int_equal(counts_of(test).unfinished, 3);
}

static void a_thread_that_ends_at_the_end_tells_its_calls_once(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	enter(test, 0, SIMPLE, 1);
	enter(test, 0, DRIVER, 2);
	test->fake->clock += 100;
	test->fake->ends_threads = true;
	finish(test);
	assert_int_equal(test->count, 2);
	assert_int_equal(counts_of(test).calls, 2);
}

static void the_last_line_may_be_any(void **state)
{
	struct test *test = *state;

	fake__announce(test->fake, 0, 5, 100, 101, "app");
	for (uint64_t i = 0; i < 10; i++)
		call(test, 0, i, 50);
	test->stop_at = 4;
	test->fake->clock += MS;
	assert_int_equal(trace_stream__drain(test->stream), -ECANCELED);
	assert_int_equal(trace_stream__drain(test->stream), -ECANCELED);
	assert_int_equal(trace_stream__finish(test->stream), -ECANCELED);
	assert_int_equal(test->count, 4);
	assert_int_equal(counts_of(test).calls, 4);
}

static void a_drain_is_bounded(void **state)
{
	struct test *test = *state;

	test->fake->config.wake_bytes = 1000;
	fake__announce(test->fake, 0, 5, 100, 101, "app");
	/* Records as small as they can be: discarded ones do not count. */
	for (unsigned int i = 0; i < 40000; i++) {
		const uint32_t nothing[2] = {99, 0};

		fake__put(test->fake, nothing, sizeof(nothing));
	}
	assert_int_equal(trace_stream__drain(test->stream), 1);
	assert_int_equal(trace_stream__drain(test->stream), 0);
	assert_int_equal(counts_of(test).malformed, 40000);
}

/* --- many threads, any interleaving --- */

#define ACTORS 12
#define CALLS 60000

enum step {
	IDLE = 0,
	ENTERING,
	RUNNING,
	WRITING
};

struct actor {
	enum step step;
	char *record; /* that it is writing */
};

struct play {
	struct test *test;
	struct actor actors[ACTORS];
	uint64_t next, lost;
	uint64_t *starts; /* by serial */
	bool *told;	  /* by serial: its event was put into the ring */
};

static void begin_call(struct play *play, uint32_t thread)
{
	play->starts[play->next] = play->test->fake->clock;
	play->told[play->next] = true;
	fake__begin(play->test->fake, play->test->functions, thread, rand() % 2 ? SIMPLE : DRIVER, play->next++);
}

static void end_call(struct play *play, uint32_t thread)
{
	struct fake *fake = play->test->fake;
	struct fake_call ended = fake__end(fake, thread, 0);

	play->actors[thread].record = rand() % 50 ? fake__reserve(fake, &ended.event, ended.size) : NULL;
	if (!play->actors[thread].record) {
		fake__lose(fake, TRACE_LOST_RING);
		play->told[ended.payload[0]] = false;
		play->lost++;
	}
	play->actors[thread].step = WRITING;
}

/* The next of the small steps that BPF does for a thread, one as good as any to be interrupted after. */
static void step(struct play *play, uint32_t thread)
{
	struct fake *fake = play->test->fake;
	struct actor *actor = &play->actors[thread];

	switch (actor->step) {
	case IDLE:
		fake->began[thread] = TRACE_ENTERING;
		actor->step = ENTERING;
		break;
	case ENTERING:
		begin_call(play, thread);
		fake->began[thread] = fake->calls[thread][0].event.start_ns;
		actor->step = RUNNING;
		break;
	case RUNNING:
		if (fake->depth[thread] < TRACE_DEPTH && rand() % 3 == 0)
			begin_call(play, thread);
		else if (rand() % 4 == 0)
			end_call(play, thread);
		break;
	case WRITING:
		if (actor->record)
			fake__commit(actor->record);
		actor->record = NULL;
		actor->step = fake->depth[thread] ? RUNNING : IDLE;
		if (!fake->depth[thread])
			fake->began[thread] = 0;
		break;
	}
}

static void play(struct play *play)
{
	struct fake *fake = play->test->fake;

	while (play->next < CALLS) {
		step(play, (uint32_t)rand() % ACTORS);
		/* Some calls of different threads begin at the same time, some are long. */
		fake->clock += rand() % 3 ? (uint64_t)(rand() % 2000) : 0;
		if (rand() % 5000 == 0)
			fake->clock += 300 * MS;
		if (rand() % 200 == 0)
			assert_true(trace_stream__drain(play->test->stream) >= 0);
	}
	for (uint32_t i = 0; i < ACTORS; i++) {
		while (play->actors[i].step != IDLE) {
			if (play->actors[i].step == ENTERING) {
				fake->began[i] = 0;
				break;
			}
			step(play, i);
			fake->clock += 100;
		}
	}
}

/* Each call that was told once, and after what encloses it. */
static void check_calls(const struct play *play)
{
	const struct test *test = play->test;
	unsigned int *seen = calloc(play->next, sizeof(*seen));
	uint64_t lost = 0;

	for (size_t i = 0; i < test->count; i++) {
		const struct got *got = &test->got[i];

		lost += got->lost;
		if (got->kind == LINE_LOST || got->kind == LINE_IN_PROGRESS)
			continue;
		assert_true(got->serial < play->next);
		assert_int_equal(got->start, play->starts[got->serial]);
		assert_int_equal(got->tid, 100 + got->process);
		seen[got->serial]++;
	}
	for (uint64_t serial = 0; serial < play->next; serial++)
		assert_int_equal(seen[serial], play->told[serial]);
	assert_int_equal(lost, play->lost);
	assert_int_equal(counts_of(test).calls + counts_of(test).lost, play->next);
	free(seen);
}

/* A call within another has the later line, also where both began at once. */
static void check_depths(const struct test *test)
{
	uint64_t began[ACTORS][TRACE_DEPTH] = {0};

	for (size_t i = 0; i < test->count; i++) {
		const struct got *got = &test->got[i];

		if (got->kind != LINE_CALL)
			continue;
		for (uint32_t depth = got->depth + 1u; depth < TRACE_DEPTH; depth++)
			assert_true(began[got->process][depth] < got->start || !got->start);
		began[got->process][got->depth] = got->start;
	}
}

static void any_interleaving(struct test *test, unsigned int seed, uint64_t hold_ns)
{
	struct play play_state = {.test = test};

	srand(seed);
	test->options.hold_ns = hold_ns;
	open_stream(test);
	play_state.starts = calloc(2 * CALLS, sizeof(*play_state.starts));
	play_state.told = calloc(2 * CALLS, sizeof(*play_state.told));
	for (uint32_t i = 0; i < ACTORS; i++)
		fake__announce(test->fake, i, i, 50, (pid_t)(100 + i), "actor");
	play(&play_state);
	finish(test);
	for (size_t i = 1; i < test->count; i++)
		assert_true(test->got[i].time >= test->got[i - 1].time || test->got[i].kind == LINE_RESUMED);
	check_calls(&play_state);
	if (hold_ns > 1000000 * MS)
		check_depths(test);
	free(play_state.starts);
	free(play_state.told);
}

static void any_interleaving_is_in_order_and_whole(void **state)
{
	struct test *test = *state;

	for (unsigned int seed = 1; seed <= 4; seed++) {
		any_interleaving(test, seed, 1000000000 * MS);
		assert_sorted(test);
		for (size_t i = 0; i < test->count; i++)
			assert_true(test->got[i].kind == LINE_CALL || test->got[i].kind == LINE_LOST);
	}
}

static void calls_that_are_not_waited_for_are_whole_too(void **state)
{
	struct test *test = *state;
	size_t resumed = 0;

	any_interleaving(test, 5, MS / 2);
	for (size_t i = 0; i < test->count; i++)
		resumed += test->got[i].kind == LINE_RESUMED;
	assert_true(resumed > 10);
}

/* --- stacks --- */

/* As BPF does: a stack of this process, whose caller is at `caller`, where nothing is. */
static char *reserve_stack(struct test *test, uint64_t id, uint64_t caller)
{
	struct stack_record record = {.id = id, .function = 8, .pid = getpid(), .natives = 1};
	struct process_info info;
	char *at;

	assert_int_equal(process__info(getpid(), &info), 0);
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
	assert_int_equal(test->got[0].frames, 3); /* and that it breaks off */
	assert_int_equal(test->got[1].caller, 0x121210);
	assert_int_equal(test->got[2].caller, 0x111110);
	assert_int_equal(test->got[3].frames, 0);
	assert_int_equal(test->got[4].frames, 0);
	assert_int_equal(counts_of(test).unknown_stacks, 2);
	assert_int_equal(counts_of(test).evicted, 0);
}

/* Another thread's that is before it in the ring is being written. */
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
		fake__commit(reserve_stack(test, id, id << 20));
		call_from(test, SIMPLE, id);
	}
	while (trace_stream__drain(test->stream))
		drains++;
	assert_true(drains > 2);
	assert_int_equal(test->count, 200);
	for (uint64_t id = 1; id <= 200; id++)
		assert_int_equal(test->got[id - 1].caller, id << 20);
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

/* What is in progress at the end has its stack, too. */
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
		TEST(a_call_is_shown_when_none_can_be_before_it),
		TEST(while_a_thread_is_entering_nothing_is_shown),
		TEST(a_record_being_written_holds_up_what_follows),
		TEST(a_long_call_is_shown_in_progress_and_then_resumed),
		TEST(calls_that_may_not_be_told_are_not_shown_in_progress),
		TEST(a_call_that_nobody_knows_of_does_not_hold_for_ever),
		TEST(much_that_waits_is_let_go),
		TEST(a_thread_number_given_anew_leaves_what_waits_alone),
		TEST(a_thread_that_was_not_announced_is_shown),
		TEST(what_is_no_record_is_counted_and_dropped),
		TEST(launches_have_the_names_of_their_generation),
		TEST(full_names_are_demangled_whole),
		TEST(the_device_is_the_one_that_the_thread_has_set),
		TEST(contexts_are_of_the_device_that_they_were_made_on),
		TEST(losses_are_shown_where_they_were),
		TEST(entries_and_returns_are_lines_of_their_own),
		TEST(what_is_in_progress_at_the_end_is_unfinished),
		TEST(a_thread_that_ends_at_the_end_tells_its_calls_once),
		TEST(the_last_line_may_be_any),
		TEST(a_drain_is_bounded),
		TEST(any_interleaving_is_in_order_and_whole),
		TEST(calls_that_are_not_waited_for_are_whole_too),
		TEST(calls_have_the_stacks_of_their_ids),
		TEST(a_call_waits_until_its_stack_is_read),
		TEST(stacks_are_named_a_part_at_a_time),
		TEST(a_stack_that_had_to_leave_is_not_known),
		TEST(lost_stacks_are_no_lost_calls),
		TEST(unfinished_calls_have_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
