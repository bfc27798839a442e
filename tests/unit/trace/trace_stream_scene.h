/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream that reads from a player of the BPF programs, and what is kept of the lines that it
 * emits.
 */
#ifndef TESTS_TRACE_STREAM_SCENE_H
#define TESTS_TRACE_STREAM_SCENE_H

#include <stdio.h>

#include "target/proc.h"
#include "trace_fake.h"

#define MS 1000000ull
#define SIMPLE "cudaFree"
#define DRIVER "cuMemFree_v2"
#define LAUNCH "cudaLaunchKernel"
#define LINES_MAX 200000

/* The values kept of a line. */
struct got {
	enum trace_line_kind kind;
	uint64_t time;	 /* the time by which it is ordered */
	uint64_t serial; /* the first argument word */
	uint64_t start, duration, lost;
	uint32_t process;
	pid_t tid;
	uint8_t depth;
	int16_t device;
	char comm[COMM_SIZE];
	char kernel[64];
	char full[64];
	uint32_t frames; /* of its stack; 0 if unknown */
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

static inline int keep_line(const struct trace_line *line, void *arg)
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

static inline void change(const struct record_library *record, void *arg)
{
	struct test *test = arg;

	assert_int_equal(record->pid, 77);
	test->changes++;
}

static inline void open_stream(struct test *test)
{
	struct error err = {0};

	trace_stream__free(test->stream);
	test->count = 0;
	test->fake = fake__new(test->options.stack_mode);
	test->options.line = keep_line;
	test->options.process_changed = change;
	test->options.arg = test;
	assert_int_equal(trace_stream__open(&test->fake->source, test->functions, &test->options,
					    NULL, &test->stream, &err),
			 0);
}

static inline int set_up(void **state)
{
	struct test *test = calloc(1, sizeof(*test));

	test->got = calloc(LINES_MAX, sizeof(*test->got));
	test->functions = trace_functions__new(false);
	open_stream(test);
	*state = test;
	return 0;
}

static inline int tear_down(void **state)
{
	struct test *test = *state;

	trace_stream__free(test->stream);
	trace_functions__free(test->functions);
	free(test->got);
	free(test);
	return 0;
}

static inline struct fake_call *enter(struct test *test, uint32_t thread, const char *symbol,
				      uint64_t serial)
{
	return fake__enter(test->fake, test->functions, thread, symbol, serial);
}

/* A call that ends after `ns`. */
static inline void call(struct test *test, uint32_t thread, uint64_t serial, uint64_t ns)
{
	enter(test, thread, SIMPLE, serial);
	test->fake->clock += ns;
	fake__leave(test->fake, thread, 0);
}

/* Advances the time by `ns`, and takes everything available. */
static inline void drain(struct test *test, uint64_t ns)
{
	int ret;

	test->fake->clock += ns;
	do {
		ret = trace_stream__drain(test->stream);
	} while (ret == 1);
	assert_int_equal(ret, 0);
}

static inline void finish(struct test *test)
{
	assert_int_equal(trace_stream__finish(test->stream), 0);
}

static inline struct trace_counts counts_of(const struct test *test)
{
	struct trace_counts counts;

	trace_stream__count(test->stream, &counts);
	return counts;
}

static inline void assert_sorted(const struct test *test)
{
	for (size_t i = 1; i < test->count; i++)
		assert_true(test->got[i].time >= test->got[i - 1].time);
}

static inline const struct got *find_kind(const struct test *test, uint64_t serial,
					  enum trace_line_kind kind)
{
	for (size_t i = 0; i < test->count; i++) {
		if (test->got[i].serial == serial && test->got[i].kind == kind)
			return &test->got[i];
	}
	return NULL;
}

#endif
