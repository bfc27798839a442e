// SPDX-License-Identifier: BSD-2-Clause
// Calls alone and beside readings, with any chunk lost: ids of a lost part are not taken for those
// of another one, and whoever reads readings does not see the calls.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "record/call_reader.h"
#include "record/call_writer.h"
#include "recording_scene.h"

#define LINES 4000u
#define OF_CHUNK 100u
#define OF_READING 250u
#define KERNELS 40u

static struct trace_functions *functions;

static const struct trace_process process = {.number = 1, .pid = 100, .comm = "train"};

/* What line `i` is about; equal ones come again in other parts, where they get other ids. */
static uint32_t kernel_of(uint32_t i)
{
	return (i * 2654435761u >> 7) % KERNELS;
}

static uint32_t size_of(uint32_t i)
{
	return (i * 40503u >> 3) % 300;
}

static void write_line(struct call_writer *calls, uint32_t i)
{
	char kernel[16];
	struct trace_line line = {
		.function = trace_functions__at(functions,
						(uint32_t)api__find("cuLaunchKernel", API_NEWEST)),
		.process = &process,
		.tid = 100,
		.start_ns = BEGIN + (uint64_t)i * STEP,
		.duration_ns = i,
		.kernel = kernel,
		.field_count = 1,
		.fields = {{.name = "size", .form = FORM_UNSIGNED, .number = size_of(i)}},
	};

	snprintf(kernel, sizeof(kernel), "k%u", kernel_of(i));
	assert_int_equal(call_writer__line(calls, &line), 0);
}

/* A reading that is whole each second time. */
static void write_reading(struct recording_writer *file, struct call_writer *calls, uint32_t i)
{
	bool whole = i / OF_READING % 2 == 0;

	assert_int_equal(
		whole ? call_writer__keyframe(calls) : call_writer__flush(calls, UINT64_MAX), 0);
	if (whole)
		recording_writer__keyframe(file);
	assert_int_equal(recording_writer__add(file, RECORDED_MODEL, BEGIN + (uint64_t)i * STEP, &i,
					       sizeof(i)),
			 0);
	assert_int_equal(recording_writer__end_chunk(file), 0);
}

static struct file make_calls(bool with_readings)
{
	struct recording_header header = {.level = RECORDING_CALLS,
					  .flags = with_readings ? RECORDING_READINGS : 0};
	const struct recorded_calls_end end = {.calls = LINES};
	const struct recording_options options = {0};
	int fd = memory_file(NULL, 0);
	struct recording_writer *file;
	struct call_writer *calls;

	assert_int_equal(recording_writer__new(dup(fd), &header, &options, &file, NULL), 0);
	calls = call_writer__new(file, NULL);
	assert_non_null(calls);
	call_writer__set_keyframes(calls, 600u * STEP, UINT64_MAX);
	for (uint32_t i = 0; i < LINES; i++) {
		if (with_readings && i % OF_READING == 0)
			write_reading(file, calls, i);
		write_line(calls, i);
		if (i % OF_CHUNK == OF_CHUNK - 1)
			assert_int_equal(call_writer__flush(calls, UINT64_MAX), 0);
	}
	assert_int_equal(call_writer__end(calls, BEGIN + LINES * STEP, &end), 0);
	assert_int_equal(recording_writer__close(file, NULL), 0);
	call_writer__free(calls);
	recording_writer__free(file);
	return contents(fd);
}

/* Checks the lines from the present place on. Returns how many there are. */
static uint32_t check_lines(struct call_reader *calls)
{
	struct trace_line line;
	uint32_t count = 0;
	char kernel[16];

	for (; call_reader__next(calls, &line) == 1; count++) {
		uint32_t i = (uint32_t)((line.start_ns - BEGIN) / STEP);

		snprintf(kernel, sizeof(kernel), "k%u", kernel_of(i));
		assert_string_equal(line.kernel, kernel);
		assert_int_equal(line.fields[0].number, size_of(i));
		assert_int_equal(line.duration_ns, i);
	}
	return count;
}

static uint32_t read_lines(const struct file *file, uint64_t *unreadable)
{
	struct recording *recording = open_bytes(file->bytes, file->length);
	struct call_reader *calls = call_reader__new(recording, functions, false);
	uint32_t count;

	assert_non_null(calls);
	count = check_lines(calls);
	*unreadable = call_reader__unreadable(calls);
	call_reader__free(calls);
	recording__free(recording);
	return count;
}

/* Readings without a gap before them. */
static uint32_t count_readings(const struct file *file)
{
	struct recording *recording = open_bytes(file->bytes, file->length);
	struct recorded record;
	uint32_t count = 0;

	recording__leave_out_calls(recording);
	while (recording__next(recording, &record) == 1) {
		assert_int_equal(record.kind, RECORDED_MODEL);
		count += !record.gap;
	}
	recording__free(recording);
	return count;
}

/* Where the chunk after this place begins; the end if there is none. Index and end are skipped. */
static size_t next_chunk(const struct file *file, size_t at, struct recording_chunk *chunk)
{
	static const uint32_t magic = CHUNK_MAGIC;
	const uint8_t *found = memmem(file->bytes + at, file->length - at, &magic, sizeof(magic));

	if (!found || (size_t)(file->bytes + file->length - found) < sizeof(*chunk))
		return file->length;
	memcpy(chunk, found, sizeof(*chunk));
	return chunk->type == CHUNK_RECORDS ? (size_t)(found - file->bytes) : file->length;
}

static void check_each_loss(bool with_readings)
{
	struct file file = make_calls(with_readings);
	struct recording_chunk chunk;
	uint64_t unreadable;
	uint32_t readings = count_readings(&file);

	assert_int_equal(read_lines(&file, &unreadable), LINES);
	assert_int_equal(unreadable, 0);
	assert_int_equal(readings, with_readings ? LINES / OF_READING : 0);
	for (size_t at = 0; (at = next_chunk(&file, at, &chunk)) < file.length;) {
		uint8_t *byte = &file.bytes[at + sizeof(chunk) + chunk.stored_bytes / 2];
		bool has_calls = chunk.flags & CHUNK_CALLS;
		bool has_lines = has_calls && chunk.first_ns < BEGIN + LINES * STEP;

		*byte ^= 0x40;
		assert_true(read_lines(&file, &unreadable) < LINES || !has_lines);
		assert_true(unreadable == 0 || has_calls);
		assert_true(count_readings(&file) == readings || !has_calls);
		*byte ^= 0x40;
		at += sizeof(chunk) + chunk.stored_bytes;
	}
	free(file.bytes);
}

static void test_calls_alone(void **state)
{
	(void)state;
	check_each_loss(false);
}

static void test_beside_readings(void **state)
{
	(void)state;
	check_each_loss(true);
}

/* From a moment on there are all lines, in both forms. */
static void test_seeks(void **state)
{
	(void)state;
	for (int with_readings = 0; with_readings < 2; with_readings++) {
		struct file file = make_calls(with_readings);
		struct recording *recording = open_bytes(file.bytes, file.length);
		struct call_reader *calls = call_reader__new(recording, functions, false);

		for (uint32_t i = 0; i < LINES; i += 123) {
			assert_int_equal(recording__seek(recording, BEGIN + (uint64_t)i * STEP), 0);
			assert_true(check_lines(calls) >= LINES - i);
			assert_int_equal(call_reader__unreadable(calls), 0);
		}
		call_reader__free(calls);
		recording__free(recording);
		free(file.bytes);
	}
}

static void test_formats(void **state)
{
	(void)state;
	for (uint32_t with_readings = 0; with_readings < 2; with_readings++) {
		struct file file = make_calls(with_readings);
		struct recording_file_head head;

		memcpy(&head, file.bytes, sizeof(head));
		assert_int_equal(head.format, 2 + with_readings);
		free(file.bytes);
	}
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
		cmocka_unit_test(test_calls_alone),
		cmocka_unit_test(test_beside_readings),
		cmocka_unit_test(test_seeks),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
