// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tracer's records, of any contents: taken in, put in order, decoded, and written in each
 * output format. The lines must be text whatever the records contain. The input: options, then
 * steps, each starting with a byte that says what it is.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "output/trace/output.h"
#include "output/trace/summary.h"
#include "trace_fake.h"
#include "trace_text.h"

#define STEPS_MAX 64
#define RECORD_MAX 1100

enum step {
	STEP_RECORD = 0,
	STEP_EVENT,
	STEP_STACK,
	STEP_TIME,
	STEP_CALL,
	STEP_LOSS,
	STEP_DRAIN,
	STEPS
};

struct test {
	struct fake *fake;
	struct trace_stream *stream;
	struct trace_functions *functions;
	struct trace_output *output;
	int fd;
	enum trace_format format;
};

static int take_line(const struct trace_line *line, void *arg)
{
	struct test *test = arg;

	MUST(line->field_count <= TRACE_FIELDS_MAX);
	return trace_output__line(test->output, line);
}

struct exactly {
	ring_record_fn fn;
	void *arg;
};

static int take_exactly(const void *record, size_t size, void *arg)
{
	struct exactly *exactly = arg;
	void *exact = harness__exactly(record, size);
	int ret = exactly->fn(exact, size, exactly->arg);

	free(exact);
	return ret;
}

/* Records are also read from memory that ends exactly where they end. */
static int read_exactly(struct trace_source *source, uint64_t end, ring_record_fn fn, void *arg)
{
	struct exactly exactly = {fn, arg};

	return fake__read(source, end, take_exactly, &exactly);
}

/* A record of any type, or one that claims to be an event of an existing function. */
static void put_record(struct test *test, struct input *input, bool event)
{
	union {
		uint64_t words[(RECORD_MAX + 7) / 8];
		struct trace_event event;
	} record = {{0}};
	const uint8_t *bytes;
	uint64_t choice = input__number(input, 1);
	size_t size = input__number(input, 2) % RECORD_MAX;

	size = input__bytes(input, size, &bytes);
	memcpy(&record, bytes, size);
	if (event && size >= sizeof(struct trace_event)) {
		const struct trace_function *function;

		record.event.type = TRACE_CALL + (uint32_t)choice % 3;
		record.event.row =
			(uint16_t)(record.event.row % trace_functions__count(test->functions));
		function = trace_functions__at(test->functions, record.event.row);
		record.event.words = trace_function__plan(function)->words;
		record.event.thread %= 64;
		record.event.depth %= TRACE_DEPTH;
		record.event.start_ns = test->fake->clock;
		if (choice & 0x40) {
			record.event.type = TRACE_RANGE;
			record.event.row = (uint16_t)(choice % NVTX_FUNCTIONS);
		}
	} else if (size >= 4) {
		record.event.type = (uint32_t)choice % 72;
	}
	fake__put(test->fake, &record, size);
}

static void put_stack(struct test *test, struct input *input)
{
	struct stack_record *record;
	const uint8_t *bytes;
	size_t size = input__bytes(input, sizeof(*record) + 64, &bytes);
	char *at;

	record = calloc(1, sizeof(*record) + 64);
	MUST(record);
	memcpy(record, bytes, size);
	at = fake_ring__reserve(&test->fake->stacks, record, sizeof(*record) + 64);
	if (at)
		fake__commit(at);
	free(record);
}

static void step(struct test *test, struct input *input)
{
	uint32_t thread;

	switch ((enum step)(input__number(input, 1) % STEPS)) {
	case STEP_RECORD: put_record(test, input, false); break;
	case STEP_EVENT: put_record(test, input, true); break;
	case STEP_STACK: put_stack(test, input); break;
	case STEP_TIME: test->fake->clock += input__number(input, 4); break;
	case STEP_CALL:
		thread = (uint32_t)input__number(input, 1) % 8;
		if (test->fake->depth[thread] && input__number(input, 1) % 2)
			fake__leave(test->fake, thread, (int32_t)input__number(input, 2));
		else if (test->fake->depth[thread] < TRACE_DEPTH)
			fake__enter(test->fake, test->functions, thread, "cudaFree", 1);
		break;
	case STEP_LOSS:
		fake__lose(test->fake, (enum trace_loss)(input__number(input, 1) % TRACE_LOSSES));
		break;
	default: MUST(trace_stream__drain(test->stream) >= 0);
	}
}

static void open_output(struct test *test, uint64_t choice)
{
	struct trace_output_options options = {.format = (enum trace_format)(choice % 3)};
	struct error err = {""};

	test->format = options.format;
	options.timestamps = (enum trace_timestamps)(choice / 3 % 5);
	options.width = choice & 0x40 ? (unsigned int)(choice >> 8) : 0;
	options.entry_return = choice & 0x80;
	if (choice & 0x20) {
		for (size_t i = 0; i < COLUMN_COUNT; i++)
			options.columns[options.column_count++] = (enum trace_column)i;
	}
	test->fd = memfd_create("output", MFD_CLOEXEC);
	MUST(test->fd >= 0 && !trace_output__new(test->fd, &options, &test->output, &err));
}

/* Built once: the same for all inputs. */
static struct trace_functions *functions_of(bool kernel_args)
{
	static struct trace_functions *functions[2];

	if (functions[kernel_args])
		return functions[kernel_args];
	functions[kernel_args] = trace_functions__new(kernel_args);
	MUST(functions[kernel_args] && !trace_functions__add_ranges(functions[kernel_args]));
	return functions[kernel_args];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace_source_calls calls;
	struct input input = {data, size};
	uint64_t choice = input__number(&input, 2), more = input__number(&input, 1);
	struct test test = {.fake = fake__new(more & 1)};
	struct trace_stream_options options = {
		.kernel_args = more & 2 ? TRACE_ARGS_MAX : 0,
		.stack_mode = more & 1 ? STACK_FP : STACK_OFF,
		.max_stacks = 4,
		.entry_return = choice & 0x80,
		.full_names = more & 4,
		.wants_cgroup = more & 8,
		.wants_locations = more & 16,
		.line = take_line,
		.arg = &test,
		.hold_bytes = more & 32 ? 4096 : 0,
	};
	struct error err = {""};

	calls = *test.fake->source.calls;
	calls.read = read_exactly;
	test.fake->source.calls = &calls;
	test.fake->config.entry_return = choice & 0x80;
	test.functions = functions_of(more & 2);
	harness__set_file("/proc/", NULL, 0);
	harness__set_maps("");
	open_output(&test, choice);
	MUST(!trace_stream__open(&test.fake->source, test.functions, &options, NULL, &test.stream,
				 &err));
	trace_stream__begin(test.stream, FAKE_BEGIN);
	for (int i = 0; i < STEPS_MAX && input.left; i++)
		step(&test, &input);
	MUST(trace_stream__finish(test.stream) >= 0);
	MUST(!trace_output__flush(test.output));
	must_be_output(test.fd, test.format);
	trace_stream__free(test.stream);
	trace_output__free(test.output);
	close(test.fd);
	harness__set_file(NULL, NULL, 0);
	harness__set_maps(NULL);
	return 0;
}
