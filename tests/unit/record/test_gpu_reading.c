// SPDX-License-Identifier: BSD-2-Clause
/*
 * GPU times in recorded readings: reports of them are byte for byte those of the run, a difference
 * has what happened since, and hostile lists stay within the model's limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/json/gpu_times.h"
#include "record/gpu_reading.h"
#include "record/model_codec.h"

#define BOOT 1000000

static const struct gpu_times_head head = {.function = GPU_TIMES_WORK, .pid = 7, .start_ns = 70};

static void add(struct gpu_times *times, struct gpu_work work)
{
	struct gpu_times_work record = {.head = head, .count = 1, .dropped = 2};

	record.work[0] = work;
	gpu_times__take(times, &record, sizeof(record));
}

/* A kernel with its call, a copy and a set, all at and after this time. */
static void work_at(struct gpu_times *times, uint64_t at_ns, uint64_t name)
{
	struct gpu_times_name named = {.head = head, .name = name};
	const struct gpu_times_clock clock = {
		.head = {GPU_TIMES_CLOCK, 7, 70}, .cupti_ns = 50, .boot_ns = 50 + BOOT};
	const struct gpu_call call = {.start_ns = at_ns + BOOT,
				      .end_ns = at_ns + BOOT + 10,
				      .process_start_ns = 70,
				      .pid = 7,
				      .tid = 17,
				      .thread = 17};

	named.head.function = GPU_TIMES_NAME;
	snprintf(named.text, sizeof(named.text), "_Z5knamePf%d", (int)name);
	gpu_times__take(times, &named, sizeof(named));
	gpu_times__take(times, &clock, sizeof(clock));
	gpu_times__take_call(times, &call);
	add(times, (struct gpu_work){.kind = GPU_WORK_CALL,
				     .start_ns = at_ns + 2,
				     .end_ns = at_ns + 2,
				     .thread = 17,
				     .correlation = (uint32_t)at_ns});
	add(times, (struct gpu_work){.kind = GPU_WORK_KERNEL,
				     .start_ns = at_ns + 30,
				     .end_ns = at_ns + 50,
				     .name = name,
				     .correlation = (uint32_t)at_ns});
	add(times, (struct gpu_work){.kind = GPU_WORK_COPY,
				     .copy = GPU_COPY_D2H,
				     .bytes = 50,
				     .device = 1,
				     .start_ns = at_ns + 60,
				     .end_ns = at_ns + 65});
	add(times, (struct gpu_work){.kind = GPU_WORK_SET,
				     .bytes = 9,
				     .start_ns = at_ns + 70,
				     .end_ns = at_ns + 71});
	gpu_times__join(times);
}

static char *print(const struct gpu_times *times)
{
	const struct process p = {.pid = 7, .start_ns = 70};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct json json;

	assert_non_null(out);
	json__init(&json, out);
	json__object_begin(&json);
	json_gpu_times__write(&json, times, &p);
	json_gpu_times__write_losses(&json, times);
	json__object_end(&json);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void write_to(struct model_writer *writer, struct model_reader *reader,
		     const struct gpu_times *times, uint64_t now_ns,
		     const struct recorded_reading **out)
{
	const struct model model = {.now_ns = now_ns, .gpu_times = times};
	const struct recorded_reading reading = {.model = &model};
	const uint8_t *bytes;
	size_t length;

	assert_int_equal(model_writer__write(writer, &reading, &bytes, &length), 0);
	assert_int_equal(model_reader__read(reader, bytes, length, false, out), 0);
}

static void expect_same(const struct gpu_times *times, const struct recorded_reading *reading)
{
	struct gpu_times restored;
	char *texts[2];

	assert_non_null(reading->gpu_times);
	assert_int_equal(recorded_gpu_times__restore(reading->gpu_times, &restored), 0);
	texts[0] = print(times);
	texts[1] = print(&restored);
	assert_string_equal(texts[0], texts[1]);
	assert_non_null(strstr(texts[0], "\"busy_ns\""));
	free(texts[0]);
	free(texts[1]);
	gpu_times__clear(&restored);
}

static void test_reports_are_the_same(void **state)
{
	struct gpu_times times = {.unread_work = 5, .lost_names = 6};
	struct gpu_times_failure failure = {
		.head = {GPU_TIMES_FAILURE, 8, 80}, .code = 39, .text = "\033[2Jno"};
	const struct recorded_reading *reading;
	struct model_writer *writer;
	struct model_reader *reader;

	(void)state;
	assert_int_equal(model_writer__new(&writer), 0);
	assert_int_equal(model_reader__new(&reader), 0);
	gpu_times__take(&times, &failure, sizeof(failure));
	for (uint64_t i = 1; i < 20; i++) {
		work_at(&times, i * 1000, i % 4);
		write_to(writer, reader, &times, i * 1000 + 500, &reading);
		expect_same(&times, reading);
	}
	write_to(writer, reader, NULL, 99000, &reading);
	assert_null(reading->gpu_times);
	gpu_times__clear(&times);
	model_writer__free(writer);
	model_reader__free(reader);
}

static void test_difference(void **state)
{
	struct gpu_times times = {0}, restored;
	const struct gpu_process_times *process;
	const struct recorded_reading *reading;
	struct model_writer *writer;
	struct model_reader *reader;

	(void)state;
	assert_int_equal(model_writer__new(&writer), 0);
	assert_int_equal(model_reader__new(&reader), 0);
	work_at(&times, 1000, 1);
	work_at(&times, 2000, 2);
	write_to(writer, reader, &times, 2500, &reading);
	model_reader__begin_here(reader);
	work_at(&times, 3000, 2);
	work_at(&times, 4000, 3);
	write_to(writer, reader, &times, 4500, &reading);
	assert_int_equal(recorded_gpu_times__restore(reading->gpu_times, &restored), 0);
	process = gpu_times__find(&restored, 7, 70);
	assert_non_null(process);
	assert_int_equal(process->kernel_count, 2); /* 1 did nothing since */
	assert_int_equal(process->all_kernels.count, 2);
	assert_int_equal(process->all_kernels.ns, 40);
	assert_int_equal(process->copies[GPU_COPY_D2H].bytes, 100);
	assert_int_equal(process->callers.all.count, 2);
	assert_int_equal(busy_time__ns(&process->busy[0]), 42);
	assert_int_equal(process->busy[0].first_ns, 2071);
	assert_int_equal(process->busy[0].last_ns, 4071);
	gpu_times__clear(&restored);
	gpu_times__clear(&times);
	model_writer__free(writer);
	model_reader__free(reader);
}

/* Everything twice, and more than the model has room for. */
static void test_hostile_lists(void **state)
{
	struct recorded_gpu_process *processes =
		calloc(2 * GPU_TIMES_PROCESSES, sizeof(*processes));
	struct recorded_gpu_kernel *kernels = calloc(2 * GPU_TIMES_KERNELS, sizeof(*kernels));
	struct recorded_gpu_device devices[] = {
		{.device = 0, .first_ns = 9, .last_ns = 3}, {.device = 0}, {.device = 1 << 20}};
	struct recorded_gpu_thread threads[2 * GPU_CALLERS_THREADS] = {{0}};
	const struct recorded_gpu_times recorded = {.processes = processes,
						    .process_count = 2 * GPU_TIMES_PROCESSES};
	const struct gpu_process_times *process;
	struct gpu_times times;

	(void)state;
	assert_true(processes && kernels);
	for (uint32_t i = 0; i < 2 * GPU_TIMES_KERNELS; i++)
		kernels[i] = (struct recorded_gpu_kernel){.number = i / 2, .name = "k"};
	for (uint32_t i = 0; i < 2 * GPU_CALLERS_THREADS; i++)
		threads[i].tid = i;
	for (uint32_t i = 0; i < 2 * GPU_TIMES_PROCESSES; i++)
		processes[i] = (struct recorded_gpu_process){
			.pid = (int32_t)(i / 2),
			.heard = true,
			.kernels = kernels,
			.kernel_count = i < 20 ? 2 * GPU_TIMES_KERNELS : 0,
			.devices = devices,
			.device_count = 3,
			.threads = threads,
			.thread_count = i ? 0 : 2 * GPU_CALLERS_THREADS,
		};
	assert_int_equal(recorded_gpu_times__restore(&recorded, &times), 0);
	assert_true(times.process_count <= GPU_TIMES_PROCESSES);
	assert_int_equal(times.kernel_count, GPU_TIMES_ALL_KERNELS);
	process = gpu_times__find(&times, 0, 0);
	assert_non_null(process);
	assert_int_equal(process->kernel_count, GPU_TIMES_KERNELS);
	assert_int_equal(HASH_COUNT(process->callers.threads), GPU_CALLERS_THREADS);
	assert_true(process->busy[0].last_ns >= process->busy[0].first_ns);
	gpu_times__clear(&times);
	free(processes);
	free(kernels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports_are_the_same),
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_hostile_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
