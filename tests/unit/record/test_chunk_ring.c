// SPDX-License-Identifier: BSD-2-Clause
// The latest chunks of a recording in memory: what stays, and that a file of them is whole.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/chunk_ring.h"
#include "recording_scene.h"

#define GROUP ((uint32_t)KEYFRAME_EVERY * PER_CHUNK) /* records from one keyframe to the next */

static int append(const struct recording_chunk *chunk, const uint8_t *body, void *arg)
{
	return recording_writer__append(arg, chunk, body);
}

/* Records with known bytes as in `make`, into the ring. */
static void fill_ring(struct chunk_ring *ring, uint32_t records)
{
	const struct recording_options options = {.ring = ring};
	struct recording_header header = {.level = RECORDING_SUMMARY};
	struct recording_writer *writer;
	uint8_t bytes[304];

	assert_int_equal(recording_writer__new(-1, &header, &options, &writer, NULL), 0);
	for (uint32_t i = 0; i < records; i++) {
		if (i % PER_CHUNK == 0) {
			recording_writer__end_chunk(writer);
			if (i / PER_CHUNK % KEYFRAME_EVERY == 0)
				recording_writer__keyframe(writer);
		}
		assert_int_equal(recording_writer__add(writer, RECORDED_MODEL, BEGIN + i * STEP,
						       bytes, fill(bytes, i)),
				 0);
	}
	recording_writer__end_chunk(writer);
	assert_int_equal(recording_writer__size(writer), chunk_ring__bytes(ring));
	recording_writer__free(writer);
}

static struct file saved(struct chunk_ring *ring)
{
	const struct recording_options options = {0};
	int fd = memory_file(NULL, 0);
	struct recording_writer *writer = begin(fd, &options);

	assert_int_equal(chunk_ring__each(ring, append, writer), 0);
	assert_int_equal(recording_writer__close(writer, NULL), 0);
	recording_writer__free(writer);
	return contents(fd);
}

/* The file is whole and has the records from `first` to `end`. Frees it. */
static void check_saved(struct file file, uint32_t first, uint32_t end)
{
	struct recording *recording = open_bytes(file.bytes, file.length);
	const struct recording_damage *damage = recording__damage(recording);
	struct recorded record;
	uint64_t first_ns, last_ns;
	uint32_t count = 0;

	while (recording__next(recording, &record) == 1) {
		assert_int_equal(check(&record), first + count);
		assert_false(record.gap);
		count++;
	}
	assert_int_equal(count, end - first);
	assert_false(damage->cut || damage->unclosed || damage->chunks || damage->bytes);
	recording__span(recording, &first_ns, &last_ns);
	assert_int_equal(first_ns, count ? BEGIN + first * STEP : 0);
	assert_int_equal(last_ns, count ? BEGIN + (end - 1) * STEP : 0);
	recording__free(recording);
	free(file.bytes);
}

static void test_keeps_the_time(void **state)
{
	/* More than one group, less than two: three are kept at most, two at least. */
	struct chunk_ring *ring = chunk_ring__new(GROUP * STEP + GROUP * STEP / 2, UINT64_MAX);
	uint64_t first_ns, last_ns;

	(void)state;
	fill_ring(ring, RECORDS);
	chunk_ring__span(ring, &first_ns, &last_ns);
	assert_int_equal(last_ns, BEGIN + (RECORDS - 1) * STEP);
	assert_true(last_ns - first_ns >= GROUP * STEP + GROUP * STEP / 2);
	assert_true(last_ns - first_ns < 3 * GROUP * STEP);
	assert_int_equal((first_ns - BEGIN) / STEP % GROUP, 0);
	assert_false(chunk_ring__take_shortened(ring));
	check_saved(saved(ring), (uint32_t)((first_ns - BEGIN) / STEP), RECORDS);
	/* It can be written again, and goes on. */
	check_saved(saved(ring), (uint32_t)((first_ns - BEGIN) / STEP), RECORDS);
	chunk_ring__free(ring);
}

static void test_keeps_all_of_a_short_run(void **state)
{
	struct chunk_ring *ring = chunk_ring__new(RECORDS * STEP, UINT64_MAX);

	(void)state;
	check_saved(saved(ring), 0, 0);
	fill_ring(ring, GROUP + 7);
	check_saved(saved(ring), 0, GROUP + 7);
	chunk_ring__free(ring);
}

static void test_keeps_to_the_memory(void **state)
{
	struct chunk_ring *ring = chunk_ring__new(UINT64_MAX / 2, 200000);
	uint64_t first_ns, last_ns;

	(void)state;
	fill_ring(ring, RECORDS);
	assert_true(chunk_ring__bytes(ring) <= 200000);
	assert_true(chunk_ring__bytes(ring) > 50000);
	assert_true(chunk_ring__take_shortened(ring));
	assert_false(chunk_ring__take_shortened(ring));
	chunk_ring__span(ring, &first_ns, &last_ns);
	check_saved(saved(ring), (uint32_t)((first_ns - BEGIN) / STEP), RECORDS);
	chunk_ring__free(ring);
}

static int add(struct chunk_ring *ring, bool keyframe, uint32_t bytes, uint64_t ns)
{
	const struct recording_chunk chunk = {
		.type = CHUNK_RECORDS,
		.flags = keyframe ? CHUNK_KEYFRAME : 0,
		.stored_bytes = bytes,
		.first_ns = ns,
		.last_ns = ns,
	};
	uint8_t *body = calloc(1, bytes);
	int ret = chunk_ring__add(ring, &chunk, body);

	free(body);
	return ret;
}

/* What nobody could read is refused. */
static void test_too_much_after_a_keyframe(void **state)
{
	struct chunk_ring *ring = chunk_ring__new(UINT64_MAX / 2, 1000);

	(void)state;
	assert_int_equal(add(ring, false, 10, 1), -EAGAIN);
	assert_int_equal(add(ring, true, 500, 2), 0);
	assert_int_equal(add(ring, false, 600, 3), -E2BIG);
	assert_int_equal(add(ring, false, 10, 4), -EAGAIN);
	assert_int_equal(add(ring, true, 2000, 5), -E2BIG);
	assert_int_equal(add(ring, true, 600, 6), 0);
	assert_int_equal(chunk_ring__bytes(ring), 600 + sizeof(struct recording_chunk));
	assert_int_equal(chunk_ring__latest_bytes(ring), chunk_ring__bytes(ring));
	chunk_ring__free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_the_time),
		cmocka_unit_test(test_keeps_all_of_a_short_run),
		cmocka_unit_test(test_keeps_to_the_memory),
		cmocka_unit_test(test_too_much_after_a_keyframe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
