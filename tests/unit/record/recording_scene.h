/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording whose records have known bytes, for the tests of its file. Include after cmocka.h.
 */
#ifndef TESTS_RECORDING_SCENE_H
#define TESTS_RECORDING_SCENE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/reader.h"
#include "record/writer.h"

#define CHUNKS 40
#define PER_CHUNK 50
#define KEYFRAME_EVERY 8
#define RECORDS (CHUNKS * PER_CHUNK)
#define BEGIN 1000000u
#define STEP 1000u

/* A file in memory, of which tests make changed copies. */
struct file {
	uint8_t *bytes;
	size_t length;
};

static inline int memory_file(const void *bytes, size_t length)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (length)
		assert_int_equal(write(fd, bytes, length), length);
	return fd;
}

static inline struct file contents(int fd)
{
	struct file file = {.length = (size_t)lseek(fd, 0, SEEK_END)};

	file.bytes = malloc(file.length + 1);
	assert_non_null(file.bytes);
	assert_int_equal(pread(fd, file.bytes, file.length, 0), file.length);
	close(fd);
	return file;
}

static inline struct recording_writer *begin(int fd, const struct recording_options *options)
{
	struct recording_header header = {.level = RECORDING_CALLS, .options = "record -o x"};
	struct recording_writer *writer;

	recording_header__fill(&header);
	assert_int_equal(recording_writer__new(dup(fd), &header, options, &writer, NULL), 0);
	return writer;
}

/* Record `i` has its number, then i % 300 bytes that do not compress well. */
static inline size_t fill(uint8_t *bytes, uint32_t i)
{
	uint32_t random = i * 2654435761u;

	memcpy(bytes, &i, sizeof(i));
	for (size_t at = 0; at < i % 300; at++) {
		random = random * 1664525u + 1013904223u;
		bytes[sizeof(i) + at] = (uint8_t)(random >> 24);
	}
	return sizeof(i) + i % 300;
}

static inline struct file make(bool close_it)
{
	const struct recording_options options = {0};
	int fd = memory_file(NULL, 0);
	struct recording_writer *writer = begin(fd, &options);
	uint8_t bytes[304];

	for (uint32_t i = 0; i < RECORDS; i++) {
		if (i % PER_CHUNK == 0) {
			assert_int_equal(recording_writer__end_chunk(writer), 0);
			if (i / PER_CHUNK % KEYFRAME_EVERY == 0)
				recording_writer__keyframe(writer);
		}
		assert_int_equal(recording_writer__add(writer, RECORDED_MODEL, BEGIN + i * STEP,
						       bytes, fill(bytes, i)),
				 0);
	}
	assert_int_equal(close_it ? recording_writer__close(writer, NULL) :
				    recording_writer__end_chunk(writer),
			 0);
	recording_writer__free(writer);
	return contents(fd);
}

static inline struct recording *open_bytes(const void *bytes, size_t length)
{
	struct recording *recording = NULL;
	struct error err = {""};

	if (recording__open(memory_file(bytes, length), "x", &recording, &err))
		fail_msg("%s", err.text);
	return recording;
}

static inline uint32_t number_of(const struct recorded *record)
{
	uint32_t i;

	assert_true(record->length >= sizeof(i));
	memcpy(&i, record->bytes, sizeof(i));
	return i;
}

/* Checks that a record is whole, and returns its number. */
static inline uint32_t check(const struct recorded *record)
{
	uint32_t i = number_of(record);
	uint8_t bytes[304];

	assert_true(i < RECORDS);
	assert_int_equal(record->kind, RECORDED_MODEL);
	assert_int_equal(record->time_ns, BEGIN + i * STEP);
	assert_int_equal(record->length, fill(bytes, i));
	assert_memory_equal(record->bytes, bytes, record->length);
	return i;
}

/* Reads everything. Returns the number of records, which must be whole and in order. */
static inline uint32_t read_all(struct recording *recording, uint32_t *gaps)
{
	struct recorded record;
	uint32_t count = 0, next = 0;
	int ret;

	*gaps = 0;
	while ((ret = recording__next(recording, &record)) == 1) {
		uint32_t i = check(&record);

		assert_true(i >= next);
		assert_true(record.gap == (i > next));
		*gaps += record.gap;
		next = i + 1;
		count++;
	}
	assert_int_equal(ret, 0);
	assert_int_equal(recording__next(recording, &record), 0);
	return count;
}

#endif
