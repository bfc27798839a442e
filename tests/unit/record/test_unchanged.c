// SPDX-License-Identifier: BSD-2-Clause
// What has not changed since the reading before takes no time and no room; much change brings
// keyframes.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/model_codec.h"

/* Ended processes are looked at once, and again at a keyframe. */
static void test_ended_process_is_kept(void **state)
{
	struct process processes[2] = {{.serial = 1, .launches = 5, .ended = true, .kept_bytes = 1},
				       {.serial = 2, .launches = 50}};
	struct model model = {.processes = processes, .process_count = 2};
	const struct recorded_reading reading = {.model = &model}, *read;
	struct model_writer *writer;
	struct model_reader *reader;
	const uint8_t *bytes;
	size_t length;

	(void)state;
	assert_int_equal(model_writer__new(&writer), 0);
	assert_int_equal(model_reader__new(&reader), 0);
	for (uint64_t i = 0; i < 3; i++) {
		if (i == 2)
			model_writer__lost(writer);
		assert_int_equal(model_writer__write(writer, &reading, &bytes, &length), 0);
		assert_int_equal(model_reader__read(reader, bytes, length, false, &read), 0);
		assert_int_equal(read->model->processes[0].launches, i == 2 ? 7 : 5);
		assert_true(read->model->processes[0].ended);
		assert_int_equal(read->model->processes[1].launches, 50 + i);
		/* It would be a mistake: this shows that nobody looks. */
		processes[0].launches++;
		processes[1].launches++;
	}
	model_reader__free(reader);
	model_writer__free(writer);
}

/* Unchanged processes take hardly any room, wherever a new one comes and an old one goes. */
static void test_runs(void **state)
{
	static struct process processes[300];
	struct model model = {.processes = processes, .process_count = 200};
	const struct recorded_reading reading = {.model = &model}, *read;
	struct model_writer *writer;
	struct model_reader *reader;
	const uint8_t *bytes;
	size_t length;

	(void)state;
	for (size_t i = 0; i < 300; i++)
		processes[i] = (struct process){.serial = i, .launches = 7 * i};
	assert_int_equal(model_writer__new(&writer), 0);
	assert_int_equal(model_reader__new(&reader), 0);
	for (uint64_t i = 0; i < 50; i++) {
		assert_int_equal(model_writer__write(writer, &reading, &bytes, &length), 0);
		assert_true(!i || length < 200);
		assert_int_equal(model_reader__read(reader, bytes, length, false, &read), 0);
		assert_int_equal(read->model->process_count, model.process_count);
		for (size_t j = 0; j < model.process_count; j++) {
			assert_int_equal(read->model->processes[j].serial, processes[j].serial);
			assert_int_equal(read->model->processes[j].launches, processes[j].launches);
		}
		processes[i].launches++;
		model.process_count++;
		if (i % 3 == 0) {
			model.process_count--;
			memmove(&processes[i + 5], &processes[i + 6],
				(299 - i - 5) * sizeof(processes[0]));
		}
	}
	model_reader__free(reader);
	model_writer__free(writer);
}

#define CHANGING 200

/* What damage costs is bounded by the room that readings take, and the file is at most doubled. */
static void test_much_change_brings_keyframes(void **state)
{
	struct process processes[CHANGING] = {0};
	struct model model = {.processes = processes, .process_count = CHANGING};
	const struct recorded_reading reading = {.model = &model};
	size_t length, whole = 0, since = 0;
	struct model_writer *writer;
	const uint8_t *bytes;
	int keyframes = 0;

	(void)state;
	assert_int_equal(model_writer__new(&writer), 0);
	for (int i = 0; i < 50; i++) {
		bool keyframe = model_writer__is_keyframe(writer);

		assert_int_equal(keyframe, !i || since >= whole);
		for (uint64_t n = 0; n < CHANGING; n++) {
			processes[n].serial = n + 1;
			processes[n].launches += n << 20;
		}
		assert_int_equal(model_writer__write(writer, &reading, &bytes, &length), 0);
		since = keyframe ? 0 : since + length;
		whole = keyframe ? length : whole;
		keyframes += keyframe;
	}
	assert_in_range(keyframes, 2, 25);
	model_writer__free(writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended_process_is_kept),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_much_change_brings_keyframes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
