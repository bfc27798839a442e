// SPDX-License-Identifier: BSD-2-Clause
// Recordings that are cut or changed: what one chunk is worth.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording_scene.h"

/* A kill at any moment costs at most one chunk. */
static void test_cut_costs_one_chunk(void **state)
{
	struct file file = make(false);
	size_t head = sizeof(struct recording_file_head) + sizeof(struct recording_header);
	uint32_t gaps, before = 0, steps = 0;

	(void)state;
	srand(32);
	for (int i = 0; i < 200; i++) {
		size_t length = head + (size_t)rand() % (file.length - head);
		struct recording *recording = open_bytes(file.bytes, length);
		uint32_t count = read_all(recording, &gaps);
		const struct recording_damage *damage = recording__damage(recording);
		struct recording *whole;

		/* With the bytes of one more chunk there is one more chunk. */
		assert_int_equal(count % PER_CHUNK, 0);
		assert_true(damage->unclosed);
		assert_int_equal(damage->cut, damage->bytes != 0);
		assert_int_equal(damage->chunks, damage->bytes != 0);
		assert_int_equal(damage->gap_count, damage->bytes != 0);
		whole = open_bytes(file.bytes, length - damage->bytes);
		assert_int_equal(read_all(whole, &gaps), count);
		assert_false(recording__damage(whole)->cut);
		recording__free(whole);
		recording__free(recording);
		steps += count != before;
		before = count;
	}
	assert_true(steps > 100);
	free(file.bytes);
}

/* A changed byte costs the chunk that has it, which is counted. */
static void test_flipped_byte_costs_one_chunk(void **state)
{
	struct file file = make(true);
	size_t head = sizeof(struct recording_file_head) + sizeof(struct recording_header);
	uint32_t gaps, hurt = 0;

	(void)state;
	srand(33);
	for (int i = 0; i < 300; i++) {
		size_t at = head + (size_t)rand() % (file.length - head);
		uint8_t before = file.bytes[at];
		struct recording *recording;
		uint32_t count;

		file.bytes[at] ^= (uint8_t)(1 + rand() % 255);
		recording = open_bytes(file.bytes, file.length);
		count = read_all(recording, &gaps);
		assert_true(count == RECORDS || count == RECORDS - PER_CHUNK);
		if (count != RECORDS) {
			assert_int_equal(recording__damage(recording)->chunks, 1);
			assert_true(recording__damage(recording)->bytes > PER_CHUNK);
			assert_int_equal(recording__damage(recording)->gap_count, 1);
			hurt++;
		}
		recording__free(recording);
		file.bytes[at] = before;
	}
	assert_true(hurt > 250);
	free(file.bytes);
}

static void test_tells_the_time_of_a_gap(void **state)
{
	struct file file = make(true);
	struct recording_chunk chunk;
	struct recording *recording;
	const struct recording_gap *gap;
	size_t at = sizeof(struct recording_file_head) + sizeof(struct recording_header);
	uint32_t gaps;

	(void)state;
	memcpy(&chunk, file.bytes + at, sizeof(chunk));
	at += sizeof(chunk) + chunk.stored_bytes;
	memset(file.bytes + at, 0, 8);
	recording = open_bytes(file.bytes, file.length);
	assert_int_equal(read_all(recording, &gaps), RECORDS - PER_CHUNK);
	assert_int_equal(gaps, 1);
	gap = recording__damage(recording)->gaps;
	assert_int_equal(gap->from_ns, BEGIN + (PER_CHUNK - 1) * STEP);
	assert_int_equal(gap->to_ns, BEGIN + 2 * PER_CHUNK * STEP);
	recording__free(recording);
	free(file.bytes);
}

/* Where chunk `number` of the file begins. */
static size_t chunk_at(const struct file *file, unsigned int number)
{
	size_t at = sizeof(struct recording_file_head) + sizeof(struct recording_header);
	struct recording_chunk chunk;

	for (unsigned int i = 0; i < number; i++) {
		memcpy(&chunk, file->bytes + at, sizeof(chunk));
		at += sizeof(chunk) + chunk.stored_bytes;
	}
	return at;
}

static void damage_chunk(struct file *file, unsigned int number)
{
	file->bytes[chunk_at(file, number) + sizeof(struct recording_chunk)] ^= 1;
}

/* A seek ends at the keyframe before one that is damaged, with and without the index. */
static void test_seek_passes_damaged_keyframe(void **state)
{
	const uint32_t frame = KEYFRAME_EVERY * PER_CHUNK;
	const uint64_t time_ns = BEGIN + (2ull * frame + 1) * STEP;

	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		struct file file = make(closed);
		struct recording *recording;
		struct recorded record;
		uint32_t gaps;

		damage_chunk(&file, 2 * KEYFRAME_EVERY);
		recording = open_bytes(file.bytes, file.length);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(recording__seek(recording, time_ns), 0);
			assert_int_equal(recording__next(recording, &record), 1);
			assert_int_equal(check(&record), frame);
			for (gaps = 0; recording__next(recording, &record) == 1;)
				gaps += record.gap;
			assert_int_equal(gaps, 1);
			/* It is met twice and told once. */
			assert_int_equal(recording__damage(recording)->gap_count, 1);
		}
		recording__free(recording);
		free(file.bytes);
	}
}

/* A gap reaches up to the first record that is of use. */
static void test_gap_takes_useless_records(void **state)
{
	struct file file = make(true);
	const struct recording_gap *gap;
	struct recording *recording;
	struct recorded record;
	uint32_t lost = 0, number;

	(void)state;
	damage_chunk(&file, 1);
	damage_chunk(&file, 3);
	recording = open_bytes(file.bytes, file.length);
	gap = recording__damage(recording)->gaps;
	while (recording__next(recording, &record) == 1) {
		number = check(&record);
		if (number >= PER_CHUNK && number < 5 * PER_CHUNK) {
			recording__lose(recording, 0);
			assert_int_equal(gap->to_ns, 0);
			lost++;
		}
	}
	assert_int_equal(lost, 2 * PER_CHUNK);
	assert_int_equal(recording__damage(recording)->gap_count, 1);
	assert_int_equal(gap->from_ns, BEGIN + (PER_CHUNK - 1) * STEP);
	assert_int_equal(gap->to_ns, BEGIN + 5 * PER_CHUNK * STEP);
	recording__free(recording);
	free(file.bytes);
}

/* A record that is malformed by itself begins one. */
static void test_useless_record_begins_a_gap(void **state)
{
	struct file file = make(true);
	struct recording *recording = open_bytes(file.bytes, file.length);
	const struct recording_gap *gap = recording__damage(recording)->gaps;
	struct recorded record;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(recording__next(recording, &record), 1);
	recording__lose(recording, BEGIN + STEP);
	assert_int_equal(recording__next(recording, &record), 1);
	assert_true(record.gap);
	assert_int_equal(recording__damage(recording)->gap_count, 1);
	assert_int_equal(gap->from_ns, BEGIN + STEP);
	assert_int_equal(gap->to_ns, BEGIN + 3 * STEP);
	recording__free(recording);
	free(file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_costs_one_chunk),
		cmocka_unit_test(test_flipped_byte_costs_one_chunk),
		cmocka_unit_test(test_tells_the_time_of_a_gap),
		cmocka_unit_test(test_seek_passes_damaged_keyframe),
		cmocka_unit_test(test_gap_takes_useless_records),
		cmocka_unit_test(test_useless_record_begins_a_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
