// SPDX-License-Identifier: BSD-2-Clause
// Lines of the tracer, recorded and read: every form of output prints the same bytes from both.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/api.h"
#include "golden_file.h"
#include "output/trace/output.h"
#include "record/call_reader.h"
#include "record/call_writer.h"

#define LINES 3000
#define BEGIN_NS 5000000000000ull

static struct trace_functions *functions;

static uint32_t random_below(uint32_t limit)
{
	return (uint32_t)rand() % limit;
}

/* --- lines of all kinds, with all forms of fields --- */

static const char *const names[] = {"size", "ptr", "a.member", "grid", "stream", "flags"};
static const char *const words[] = {"H2D", "cudaMemcpyDefault"};
static const char *const texts[] = {"", "plain", "\033[2J\"\n\\", "\xff\xfe"};
static const uint64_t arguments[] = {1, 0, ~0ull};

static const struct stack_frame frames[] = {
	{.function = "cuLaunchKernel", .object = "libcuda.so.1"},
	{.object = "a.out", .offset = 0x1136},
	{.offset = ~0ull},
	{.kind = FRAME_PYTHON, .function = "forward", .file = "/home/a/model.py", .line = 123},
	{.kind = FRAME_MARK, .function = "[truncated]"},
};
static const struct stack stacks[] = {
	{.serial = 0, .count = 1, .frames = frames},
	{.serial = 7, .count = 4, .frames = frames},
	{.serial = 3, .count = 5, .truncated = true, .frames = frames},
};
static const struct trace_process processes[] = {
	{.number = 1, .pid = 100, .parent = 1, .uid = 1000, .comm = "train", .cgroup = "/a/b"},
	{.number = 2, .pid = 101, .parent = 100, .uid = 0, .comm = "\033[31m\"", .start_ns = 7},
	{.number = UINT32_MAX, .pid = 0},
};

/* Long ones are cut; a number of a thread may be given to another one. */
static const char *const names_of_threads[] = {NULL, "pt_autograd_0",
					       "\033[31m\"\xff"
					       "567890123456789"};

static void make_field(struct trace_field *field)
{
	*field = (struct trace_field){
		.name = names[random_below(6)],
		.form = (uint8_t)random_below(FORM_UNKNOWN + 1),
		.role = (uint8_t)random_below(TRACE_ROLES),
	};
	switch ((enum trace_form)field->form) {
	case FORM_REAL: field->real = 0.1 * random_below(9); break;
	case FORM_WORD:
		field->text = words[random_below(2)];
		field->number = ~(uint64_t)random_below(9);
		break;
	case FORM_TEXT:
		field->text = texts[random_below(4)];
		field->length = (uint32_t)strlen(field->text);
		field->cut = random_below(2);
		break;
	case FORM_BYTES:
		field->text = "\0\1\xff";
		field->length = 3;
		break;
	case FORM_WORDS:
		field->words = arguments;
		field->length = random_below(4);
		break;
	case FORM_DIM3:
		for (int i = 0; i < 3; i++)
			field->dims[i] = random_below(3) * 0x7fffffff;
		break;
	default: field->number = random_below(2) ? random_below(100) : ~0ull - random_below(9);
	}
}

static const struct trace_function *a_function(void)
{
	static const char *const symbols[] = {"cudaMalloc", "cuLaunchKernel", "cudaGetErrorString",
					      "cudaMemcpy"};
	uint32_t row = (uint32_t)api__find(symbols[random_below(4)], API_NEWEST);

	if (random_below(5) == 0)
		row = (uint32_t)trace_functions__add(functions, "cuOdd\033[2J", LAYER_DRIVER);
	return trace_functions__at(functions, row);
}

static void make_call(struct trace_line *line)
{
	static const enum trace_line_kind kinds[] = {
		LINE_CALL,	 LINE_CALL,	  LINE_IN_PROGRESS, LINE_RESUMED,
		LINE_UNFINISHED, LINE_UNFOLLOWED, LINE_BEFORE};

	line->kind = kinds[random_below(7)];
	line->function = a_function();
	line->process = &processes[random_below(3)];
	line->tid = 100 + (pid_t)random_below(3);
	if (line->tid != line->process->pid)
		line->thread_name = names_of_threads[random_below(3)];
	line->depth = (uint8_t)random_below(TRACE_DEPTH);
	line->device = (int16_t)((int)random_below(3) - 1);
	line->duration_ns = random_below(3) ? random_below(5000) : random_below(1u << 31);
	line->held_ns = random_below(9) ? 0 : random_below(100);
	line->result = random_below(3) ? 0 : random_below(2) ? 2 : 0x7f0012345678;
	line->failed = random_below(2);
	if (random_below(2)) {
		line->kernel = random_below(2) ? "vadd" : "gemm\033";
		line->kernel_label = random_below(2) ? "vadd<int>" : NULL;
		line->kernel_full = "_Z4vaddIiEvPT_";
		line->kernel_location = random_below(2) ? "a.out+0x12" : NULL;
	}
	line->stack = random_below(2) ? &stacks[random_below(3)] : NULL;
	line->field_count = random_below(5);
	for (size_t i = 0; i < line->field_count; i++)
		make_field(&line->fields[i]);
}

static struct trace_line *make_lines(unsigned int seed)
{
	struct trace_line *lines = calloc(LINES, sizeof(*lines));

	assert_non_null(lines);
	srand(seed);
	for (size_t i = 0; i < LINES; i++) {
		lines[i].device = -1;
		lines[i].start_ns = BEGIN_NS + i * 10000 + random_below(5000);
		/* Programs repeat themselves. */
		if (i && random_below(3) == 0) {
			lines[i] = lines[random_below((uint32_t)i)];
			lines[i].start_ns = BEGIN_NS + i * 10000;
		} else if (random_below(50) == 0) {
			lines[i].kind = LINE_LOST;
			lines[i].lost = random_below(1000);
			lines[i].reason = (enum trace_loss)random_below(TRACE_LOSSES);
		} else {
			make_call(&lines[i]);
		}
	}
	return lines;
}

/* --- a recording of them --- */

static int record(const struct trace_line *lines, size_t count, bool anonymous)
{
	struct recording_header header = {.level = RECORDING_CALLS};
	const struct recording_options options = {0};
	const struct recorded_calls_end end = {.calls = count, .dropped = 77};
	int fd = memfd_create("calls", MFD_CLOEXEC);
	struct pseudonyms *pseudonyms = anonymous ? pseudonyms__new() : NULL;
	struct recording_writer *file;
	struct call_writer *calls;

	assert_true(fd >= 0);
	recording_header__fill(&header);
	assert_int_equal(recording_writer__new(dup(fd), &header, &options, &file, NULL), 0);
	calls = call_writer__new(file, pseudonyms);
	assert_non_null(calls);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(call_writer__line(calls, &lines[i]), 0);
		if (i % 100 == 0)
			assert_int_equal(call_writer__flush(calls, UINT64_MAX - i), 0);
	}
	assert_int_equal(call_writer__end(calls, 0, &end), 0);
	assert_int_equal(call_writer__dropped(calls), 0);
	assert_int_equal(recording_writer__close(file, NULL), 0);
	call_writer__free(calls);
	recording_writer__free(file);
	pseudonyms__free(pseudonyms);
	return fd;
}

struct reading {
	struct recording *recording;
	struct call_reader *calls;
};

static struct reading open_reading(int fd)
{
	struct reading reading;

	assert_int_equal(recording__open(fd, "x", &reading.recording, NULL), 0);
	reading.calls = call_reader__new(reading.recording, functions, false);
	assert_non_null(reading.calls);
	return reading;
}

static void close_reading(struct reading *reading)
{
	call_reader__free(reading->calls);
	recording__free(reading->recording);
}

/* --- printing --- */

static struct trace_output *open_output(FILE *file, enum trace_format format)
{
	struct trace_output_options options = {.format = format, .begin_ns = BEGIN_NS};
	struct trace_output *output;

	assert_int_equal(trace_output__parse_columns(
				 &options,
				 "time,end,process,pid,ppid,tid,uid,cgroup,device,layer,event,"
				 "details,ptr,size,dst,src,kind,bw,kernel,grid,block,shmem,stream,"
				 "args,stack,duration,result",
				 NULL),
			 0);
	assert_int_equal(trace_output__new(fileno(file), &options, &output, NULL), 0);
	return output;
}

static char *close_output(struct trace_output *output, FILE *file, size_t *length)
{
	char *text;

	assert_int_equal(trace_output__flush(output), 0);
	trace_output__free(output);
	text = golden_file__contents(file, length);
	fclose(file);
	return text;
}

static char *print_lines(const struct trace_line *lines, enum trace_format format, size_t *length)
{
	FILE *file = tmpfile();
	struct trace_output *output = open_output(file, format);

	for (size_t i = 0; i < LINES; i++)
		assert_int_equal(trace_output__line(output, &lines[i]), 0);
	return close_output(output, file, length);
}

static char *print_recorded(int fd, enum trace_format format, size_t *length)
{
	struct reading reading = open_reading(dup(fd));
	FILE *file = tmpfile();
	struct trace_output *output = open_output(file, format);
	struct trace_line line;

	while (call_reader__next(reading.calls, &line) == 1)
		assert_int_equal(trace_output__line(output, &line), 0);
	assert_int_equal(call_reader__unreadable(reading.calls), 0);
	assert_int_equal(call_reader__end(reading.calls)->calls, LINES);
	assert_int_equal(call_reader__end(reading.calls)->dropped, 77);
	close_reading(&reading);
	return close_output(output, file, length);
}

static void test_prints_the_same(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 3; seed++) {
		struct trace_line *lines = make_lines(seed);
		int fd = record(lines, LINES, false);

		for (enum trace_format format = TRACE_TABLE; format <= TRACE_JSON; format++) {
			size_t live_length, length;
			char *live = print_lines(lines, format, &live_length);
			char *recorded = print_recorded(fd, format, &length);

			assert_int_equal(length, live_length);
			assert_memory_equal(recorded, live, length);
			free(live);
			free(recorded);
		}
		close(fd);
		free(lines);
	}
}

static void test_keeps_numbers(void **state)
{
	struct trace_line *lines = make_lines(9), line;
	struct reading reading = open_reading(record(lines, LINES, false));

	(void)state;
	for (size_t i = 0; i < LINES; i++) {
		assert_int_equal(call_reader__next(reading.calls, &line), 1);
		assert_int_equal(line.kind, lines[i].kind);
		assert_int_equal(line.start_ns, lines[i].start_ns);
		assert_int_equal(line.held_ns, lines[i].held_ns);
		assert_int_equal(line.lost, lines[i].lost);
		assert_int_equal(line.reason, lines[i].reason);
		assert_ptr_equal(line.function, lines[i].function);
		if (lines[i].thread_name && line.kind != LINE_LOST) {
			char name[COMM_SIZE];

			snprintf(name, sizeof(name), "%s", lines[i].thread_name);
			assert_string_equal(line.thread_name, name);
		} else {
			assert_null(line.thread_name);
		}
	}
	assert_int_equal(call_reader__next(reading.calls, &line), 0);
	close_reading(&reading);
	free(lines);
}

/* A launch that differs from others in its times only. */
static void make_launch(struct trace_line *line, uint32_t i, char *name)
{
	static const char *const launch[] = {"grid", "block", "shmem", "stream"};

	*line = (struct trace_line){
		.function = trace_functions__at(functions,
						(uint32_t)api__find("cuLaunchKernel", API_NEWEST)),
		.process = &processes[0],
		.tid = 100,
		.device = 0,
		.start_ns = BEGIN_NS + i * 7000ull + random_below(3000),
		.duration_ns = 2000 + random_below(4000),
		.kernel = name,
		.kernel_full = name,
		.stack = &stacks[i % 3],
		.field_count = 4,
	};
	for (size_t at = 0; at < 4; at++)
		line->fields[at] = (struct trace_field){
			.name = launch[at],
			.form = at < 2 ? FORM_DIM3 : FORM_UNSIGNED,
			.dims = {at < 2 ? i % 200 + 1 : 0, at < 2, at < 2},
		};
}

static void test_a_launch_takes_16_bytes(void **state)
{
	const size_t count = 100000;
	struct trace_line *lines = calloc(count, sizeof(*lines));
	static char kernels[200][100];
	off_t size;
	int fd;

	(void)state;
	assert_non_null(lines);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(kernels[i % 200], sizeof(kernels[0]), "_Z40some_kernel_of_a_framework%u",
			 i % 200);
		make_launch(&lines[i], i, kernels[i % 200]);
	}
	fd = record(lines, count, false);
	size = lseek(fd, 0, SEEK_END);
	assert_true(size > 0 && size < (off_t)(16 * count));
	close(fd);
	free(lines);
}

static void assert_begins(const char *text, const char *word)
{
	if (text && *text && strncmp(text, word, strlen(word)) != 0)
		fail_msg("'%s' does not begin with '%s'", text, word);
}

static void test_anonymous(void **state)
{
	struct trace_line *lines = make_lines(4), line;
	struct reading reading = open_reading(record(lines, LINES, true));

	(void)state;
	while (call_reader__next(reading.calls, &line) == 1) {
		if (line.kind == LINE_LOST)
			continue;
		assert_begins(line.process->comm, "task-");
		assert_begins(line.process->cgroup, "cgroup-");
		assert_begins(line.kernel_location, "location-");
		assert_begins(line.kernel_label, "kernel-");
		for (uint32_t i = 0; line.stack && i < line.stack->count; i++)
			assert_begins(line.stack->frames[i].file, "file-");
		for (size_t i = 0; i < line.field_count; i++)
			if (line.fields[i].form == FORM_TEXT && line.fields[i].length)
				assert_begins(line.fields[i].text, "text-");
	}
	close_reading(&reading);
	free(lines);
}

/* What comes after a lost chunk is read as far as it does not refer to it. */
static void test_after_damage(void **state)
{
	struct trace_line *lines = make_lines(5), line;
	int fd = record(lines, LINES, false);
	off_t size = lseek(fd, 0, SEEK_END);
	const uint8_t zeros[64] = {0};
	struct reading reading;
	uint64_t count = 0;

	(void)state;
	assert_int_equal(pwrite(fd, zeros, sizeof(zeros), size / 3), sizeof(zeros));
	reading = open_reading(fd);
	while (call_reader__next(reading.calls, &line) == 1)
		count++;
	assert_int_equal(recording__damage(reading.recording)->chunks, 1);
	assert_true(call_reader__unreadable(reading.calls) > 0);
	assert_true(count > LINES / 2 && count < LINES);
	close_reading(&reading);
	free(lines);
}

static void test_refuses_hostile_records(void **state)
{
	static const struct {
		enum recorded_kind kind;
		const char *bytes;
		size_t length;
	} records[] = {
		/* without and with ids that are out of range */
		{RECORDED_PROCESS, "", 0},
		{RECORDED_PROCESS, "\0\1\1\1\1\1\1\1\1", 9},
		{RECORDED_KERNEL, "\xff\xff\xff\x7f\0\0\0\0", 8},
		{RECORDED_KERNEL, "\1\xff\xff\xff\x7f", 5},
		{RECORDED_FUNCTION, "\1\7\3ab", 5},
		{RECORDED_FUNCTION, "\1\0\0", 3},
		/* more frames than bytes, a mark without text */
		{RECORDED_STACK, "\1\0\xff\x7f", 4},
		{RECORDED_STACK, "\1\0\1\2\0\0\0\0\0", 9},
		{RECORDED_SHAPE, "\1\1\1\0\0\0\2x", 8},
		{RECORDED_CALL, "\1\0", 2},
		{RECORDED_NEW_CALL, "\1\0\0\0\1\1\1\1\1\0\0\0\0", 13},
		{RECORDED_LOSS, "\x7f\1", 2},
		{RECORDED_CALLS_END, "\x10", 1},
	};
	const size_t count = sizeof(records) / sizeof(records[0]);
	struct recording_header header = {.level = RECORDING_CALLS};
	const struct recording_options options = {0};
	int fd = memfd_create("calls", MFD_CLOEXEC);
	struct recording_writer *file;
	struct reading reading;
	struct trace_line line;

	(void)state;
	assert_int_equal(recording_writer__new(dup(fd), &header, &options, &file, NULL), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(recording_writer__add(file, records[i].kind, 1, records[i].bytes,
						       records[i].length),
				 0);
	assert_int_equal(recording_writer__close(file, NULL), 0);
	recording_writer__free(file);
	reading = open_reading(fd);
	assert_int_equal(call_reader__next(reading.calls, &line), 0);
	assert_int_equal(call_reader__unreadable(reading.calls), count);
	assert_null(call_reader__end(reading.calls));
	close_reading(&reading);
}

static int set_up(void **state)
{
	(void)state;
	functions = trace_functions__new(false);
	return functions ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	trace_functions__free(functions);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prints_the_same),
		cmocka_unit_test(test_keeps_numbers),
		cmocka_unit_test(test_a_launch_takes_16_bytes),
		cmocka_unit_test(test_anonymous),
		cmocka_unit_test(test_after_damage),
		cmocka_unit_test(test_refuses_hostile_records),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
