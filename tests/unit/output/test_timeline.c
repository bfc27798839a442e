// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every kind of line as a timeline: in JSON compared with tests/unit/golden/timeline.json, which
 * tests/integration/trace/test_trace_timeline.py reads by its strict checks; GOLDEN=write writes it
 * anew. And the limits: of work without a wait, of live allocations, of texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden_file.h"
#include "output/timeline/gpu_tracks.h"
#include "output/timeline/live_bytes.h"
#include "output/timeline/queue.h"
#include "output/timeline/timeline.h"
#include "trace/gpu_work.h"
#include "trace_lines.h"

#define BEYOND 300 /* more than WORK_MAX */

/* A timeline that is being written into a file. */
struct scene {
	FILE *file;
	struct timeline *timeline;
};

static void begin(struct scene *scene, enum timeline_format format)
{
	/* As in test_trace_output.c. */
	const struct timeline_options options = {
		.format = format,
		.begin_ns = BEGIN_NS,
		.wall_offset_ns = 1795356131123456789 - (int64_t)BEGIN_NS,
		.host = "node\"7",
		.kernel = "6.13.0-test",
		.plain = true,
		.counts_memory = true,
		.draws_arrows = true,
		.has_gpu_work = true,
	};

	scene->file = tmpfile();
	assert_non_null(scene->file);
	assert_int_equal(timeline__new(fileno(scene->file), &options, &scene->timeline, NULL), 0);
}

/* The text of the file, which the caller frees. */
static char *end(struct scene *scene, struct timeline_counts *counts, size_t *length)
{
	char *text;

	assert_int_equal(timeline__finish(scene->timeline), 0);
	timeline__count(scene->timeline, counts);
	timeline__free(scene->timeline);
	text = golden_file__contents(scene->file, length);
	fclose(scene->file);
	return text;
}

static void take(struct scene *scene, const struct trace_line *line)
{
	assert_int_equal(timeline__line(scene->timeline, line), 0);
}

static void every_kind_of_line(void **state)
{
	struct trace_line lines[LINES];
	struct timeline_counts counts;
	struct scene scene;
	size_t length;
	char *text;

	(void)state;
	build_lines(lines);
	begin(&scene, TIMELINE_CHROME);
	for (size_t i = 0; i < LINES; i++)
		take(&scene, &lines[i]);
	text = end(&scene, &counts, &length);
	golden_file__expect("timeline.json", text, length);
	assert_int_equal(counts.raw_bytes, length);
	assert_int_equal(counts.processes, 4);
	assert_int_equal(counts.losses, 4);
	free(text);
}

static void every_kind_of_line_in_other_forms(void **state)
{
	static const enum timeline_format formats[] = {TIMELINE_PERFETTO, TIMELINE_KINETO};
	struct timeline_counts counts[2];
	struct trace_line lines[LINES];
	struct scene scene;
	size_t length;

	(void)state;
	build_lines(lines);
	for (size_t form = 0; form < 2; form++) {
		begin(&scene, formats[form]);
		for (size_t i = 0; i < LINES; i++)
			take(&scene, &lines[i]);
		free(end(&scene, &counts[form], &length));
		assert_true(length > 500);
	}
	assert_int_equal(counts[0].calls, counts[1].calls);
	assert_int_equal(counts[0].calls, 30);
}

/* Its texts are as hostile as a process makes them, in each form; the mark has their beginning. */
static void findings_of_known_processes_are_marked(void **state)
{
	static const enum timeline_format formats[] = {TIMELINE_PERFETTO, TIMELINE_CHROME,
						       TIMELINE_KINETO};
	char title[1000];
	struct timeline_finding finding = {
		.time_ns = BEGIN_NS + 7, .name = "warning leak", .title = title};
	struct timeline_counts counts;
	struct trace_line lines[LINES];
	struct scene scene;
	size_t length;
	char *text;

	(void)state;
	memset(title, 1, sizeof(title) - 1);
	title[sizeof(title) - 1] = '\0';
	build_lines(lines);
	for (size_t form = 0; form < 3; form++) {
		begin(&scene, formats[form]);
		for (size_t i = 0; i < LINES; i++)
			take(&scene, &lines[i]);
		finding.pid = lines[0].process->pid;
		timeline__finding(scene.timeline, &finding);
		finding.pid = 1;
		timeline__finding(scene.timeline, &finding);
		text = end(&scene, &counts, &length);
		assert_int_equal(counts.findings, 1);
		if (form) {
			assert_non_null(strstr(text, "\"name\":\"warning leak\""));
			assert_null(memchr(text, 1, length));
		}
		free(text);
	}
}

static struct trace_line launch_at(uint64_t us)
{
	return (struct trace_line){CALL(launch, application, us, 5000), .kernel = "vadd", SHAPE};
}

/* strstr(3) under AddressSanitizer looks at the whole rest each time. */
static size_t count_texts(const char *text, const char *part)
{
	size_t count = 0, length = strlen(part);

	for (; *text; text++)
		count += *text == *part && !strncmp(text, part, length);
	return count;
}

/* Work of a GPU that began at a time in microseconds, and took so long. */
static void run_work(struct scene *scene, struct trace_gpu_work work, uint64_t at_us, uint64_t us)
{
	struct trace_line line;

	memset(&line, 0, offsetof(struct trace_line, fields));
	line.kind = LINE_GPU;
	line.gpu = &work;
	line.process = &application;
	line.tid = work.has_call ? 12345 : 0;
	line.kernel = line.kernel_full = "\033[2J\"evil\\";
	line.start_ns = AT_US(at_us);
	line.duration_ns = us * 1000;
	take(scene, &line);
}

/* Overlapping work has further tracks; arrows lead from the calls; names are hostile. */
static void work_of_gpus(void **state)
{
	static const enum timeline_format formats[] = {TIMELINE_CHROME, TIMELINE_KINETO,
						       TIMELINE_PERFETTO};
	struct trace_gpu_work kernel = {
		.kind = GPU_WORK_KERNEL, .has_call = true, .stream = 7, .called_ns = AT_US(10)};
	const struct trace_gpu_work copy = {
		.kind = GPU_WORK_COPY, .copy = GPU_COPY_D2H, .stream = 7, .bytes = 64};
	struct timeline_counts counts;
	const struct trace_line call = launch_at(10);
	struct scene scene;
	size_t length;
	char *text;

	(void)state;
	for (size_t form = 0; form < 3; form++) {
		begin(&scene, formats[form]);
		take(&scene, &call);
		for (uint64_t i = 0; i < 2ul * GPU_LANES_MAX; i++)
			run_work(&scene, kernel, 20 + i, 100);
		run_work(&scene, copy, 500, 5);
		text = end(&scene, &counts, &length);
		assert_int_equal(counts.gpu_work, GPU_LANES_MAX + 1);
		assert_int_equal(counts.gpu_left_out, GPU_LANES_MAX);
		if (form < 2) {
			assert_int_equal(count_texts(text, "overlapping "), GPU_LANES_MAX - 1);
			assert_int_equal(count_texts(text, "\"cat\":\"ac2g\""), 2 * GPU_LANES_MAX);
			assert_null(memchr(text, 033, length));
		}
		if (form == 1) {
			assert_int_equal(count_texts(text, "\"cat\":\"kernel\""), GPU_LANES_MAX);
			assert_int_equal(count_texts(text, "\"name\":\"Memcpy DtoH\""), 1);
		}
		free(text);
	}
}

static void work_beyond_the_limit_is_counted(void **state)
{
	struct timeline_counts counts;
	struct trace_line line;
	struct scene scene;
	size_t length;
	char *text;

	(void)state;
	begin(&scene, TIMELINE_CHROME);
	for (uint64_t i = 0; i < BEYOND; i++) {
		line = launch_at(i * 10);
		take(&scene, &line);
	}
	line = (struct trace_line){CALL(synchronize, application, BEYOND * 10ul, 1000), STREAM(0)};
	take(&scene, &line);
	line = (struct trace_line){CALL(synchronize, application, BEYOND * 11ul, 1000), STREAM(0)};
	take(&scene, &line);
	text = end(&scene, &counts, &length);
	assert_int_equal(counts.arrows, WORK_MAX);
	assert_non_null(strstr(text, "\"covers_launches\":300}"));
	assert_int_equal(count_texts(text, "covers_launches"), 1);
	assert_int_equal(count_texts(text, "\"ph\":\"s\""), WORK_MAX);
	assert_int_equal(count_texts(text, "\"ph\":\"f\""), WORK_MAX);
	free(text);
}

/* A launch of another thread that has not returned when the wait begins may come after it. */
static void a_wait_covers_earlier_work_only(void **state)
{
	struct timeline_counts counts;
	struct trace_line line = launch_at(0);
	struct scene scene;
	size_t length;
	char *text;

	(void)state;
	begin(&scene, TIMELINE_CHROME);
	line.tid = 12346;
	line.duration_ns = 20000;
	take(&scene, &line);
	line = (struct trace_line){CALL(synchronize, application, 10, 1000), STREAM(0)};
	take(&scene, &line);
	/* Another stream, and a wait that fails. */
	line = (struct trace_line){CALL(synchronize, application, 30, 1000), STREAM(0x10)};
	take(&scene, &line);
	line = (struct trace_line){CALL(synchronize, application, 40, 1000), STREAM(0),
				   .result = 700, .failed = true};
	take(&scene, &line);
	text = end(&scene, &counts, &length);
	assert_int_equal(counts.arrows, 0);
	assert_null(strstr(text, "covers"));
	free(text);
}

static struct trace_line allocation_at(uint64_t us, uint64_t address, uint64_t ns)
{
	return (struct trace_line){
		CALL(cuda_malloc, application, us, ns),
		.field_count = 2,
		.fields = {UNSIGNED("size", TRACE_SIZE, 4096), ADDRESS("ptr", TRACE_PTR, address)},
	};
}

/* Two allocations that overlap count from their returns on, in the order of these. */
static void memory_counts_from_the_return_on(void **state)
{
	struct trace_line line = allocation_at(0, 0x1000, 100000);
	struct timeline_counts counts;
	struct scene scene;
	const char *first, *second;
	size_t length;
	char *text;

	(void)state;
	begin(&scene, TIMELINE_CHROME);
	take(&scene, &line);
	line = allocation_at(10, 0x2000, 20000);
	line.tid = 12346;
	take(&scene, &line);
	text = end(&scene, &counts, &length);
	first = strstr(text, "\"ts\":30.000,\"args\":{\"bytes\":4096}");
	second = strstr(text, "\"ts\":100.000,\"args\":{\"bytes\":8192}");
	assert_true(first && second && first < second);
	free(text);
}

static void memory_beyond_the_limit_is_unknown(void **state)
{
	struct timeline_counts counts;
	struct scene scene;
	size_t length;
	char *text;

	(void)state;
	begin(&scene, TIMELINE_CHROME);
	for (uint64_t i = 0; i < LIVE_MAX + 10; i++) {
		struct trace_line line = allocation_at(i * 2, 0x1000 * (i + 1), 1000);

		take(&scene, &line);
	}
	text = end(&scene, &counts, &length);
	assert_int_equal(counts.losses, 1);
	assert_int_equal(count_texts(text, "live memory is no longer counted"), 1);
	assert_int_equal(count_texts(text, "\"ph\":\"C\""), LIVE_MAX);
	free(text);
}

/* --- streams that wait for one another --- */

static const struct trace_function event_record = {"cudaEventRecord", LAYER_RUNTIME,
						   OP_EVENT_RECORD, TRACE_RETURNS_ERROR};
static const struct trace_function stream_wait = {"cudaStreamWaitEvent", LAYER_RUNTIME, OP_CAPTURE,
						  TRACE_RETURNS_ERROR};

static void launch_on(struct scene *scene, uint64_t us, uint64_t stream)
{
	const struct trace_line line = {CALL(launch, application, us, 1000), .kernel = "vadd",
					STREAM(stream)};

	take(scene, &line);
}

/* A record, or a stream's wait for an event. */
static void use_event(struct scene *scene, const struct trace_function *function, uint64_t us,
		      uint64_t stream, uint64_t event)
{
	const struct trace_line line = {
		CALL(*function, application, us, 1000),
		.field_count = 2,
		.fields = {ADDRESS("stream", TRACE_STREAM, stream),
			   ADDRESS("event", TRACE_NO_ROLE, event)},
	};

	take(scene, &line);
}

static void wait_for_stream(struct scene *scene, uint64_t us, uint64_t stream)
{
	const struct trace_line line = {CALL(synchronize, application, us, 1000), STREAM(stream)};

	take(scene, &line);
}

/* Two streams wait for each other's events of before. */
static void streams_wait_in_a_circle(void **state)
{
	struct timeline_counts counts;
	struct scene scene;
	size_t length;
	char *text;

	(void)state;
	begin(&scene, TIMELINE_CHROME);
	for (uint64_t stream = 1; stream <= 2; stream++) {
		launch_on(&scene, stream * 10, stream * 0x10);
		use_event(&scene, &event_record, 20 + stream * 10, stream * 0x10, stream);
	}
	for (uint64_t stream = 1; stream <= 2; stream++)
		use_event(&scene, &stream_wait, 50 + stream * 10, stream * 0x10, 3 - stream);
	launch_on(&scene, 100, 0x10);
	launch_on(&scene, 110, 0x20);
	wait_for_stream(&scene, 120, 0x10);
	text = end(&scene, &counts, &length);
	assert_int_equal(counts.arrows, 3);
	assert_non_null(strstr(text, "\"covers_launches\":3}"));
	assert_int_equal(count_texts(text, "\"cat\":\"waited for by\""), 4);
	assert_int_equal(count_texts(text, "\"cat\":\"runs after\""), 4);
	free(text);
}

/* Of the events for which a stream waits, the oldest are forgotten; a wait covers less then. */
static void a_stream_waits_for_many_events(void **state)
{
	struct timeline_counts counts;
	struct scene scene;
	size_t length;
	char *text;

	(void)state;
	begin(&scene, TIMELINE_PERFETTO);
	for (uint64_t i = 0; i < JOINS_MAX + 10; i++) {
		launch_on(&scene, i * 100, 0x1000 + i);
		use_event(&scene, &event_record, i * 100 + 10, 0x1000 + i, 7);
		use_event(&scene, &stream_wait, i * 100 + 20, 0x10, 7);
	}
	launch_on(&scene, 100000, 0x10);
	wait_for_stream(&scene, 100010, 0x10);
	text = end(&scene, &counts, &length);
	assert_int_equal(counts.arrows, JOINS_MAX + 1);
	free(text);
}

/* Each stream waits for the one before. The chain ends somewhere, whatever a program does. */
static void many_streams_wait_in_a_row(void **state)
{
	struct timeline_counts counts;
	struct scene scene;
	size_t length;

	(void)state;
	begin(&scene, TIMELINE_PERFETTO);
	for (uint64_t i = 0; i < STREAMS_MAX; i++) {
		if (i)
			use_event(&scene, &stream_wait, i * 100, 0x1000 + i, 7);
		launch_on(&scene, i * 100 + 10, 0x1000 + i);
		use_event(&scene, &event_record, i * 100 + 20, 0x1000 + i, 7);
	}
	wait_for_stream(&scene, 1000000, 0x1000 + STREAMS_MAX - 1);
	free(end(&scene, &counts, &length));
	assert_in_range(counts.arrows, 30, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_of_gpus),
		cmocka_unit_test(every_kind_of_line),
		cmocka_unit_test(every_kind_of_line_in_other_forms),
		cmocka_unit_test(findings_of_known_processes_are_marked),
		cmocka_unit_test(work_beyond_the_limit_is_counted),
		cmocka_unit_test(a_wait_covers_earlier_work_only),
		cmocka_unit_test(memory_counts_from_the_return_on),
		cmocka_unit_test(memory_beyond_the_limit_is_unknown),
		cmocka_unit_test(streams_wait_in_a_circle),
		cmocka_unit_test(a_stream_waits_for_many_events),
		cmocka_unit_test(many_streams_wait_in_a_row),
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
