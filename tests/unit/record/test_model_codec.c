// SPDX-License-Identifier: BSD-2-Clause
/*
 * Readings of the model, written and read again: of random contents, with differences, keyframes
 * and gaps, and damaged at random. What reports print of a reading is the same before and after.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/growth.h"
#include "model/host.h"
#include "model/profile.h"
#include "model/steady_base.h"
#include "model/steps.h"
#include "model/tensors.h"
#include "output/json/report.h"
#include "output/memleak/memleak.h"
#include "output/report/text.h"
#include "output/stat_scene.h"
#include "random_model.h"
#include "record/flatten.h"
#include "record/model_codec.h"

/* --- comparing --- */

struct comparison {
	struct layout layout;
	struct names_writer *names;
	struct arena memory;
	struct bytes written;
};

static void comparison__begin(struct comparison *comparison)
{
	*comparison = (struct comparison){.names = names_writer__new()};
	assert_non_null(comparison->names);
	assert_int_equal(layout__of(&recorded_recorded_reading, &comparison->layout), 0);
}

static void comparison__end(struct comparison *comparison)
{
	names_writer__free(comparison->names);
	free(comparison->written.at);
	layout__clear(&comparison->layout);
}

static void assert_same_list(const struct layout *layout, uint32_t type_index,
			     const struct tree_list *a, const struct tree_list *b)
{
	const struct layout_type *type = &layout->types[type_index];

	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < (size_t)a->count * type->values; i++)
		if (a->values[i] != b->values[i])
			fail_msg("%s: value %zu: %llx, %llx", type->name, i % type->values,
				 (unsigned long long)a->values[i],
				 (unsigned long long)b->values[i]);
	for (size_t i = 0; i < (size_t)a->count * type->lists; i++)
		assert_same_list(layout, type->list_types[i % type->lists], &a->lists[i],
				 &b->lists[i]);
}

static void assert_same(struct comparison *comparison, const struct recorded_reading *a,
			const struct recorded_reading *b)
{
	struct tree_list lists[2];

	assert_int_equal(flatten(&comparison->layout, a, comparison->names, NULL,
				 &comparison->memory, &lists[0]),
			 0);
	assert_int_equal(flatten(&comparison->layout, b, comparison->names, NULL,
				 &comparison->memory, &lists[1]),
			 0);
	assert_same_list(&comparison->layout, comparison->layout.count - 1, &lists[0], &lists[1]);
	arena__clear(&comparison->memory);
	/* Stacks may move from here on. */
	bytes__clear(&comparison->written);
	assert_int_equal(names_writer__write(comparison->names, &comparison->written), 0);
}

/* --- random readings --- */

static void make_process_plausible(struct process *process)
{
	for (size_t i = 0; i < process->gpu_count; i++)
		process->gpus[i].gpu = GPU_NONE;
	/* They are sorted by address. */
	if (process->tensors && process->tensors->site_count > 1)
		process->tensors->site_count = 1;
	if (!process->profile)
		return;
	process->profile->ended_count = process->profile->thread_count / 2;
	if (process->profile->missed_count > process->profile->thread_count)
		process->profile->missed_count = process->profile->thread_count;
	for (size_t i = 0; process->profile->steady && i < process->profile->steady->count; i++)
		steady_base__sort(process->profile->steady->bases[i]);
}

static void make_host_plausible(const struct host_side *host)
{
	for (size_t i = 0; host && i < host->process_count; i++)
		for (size_t j = 0; j < host->processes[i].thread_count; j++) {
			struct host_thread *thread = &host->processes[i].threads[j];

			for (size_t k = 0; k < HOST_ACTIVITIES * HOST_PARTNERS; k++)
				thread->wakers[k / HOST_PARTNERS][k % HOST_PARTNERS].thread =
					HOST_NO_THREAD;
			for (size_t k = 0; k < HOST_PARTNERS; k++)
				thread->rivals[k].thread = HOST_NO_THREAD;
		}
}

static struct recorded_reading *make_reading(struct arena *arena)
{
	struct recorded_reading *reading = arena__take(arena, 1, sizeof(*reading));
	struct model *model = random_model(arena);

	random_fill(&recorded_recorded_reading, (char *)reading, 0, arena);
	reading->model = model;
	reading->slow_rows = NULL;
	reading->gpu_times = NULL; /* test_gpu_reading.c has them */
	reading->slow_row_count = 0;
	for (size_t i = 0; i < model->process_count; i++)
		make_process_plausible(&model->processes[i]);
	make_host_plausible(model->host);
	return reading;
}

/* What the next reading has: other counts, another order, one process less. */
static void change(struct model *model)
{
	model->now_ns += 5000000000;
	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		process->launches += 1000;
		if (process->kernel_count > 1) {
			struct kernel first = process->kernels[0];

			process->kernels[0] = process->kernels[process->kernel_count - 1];
			process->kernels[process->kernel_count - 1] = first;
			process->kernels[0].launches++;
		}
		if (process->site_count)
			process->sites[0].stack = random_stack();
	}
	if (model->process_count > 1 && !(next_random() % 8))
		model->process_count--;
}

static void test_random_readings(void **state)
{
	struct comparison comparison;

	(void)state;
	comparison__begin(&comparison);
	for (int run = 0; run < 20; run++) {
		struct arena arena = {0};
		struct recorded_reading *reading = make_reading(&arena);
		const struct recorded_reading *read;
		struct model_writer *writer;
		struct model_reader *reader;
		const uint8_t *bytes;
		size_t length;

		assert_int_equal(model_writer__new(&writer), 0);
		assert_int_equal(model_reader__new(&reader), 0);
		for (int i = 0; i < 5; i++) {
			assert_int_equal(model_writer__write(writer, reading, &bytes, &length), 0);
			assert_int_equal(model_reader__read(reader, bytes, length, false, &read),
					 0);
			assert_same(&comparison, reading, read);
			change((struct model *)reading->model);
		}
		assert_int_equal(model_reader__left_out(reader), 0);
		model_writer__free(writer);
		model_reader__free(reader);
		arena__clear(&arena);
	}
	comparison__end(&comparison);
}

/* --- sizes, keyframes, gaps --- */

static void test_unchanged_reading_is_small(void **state)
{
	struct arena arena = {0};
	struct recorded_reading *reading = make_reading(&arena);
	struct model_writer *writer;
	const uint8_t *bytes;
	size_t whole, length;

	(void)state;
	assert_int_equal(model_writer__new(&writer), 0);
	assert_int_equal(model_writer__write(writer, reading, &bytes, &whole), 0);
	assert_int_equal(model_writer__write(writer, reading, &bytes, &length), 0);
	assert_true(length * 20 < whole);
	model_writer__free(writer);
	arena__clear(&arena);
}

static void test_gaps(void **state)
{
	struct arena arena = {0};
	struct recorded_reading *reading = make_reading(&arena);
	const struct recorded_reading *read;
	struct model_writer *writer;
	struct model_reader *reader;
	const uint8_t *bytes;
	size_t length;
	int keyframes = 0;

	(void)state;
	assert_int_equal(model_writer__new(&writer), 0);
	assert_int_equal(model_reader__new(&reader), 0);
	for (int i = 0; i < 130; i++) {
		bool keyframe = model_writer__is_keyframe(writer), gap = i == 3;

		keyframes += keyframe;
		assert_int_equal(model_writer__write(writer, reading, &bytes, &length), 0);
		/* From the gap on up to the next keyframe nothing can be read. */
		assert_int_equal(model_reader__read(reader, bytes, length, gap, &read),
				 i >= 3 && keyframes == 1 ? -EAGAIN : 0);
		change((struct model *)reading->model);
	}
	assert_int_equal(keyframes, 3);
	model_writer__lost(writer);
	assert_true(model_writer__is_keyframe(writer));
	model_writer__free(writer);
	model_reader__free(reader);
	arena__clear(&arena);
}

/* --- hostile bytes --- */

static void test_damaged_bytes(void **state)
{
	struct arena arena = {0};
	struct recorded_reading *reading = make_reading(&arena);
	const struct recorded_reading *read;
	struct model_writer *writer;
	const uint8_t *bytes;
	uint8_t *copy;
	size_t length;
	int failed = 0;

	(void)state;
	assert_int_equal(model_writer__new(&writer), 0);
	assert_int_equal(model_writer__write(writer, reading, &bytes, &length), 0);
	for (int i = 0; i < 300; i++) {
		struct model_reader *reader;

		assert_int_equal(model_reader__new(&reader), 0);
		copy = malloc(length);
		memcpy(copy, bytes, length);
		for (int j = 0; j < 1 + i % 5; j++)
			copy[next_random() % length] = (uint8_t)next_random();
		failed += !!model_reader__read(
			reader, copy, i % 3 ? length : next_random() % length, false, &read);
		free(copy);
		model_reader__free(reader);
	}
	assert_true(failed > 100);
	model_writer__free(writer);
	arena__clear(&arena);
}

/* --- reports --- */

static char *print_model(const struct model *model,
			 void (*print)(FILE *out, const struct model *model))
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	print(out, model);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void print_text(FILE *out, const struct model *model)
{
	const struct report_options options = {0};

	report_text__print(out, model, &options);
}

static void test_reports(void **state)
{
	static void (*const stat_forms[])(FILE *, const struct stat_report *) = {
		stat_json__print, stat_csv__print, stat_text__print, diagnose_text__print};
	struct recorded_reading reading = {.began_ns = BEGIN, .needs = NEEDS_PROFILE};
	const struct recorded_reading *read;
	struct model_writer *writer;
	struct model_reader *reader;
	const uint8_t *bytes;
	struct scene scene;
	char *live, *recorded;
	size_t length;

	(void)state;
	scene__begin(&scene);
	scene__findings(&scene);
	scene.model.sections = SECTION_ALL;
	scene.model.lost[LOSS_RING_FULL] = 3;
	scene.processes[0].memory[MEMORY_DEVICE].balance = -5;
	reading.model = &scene.model;
	assert_int_equal(model_writer__new(&writer), 0);
	assert_int_equal(model_reader__new(&reader), 0);
	assert_int_equal(model_writer__write(writer, &reading, &bytes, &length), 0);
	assert_int_equal(model_reader__read(reader, bytes, length, false, &read), 0);
	assert_int_equal(read->began_ns, BEGIN);
	assert_int_equal(read->needs, NEEDS_PROFILE);
	for (size_t i = 0; i < sizeof(stat_forms) / sizeof(stat_forms[0]); i++) {
		scene.report.model = &scene.model;
		live = scene__print(&scene, stat_forms[i]);
		scene.report.model = read->model;
		recorded = scene__print(&scene, stat_forms[i]);
		assert_string_equal(live, recorded);
		assert_true(strlen(live) > 100);
		free(live);
		free(recorded);
	}
	live = print_model(&scene.model, print_text);
	recorded = print_model(read->model, print_text);
	assert_string_equal(live, recorded);
	free(live);
	free(recorded);
	model_writer__free(writer);
	model_reader__free(reader);
	scene__end(&scene);
}

/* All that a reading is printed as: findings, each form of each command. */
static char *print_all(const struct recorded_reading *reading)
{
	static const struct report_options options = {.top = 10};
	static const struct memleak_options memleak = {.top = 10};
	const struct findings_options asked = {
		.needs = NEEDS_PROFILE | NEEDS_ASKS, .latest = true, .window_ns = GROWTH_WINDOW_NS};
	struct findings *findings = findings__new(&asked);
	struct growth *segments = growth__new(GROWTH_WINDOW_NS, GROWTH_SITES_MAX),
		      *tensors = growth__new_of_tensors(GROWTH_WINDOW_NS, GROWTH_SITES_MAX);
	const struct memleak_growth growth = {segments, tensors, segments};
	struct finding_list list = {0};
	const struct stat_report report = {.model = reading->model,
					   .began_ns = reading->began_ns,
					   .state = findings,
					   .findings = &list,
					   .options = &options};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	findings__begin(findings, reading->began_ns);
	assert_int_equal(findings__sample(findings, reading->model), 0);
	assert_int_equal(growth__sample(segments, reading->model), 0);
	assert_int_equal(growth__sample(tensors, reading->model), 0);
	assert_int_equal(findings__detect(findings, reading->model, &list), 0);
	stat_json__print(out, &report);
	stat_csv__print(out, &report);
	stat_text__print(out, &report);
	diagnose_text__print(out, &report);
	report_json__print(out, reading->model, &list, findings, NULL);
	report_text__print(out, reading->model, &options);
	assert_int_equal(memleak_text__print(out, reading->model, &growth, &memleak), 0);
	assert_int_equal(memleak_json__print(out, reading->model, &growth, &memleak), 0);
	assert_int_equal(fclose(out), 0);
	finding_list__clear(&list);
	growth__free(segments);
	growth__free(tensors);
	findings__free(findings);
	return text;
}

static void test_random_reports(void **state)
{
	(void)state;
	for (int run = 0; run < 20; run++) {
		struct arena arena = {0};
		struct recorded_reading *reading = make_reading(&arena);
		const struct recorded_reading *read;
		struct model_writer *writer;
		struct model_reader *reader;
		const uint8_t *bytes;
		char *live, *recorded;
		size_t length;

		assert_int_equal(model_writer__new(&writer), 0);
		assert_int_equal(model_reader__new(&reader), 0);
		assert_int_equal(model_writer__write(writer, reading, &bytes, &length), 0);
		assert_int_equal(model_reader__read(reader, bytes, length, false, &read), 0);
		live = print_all(reading);
		recorded = print_all(read);
		assert_true(strlen(live) > 1000);
		assert_string_equal(live, recorded);
		free(live);
		free(recorded);
		model_writer__free(writer);
		model_reader__free(reader);
		arena__clear(&arena);
	}
}

/* --- other versions --- */

/* A file of another gpuprobe: fields in another order, one that is unknown, most are missing. */
static void test_other_layout(void **state)
{
	static const char *const fields[] = {"later", "getters", "began_ns", "model"};
	struct bytes out = {0};
	const struct recorded_reading *read;
	struct model_reader *reader;

	(void)state;
	bytes__number(&out, 1); /* keyframe */
	bytes__number(&out, 2); /* types */
	bytes__text(&out, "model");
	bytes__number(&out, 0);
	bytes__number(&out, 1);
	bytes__text(&out, "now_ns");
	bytes__number(&out, LAYOUT_NUMBER);
	bytes__number(&out, 1);
	bytes__text(&out, "recorded_reading");
	bytes__number(&out, 0);
	bytes__number(&out, 4);
	for (size_t i = 0; i < 4; i++) {
		bytes__text(&out, fields[i]);
		bytes__number(&out, i < 3 ? LAYOUT_NUMBER : LAYOUT_LIST);
		bytes__number(&out, 1);
		if (i == 3)
			bytes__number(&out, 0);
	}
	bytes__number(&out, 0); /* texts */
	bytes__number(&out, 0); /* stacks */
	bytes__number(&out, 1); /* one reading, compared with none, all three values differ */
	bytes__number(&out, 1);
	bytes__number(&out, 0);
	bytes__number(&out, 3);
	bytes__signed(&out, 99);
	bytes__signed(&out, 1);
	bytes__signed(&out, 1234);
	bytes__number(&out, 1); /* one model */
	bytes__number(&out, 1);
	bytes__number(&out, 0);
	bytes__number(&out, 1);
	bytes__signed(&out, 77);
	assert_int_equal(model_reader__new(&reader), 0);
	assert_int_equal(model_reader__read(reader, out.at, out.length, false, &read), 0);
	assert_int_equal(read->began_ns, 1234);
	assert_true(read->getters);
	assert_int_equal(read->model->now_ns, 77);
	assert_int_equal(read->model->process_count, 0);
	/* Each shorter one is malformed. */
	for (size_t length = 0; length < out.length; length++)
		assert_int_not_equal(model_reader__read(reader, out.at, length, false, &read), 0);
	model_reader__free(reader);
	free(out.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_readings),
		cmocka_unit_test(test_unchanged_reading_is_small),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_damaged_bytes),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_random_reports),
		cmocka_unit_test(test_other_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
