// SPDX-License-Identifier: BSD-2-Clause
// The file of a recording: written, read, refused, full. test_recording_damage.c has damaged ones.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "record/varint.h"
#include "recording_scene.h"

static void test_reads_what_was_written(void **state)
{
	struct file file = make(true);
	struct recording *recording = open_bytes(file.bytes, file.length);
	const struct recording_damage *damage = recording__damage(recording);
	uint64_t first, last;
	uint32_t gaps;

	(void)state;
	assert_int_equal(recording__header(recording)->level, RECORDING_CALLS);
	assert_string_equal(recording__header(recording)->options, "record -o x");
	assert_string_equal(recording__header(recording)->program, GPUPROBE_VERSION);
	assert_true(recording__header(recording)->wall_offset_ns > 0);
	assert_int_equal(read_all(recording, &gaps), RECORDS);
	assert_int_equal(gaps + damage->chunks + damage->bytes + damage->records, 0);
	assert_false(damage->cut || damage->unclosed);
	recording__span(recording, &first, &last);
	assert_int_equal(first, BEGIN);
	assert_int_equal(last, BEGIN + (RECORDS - 1) * STEP);
	recording__free(recording);
	free(file.bytes);
}

static void test_anonymous_header_has_no_host(void **state)
{
	struct recording_header header = {.flags = RECORDING_ANONYMOUS};

	(void)state;
	recording_header__fill(&header);
	assert_string_equal(header.host, "");
	assert_string_equal(header.boot_id, "");
	assert_true(*header.kernel);
}

static void check_seek(struct recording *recording, uint64_t time_ns, uint32_t expected)
{
	struct recorded record;

	assert_int_equal(recording__seek(recording, time_ns), 0);
	assert_int_equal(recording__next(recording, &record), 1);
	assert_int_equal(check(&record), expected);
	assert_true(record.keyframe);
	assert_false(record.gap);
}

static void test_seeks(void **state)
{
	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		struct file file = make(closed);
		struct recording *recording = open_bytes(file.bytes, file.length);
		const uint32_t frame = KEYFRAME_EVERY * PER_CHUNK;
		uint32_t gaps;

		assert_int_equal(recording__damage(recording)->unclosed, !closed);
		check_seek(recording, 0, 0);
		check_seek(recording, BEGIN + 2ull * frame * STEP, 2 * frame);
		check_seek(recording, BEGIN + 2ull * frame * STEP - 1, frame);
		check_seek(recording, UINT64_MAX, (RECORDS - 1) / frame * frame);
		assert_int_equal(recording__seek(recording, 0), 0);
		assert_int_equal(read_all(recording, &gaps), RECORDS);
		assert_int_equal(gaps + recording__damage(recording)->chunks, 0);
		recording__free(recording);
		free(file.bytes);
	}
}

static void must_refuse(const void *bytes, size_t length, const char *why)
{
	struct recording *recording = NULL;
	struct error err = {""};

	assert_int_equal(recording__open(memory_file(bytes, length), "x.rec", &recording, &err),
			 -EINVAL);
	assert_string_equal(err.text, why);
}

static void set_format(struct file *file, uint32_t format, const char *program)
{
	struct recording_file_head head;

	memcpy(&head, file->bytes, sizeof(head));
	head.format = format;
	memset(head.program, 0, sizeof(head.program));
	memcpy(head.program, program, strlen(program));
	head.crc = (uint32_t)crc32(0, (void *)&head, offsetof(struct recording_file_head, crc));
	memcpy(file->bytes, &head, sizeof(head));
}

static void test_refuses_other_files(void **state)
{
	struct file file = make(true);
	struct recording *recording;
	struct error err = {""};

	(void)state;
	must_refuse("", 0, "x.rec is empty: nothing has been recorded to it");
	must_refuse("GPUPROBE", 8, "x.rec is no recording of gpuprobe");
	must_refuse(file.bytes, 300, "x.rec: the beginning of the recording is damaged");
	file.bytes[9] ^= 1;
	must_refuse(file.bytes, file.length, "x.rec: the beginning of the recording is damaged");
	set_format(&file, RECORDING_FORMAT + 1, "3.1\33[2J");
	must_refuse(file.bytes, file.length,
		    "x.rec: recording of gpuprobe 3.1, format 4; this gpuprobe reads up to format "
		    "3");
	assert_int_equal(
		recording__open(open("/dev/null", O_RDONLY), "/dev/null", &recording, &err),
		-EINVAL);
	assert_string_equal(err.text, "/dev/null is no regular file");
	free(file.bytes);
}

/* An older or newer header has fewer or more members. */
static void test_reads_headers_of_other_sizes(void **state)
{
	static const struct recording_header full = {.level = RECORDING_CALLS, .options = "y"};
	const uint32_t sizes[] = {offsetof(struct recording_header, begin_ns), sizeof(full),
				  sizeof(full) + 400};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint8_t bytes[sizeof(struct recording_file_head) + sizeof(full) + 400] = {0};
		struct file file = {bytes, sizeof(struct recording_file_head) + sizes[i]};
		struct recording_file_head head = {.header_bytes = sizes[i]};
		struct recording *recording;
		struct recorded record;

		memcpy(bytes + sizeof(head), &full,
		       sizes[i] < sizeof(full) ? sizes[i] : sizeof(full));
		memcpy(head.magic, RECORDING_MAGIC, sizeof(head.magic));
		head.header_crc = (uint32_t)crc32(0, bytes + sizeof(head), sizes[i]);
		memcpy(bytes, &head, sizeof(head));
		set_format(&file, RECORDING_FORMAT, "9");
		recording = open_bytes(file.bytes, file.length);
		assert_int_equal(recording__header(recording)->level, RECORDING_CALLS);
		assert_string_equal(recording__header(recording)->options, i ? "y" : "");
		assert_int_equal(recording__next(recording, &record), 0);
		recording__free(recording);
	}
}

static void test_stops_at_the_maximum_size(void **state)
{
	const struct recording_options options = {.max_bytes = 64 << 10};
	int fd = memory_file(NULL, 0), ret = 0;
	struct recording_writer *writer = begin(fd, &options);
	struct recording *recording;
	struct file file;
	uint8_t bytes[304];
	uint32_t gaps, added = 0, count;

	(void)state;
	while (!ret && added < RECORDS) {
		if (added % PER_CHUNK == 0)
			ret = recording_writer__end_chunk(writer);
		if (!ret)
			ret = recording_writer__add(writer, RECORDED_MODEL, BEGIN + added * STEP,
						    bytes, fill(bytes, added));
		added += !ret;
	}
	assert_int_equal(ret, RECORDING_FULL);
	assert_int_equal(recording_writer__add(writer, RECORDED_MODEL, 0, bytes, 1),
			 RECORDING_FULL);
	assert_int_equal(recording_writer__close(writer, NULL), 0);
	assert_int_equal(recording_writer__dropped(writer), PER_CHUNK + 1);
	recording_writer__free(writer);
	file = contents(fd);
	assert_true(file.length <= 64 << 10 && file.length > 32 << 10);
	recording = open_bytes(file.bytes, file.length);
	count = read_all(recording, &gaps);
	assert_int_equal(count, added - PER_CHUNK);
	assert_false(recording__damage(recording)->unclosed);
	recording__free(recording);
	free(file.bytes);
}

static void test_records_of_all_lengths(void **state)
{
	const size_t lengths[] = {0, 1, CHUNK_TARGET - 40, CHUNK_TARGET, 3 << 20, RECORDED_MAX, 0};
	const struct recording_options options = {0};
	int fd = memory_file(NULL, 0);
	struct recording_writer *writer = begin(fd, &options);
	uint8_t *bytes = calloc(1, RECORDED_MAX + 1);
	struct recording *recording;
	struct recorded record;
	struct file file;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(recording_writer__add(writer, (enum recorded_kind)(40 + i),
						       100 - 10 * i, bytes, lengths[i]),
				 0);
	assert_int_equal(recording_writer__add(writer, RECORDED_MODEL, 1, bytes, RECORDED_MAX + 1),
			 -E2BIG);
	assert_int_equal(recording_writer__close(writer, NULL), 0);
	recording_writer__free(writer);
	file = contents(fd);
	recording = open_bytes(file.bytes, file.length);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(recording__next(recording, &record), 1);
		assert_int_equal(record.kind, 40 + i);
		assert_int_equal(record.time_ns, 100 - 10 * i);
		assert_int_equal(record.length, lengths[i]);
	}
	assert_int_equal(recording__next(recording, &record), 0);
	recording__free(recording);
	free(file.bytes);
	free(bytes);
}

static void test_recording_of_nothing(void **state)
{
	const struct recording_options options = {0};
	int fd = memory_file(NULL, 0);
	struct recording_writer *writer = begin(fd, &options);
	struct recording *recording;
	struct recorded record;
	struct file file;
	uint64_t first, last;

	(void)state;
	assert_int_equal(recording_writer__end_chunk(writer), 0);
	assert_int_equal(recording_writer__close(writer, NULL), 0);
	recording_writer__free(writer);
	file = contents(fd);
	recording = open_bytes(file.bytes, file.length);
	recording__span(recording, &first, &last);
	assert_int_equal(first + last, 0);
	assert_int_equal(recording__seek(recording, 5), 0);
	assert_int_equal(recording__next(recording, &record), 0);
	recording__free(recording);
	free(file.bytes);
}

/* The index has a bounded size; seeking still finds a keyframe before the time. */
static void test_index_is_bounded(void **state)
{
	const struct recording_options options = {0};
	int fd = memory_file(NULL, 0);
	struct recording_writer *writer = begin(fd, &options);
	const uint32_t count = INDEX_ENTRIES_MAX + 10;
	struct recording *recording;
	struct recorded record;
	struct file file;

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		recording_writer__keyframe(writer);
		assert_int_equal(recording_writer__add(writer, RECORDED_MODEL, i + 1, "", 0), 0);
		assert_int_equal(recording_writer__end_chunk(writer), 0);
	}
	assert_int_equal(recording_writer__close(writer, NULL), 0);
	recording_writer__free(writer);
	file = contents(fd);
	for (int closed = 0; closed < 2; closed++) {
		recording = open_bytes(file.bytes, closed ? file.length : file.length - 1);
		assert_int_equal(recording__seek(recording, count), 0);
		assert_int_equal(recording__next(recording, &record), 1);
		assert_true(record.time_ns <= count && record.time_ns > count - 20);
		assert_int_equal(recording__seek(recording, 1001), 0);
		assert_int_equal(recording__next(recording, &record), 1);
		assert_int_equal(record.time_ns, 1001);
		recording__free(recording);
	}
	free(file.bytes);
}

static void test_varints(void **state)
{
	const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
	uint8_t bytes[VARINT_MAX];

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		uint8_t *end = varint__put(bytes, values[i]);
		struct varint_reader reader = varint_reader__of(bytes, (size_t)(end - bytes));

		assert_int_equal(varint__take(&reader), values[i]);
		assert_false(reader.failed);
		assert_int_equal(varint__take(&reader), 0);
		assert_true(reader.failed);
		end = varint__put_signed(bytes, -(int64_t)values[i]);
		reader = varint_reader__of(bytes, (size_t)(end - bytes));
		assert_int_equal(varint__take_signed(&reader), -(int64_t)values[i]);
		reader = varint_reader__of(bytes, (size_t)(end - bytes) - 1);
		varint__take(&reader);
		assert_true(reader.failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_what_was_written),
		cmocka_unit_test(test_anonymous_header_has_no_host),
		cmocka_unit_test(test_seeks),
		cmocka_unit_test(test_refuses_other_files),
		cmocka_unit_test(test_reads_headers_of_other_sizes),
		cmocka_unit_test(test_stops_at_the_maximum_size),
		cmocka_unit_test(test_records_of_all_lengths),
		cmocka_unit_test(test_recording_of_nothing),
		cmocka_unit_test(test_index_is_bounded),
		cmocka_unit_test(test_varints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
