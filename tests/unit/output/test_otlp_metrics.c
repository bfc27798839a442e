// SPDX-License-Identifier: BSD-2-Clause
// Metrics as OTLP: each series of the page is a point of its process's resource, and the figures of
// GPUs and calls have the names of conventions.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "metrics_scene.h"
#include "output/otlp/logs.h"
#include "output/otlp/metrics.h"

/* --- a reader of requests --- */

struct span {
	const unsigned char *at, *end;
};

static uint64_t varint(struct span *in)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(in->at < in->end);
		value |= (uint64_t)(*in->at & 0x7f) << shift;
		if (!(*in->at++ & 0x80))
			return value;
	}
}

/* False at the end. A number is in *value, everything else in *inner. */
static bool next(struct span *in, uint32_t *field, uint64_t *value, struct span *inner)
{
	uint64_t tag, length;

	if (in->at == in->end)
		return false;
	tag = varint(in);
	*field = (uint32_t)(tag >> 3);
	*inner = (struct span){0};
	switch (tag & 7) {
	case 0: *value = varint(in); return true;
	case 1: length = 8; break;
	default: assert_int_equal(tag & 7, 2); length = varint(in);
	}
	assert_true((uint64_t)(in->end - in->at) >= length);
	*inner = (struct span){in->at, in->at + length};
	if ((tag & 7) == 1)
		memcpy(value, in->at, sizeof(*value));
	in->at += length;
	return true;
}

/* The `index`th field of this number; false: there are fewer. */
static bool find(struct span in, uint32_t number, unsigned int index, struct span *found)
{
	uint64_t value;
	uint32_t field;

	while (next(&in, &field, &value, found))
		if (field == number && !index--)
			return true;
	return false;
}

static uint64_t number(struct span in, uint32_t wanted)
{
	struct span inner;
	uint64_t value;
	uint32_t field;

	while (next(&in, &field, &value, &inner))
		if (field == wanted)
			return value;
	fail_msg("there is no field %u", wanted);
	return 0;
}

static bool is_text(struct span text, const char *expected)
{
	return (size_t)(text.end - text.at) == strlen(expected) &&
	       !memcmp(text.at, expected, strlen(expected));
}

/* Whether attributes, which have this field's number, have a text or number of that name. */
static bool has_attribute(struct span in, uint32_t field, const char *name, const char *text,
			  uint64_t value)
{
	struct span pair, key, any, inner;

	for (unsigned int i = 0; find(in, field, i, &pair); i++) {
		assert_true(find(pair, 1, 0, &key) && find(pair, 2, 0, &any));
		if (is_text(key, name))
			return text ? find(any, 1, 0, &inner) && is_text(inner, text) :
				      number(any, 3) == value;
	}
	return false;
}

/* The scope's metrics of a resource, by pid; 0: gpuprobe itself. */
static struct span metrics_of(struct span request, uint64_t pid)
{
	struct span one, resource, scope;

	for (unsigned int i = 0; find(request, 1, i, &one); i++) {
		assert_true(find(one, 1, 0, &resource) && find(one, 2, 0, &scope));
		assert_true(has_attribute(resource, 1, "service.name", "gpus", 0));
		if (pid ? has_attribute(resource, 1, "process.pid", NULL, pid) :
			  has_attribute(resource, 1, "service.instance.id", "node", 0))
			return scope;
	}
	fail_msg("there is no resource of %" PRIu64, pid);
	return (struct span){0};
}

static struct span metric_of(struct span scope, const char *name)
{
	struct span metric, text;

	for (unsigned int i = 0; find(scope, 2, i, &metric); i++)
		if (find(metric, 1, 0, &text) && is_text(text, name))
			return metric;
	fail_msg("there is no %s", name);
	return (struct span){0};
}

static bool has_metric(struct span scope, const char *name)
{
	struct span metric, text;

	for (unsigned int i = 0; find(scope, 2, i, &metric); i++)
		if (find(metric, 1, 0, &text) && is_text(text, name))
			return true;
	return false;
}

/* The metric's first point. `form`: 5 gauge, 7 sum, 9 histogram. */
static struct span point_of(struct span metric, uint32_t form)
{
	struct span data, point;

	assert_true(find(metric, form, 0, &data));
	if (form != 5)
		assert_int_equal(number(data, 2), 2);
	assert_true(find(data, 1, 0, &point));
	return point;
}

/* --- the scene --- */

#define BEGAN 5000

static const struct otlp_pair pairs[] = {{"service.name", "gpus"}, {"host.name", "node"}};
static const struct otlp_sender sender = {
	.version = "0.1.0",
	.instance = "node",
	.pairs = pairs,
	.pair_count = 2,
	.began_ns = BEGAN,
	.wall_offset_ns = 1000000,
};

struct taken {
	unsigned char *data;
	size_t length;
	uint64_t items;
	unsigned int requests;
};

static int take(void *arg, const void *data, size_t length, uint64_t items)
{
	struct taken *taken = arg;

	assert_true(length <= OTLP_REQUEST_MAX);
	free(taken->data);
	taken->data = malloc(length);
	assert_non_null(taken->data);
	memcpy(taken->data, data, length);
	taken->length = length;
	taken->items += items;
	taken->requests++;
	return 0;
}

static struct span span_of(const struct taken *taken)
{
	return (struct span){taken->data, taken->data + taken->length};
}

static struct taken write_model(const struct model *model)
{
	const struct metrics_options options = {.kernels = 100, .version = "0.1.0"};
	struct otlp_metrics *metrics = otlp_metrics__new(&options);
	struct taken taken = {0};

	assert_non_null(metrics);
	assert_int_equal(otlp_metrics__write(metrics, &sender, model, NULL, take, &taken), 0);
	otlp_metrics__free(metrics);
	return taken;
}

/* How many samples the page has, without infos and what is not sent. */
static uint64_t count_samples(const struct model *model)
{
	char *text = render_once(model, EXPOSITION_PROMETHEUS), *rest = text, *line;
	uint64_t count = 0;

	while ((line = strsep(&rest, "\n")))
		count += *line && *line != '#' && !strstr(line, "_info{") &&
			 strncmp(line, "process_max_fds", 15) != 0 &&
			 strncmp(line, "process_start_time", 18) != 0;
	free(text);
	return count;
}

static uint64_t count_of(struct span scope, const char *prefix)
{
	struct span metric, text, data, point;
	uint64_t count = 0;

	for (unsigned int i = 0; find(scope, 2, i, &metric); i++) {
		assert_true(find(metric, 1, 0, &text));
		if (strncmp((const char *)text.at, prefix, strlen(prefix)) != 0)
			continue;
		for (uint32_t form = 5; form <= 9; form += 2)
			for (unsigned int k = 0;
			     find(metric, form, 0, &data) && find(data, 1, k, &point); k++)
				count++;
	}
	return count;
}

static void has_all_of_the_page(void **state)
{
	struct busy busy;
	struct taken taken;
	struct span own, process;

	(void)state;
	fill_busy(&busy);
	taken = write_model(&busy.model);
	own = metrics_of(span_of(&taken), 0);
	process = metrics_of(span_of(&taken), (uint64_t)busy.process.pid);
	assert_int_equal(taken.requests, 1);
	assert_int_equal(count_of(own, "gpuprobe.") + count_of(own, "process.") +
				 count_of(process, "gpuprobe."),
			 count_samples(&busy.model));
	assert_int_equal(taken.items, count_of(own, "") + count_of(process, ""));
	assert_false(has_metric(own, "gpuprobe.process"));
	free(taken.data);
}

/* A process is never split: receivers would get its resource twice. */
static void many_processes_take_several_requests(void **state)
{
	enum {
		PROCESSES = 400
	};
	struct process *processes = calloc(PROCESSES, sizeof(*processes));
	struct taken one, all;
	struct span request, resource;
	struct busy busy;
	uint64_t own;

	(void)state;
	assert_non_null(processes);
	fill_busy(&busy);
	one = write_model(&busy.model);
	own = count_of(metrics_of(span_of(&one), 0), "");
	for (int i = 0; i < PROCESSES; i++) {
		processes[i] = busy.process;
		processes[i].pid = i + 1;
		processes[i].serial = (uint64_t)i + 1;
	}
	busy.model.processes = processes;
	busy.model.process_count = PROCESSES;
	all = write_model(&busy.model);
	assert_true(all.requests > 1);
	assert_int_equal(all.items, own + PROCESSES * (one.items - own));
	request = span_of(&all);
	assert_true(find(request, 1, 0, &resource));
	assert_false(find(request, 2, 0, &resource));
	free(one.data);
	free(all.data);
	free(processes);
}

static void has_times_and_values(void **state)
{
	struct busy busy;
	struct taken taken;
	struct span process, point;
	double seconds;
	uint64_t bits;

	(void)state;
	fill_busy(&busy);
	busy.model.now_ns = 9000;
	busy.process.start_ns = 7000;
	taken = write_model(&busy.model);
	process = metrics_of(span_of(&taken), (uint64_t)busy.process.pid);
	point = point_of(metric_of(process, "gpuprobe.device_launches"), 7);
	assert_int_equal(number(point, 2), 7000 + 1000000);
	assert_int_equal(number(point, 3), 9000 + 1000000);
	assert_int_equal(number(point, 6), 20);
	assert_true(has_attribute(point, 7, "gpu", "3", 0));
	assert_false(has_attribute(point, 7, "pid", "", 0));
	point = point_of(metric_of(process, "gpuprobe.wait_seconds"), 7);
	bits = number(point, 4);
	memcpy(&seconds, &bits, sizeof(seconds));
	assert_true(seconds == 2.5);
	free(taken.data);
}

static void has_names_of_conventions(void **state)
{
	struct busy busy;
	struct taken taken;
	struct span own, process, point;

	(void)state;
	fill_busy(&busy);
	busy.process.copies[COPY_H2D][0] = (struct copy_totals){.calls = 2, .bytes = 10};
	busy.process.copies[COPY_H2D][1] = (struct copy_totals){.calls = 1, .bytes = 5};
	memset(busy.process.copies[COPY_H2H], 0, sizeof(busy.process.copies[COPY_H2H]));
	busy.devices[0].allocated_bytes = 4096;
	taken = write_model(&busy.model);
	own = metrics_of(span_of(&taken), 0);
	process = metrics_of(span_of(&taken), (uint64_t)busy.process.pid);
	point = point_of(metric_of(own, "hw.gpu.memory.usage"), 7);
	assert_int_equal(number(point, 6), 60);
	assert_true(has_attribute(point, 7, "hw.id", "GPU-a", 0));
	assert_true(has_attribute(point, 7, "hw.model", "H200", 0));
	point = point_of(metric_of(process, "gpu.cuda.kernel.launch.calls"), 7);
	assert_int_equal(number(point, 6), 20);
	assert_true(has_attribute(point, 7, "cuda.device.index", NULL, 0));
	assert_true(has_attribute(point, 7, "cuda.device.uuid", "a", 0));
	assert_true(has_attribute(point, 7, "cuda.device.model", "H200", 0));
	point = point_of(metric_of(process, "gpu.cuda.memory.allocations"), 7);
	assert_int_equal(number(point, 6), 4096);
	point = point_of(metric_of(process, "gpu.cuda.memory.copies"), 9);
	assert_true(has_attribute(point, 9, "cuda.memcpy.kind", "MemcpyHostToDevice", 0));
	assert_int_equal(number(point, 4), 3);
	free(taken.data);
}

static void write_at(struct otlp_metrics *metrics, struct model *model, uint64_t now_ns,
		     struct taken *taken)
{
	model->now_ns = now_ns;
	assert_int_equal(otlp_metrics__write(metrics, &sender, model, NULL, take, taken), 0);
}

static bool has_process(const struct taken *taken, uint64_t pid)
{
	struct span one, resource;

	for (unsigned int i = 0; find(span_of(taken), 1, i, &one); i++)
		if (find(one, 1, 0, &resource) &&
		    has_attribute(resource, 1, "process.pid", NULL, pid))
			return true;
	return false;
}

/* An ended process's series get a point without a value when they are there no longer. */
static void an_end_is_marked(void **state)
{
	const struct metrics_options options = {.kernels = 100, .version = "0.1.0"};
	struct otlp_metrics *metrics = otlp_metrics__new(&options);
	struct taken taken = {0};
	struct span process, point, value;
	uint64_t pid, points;
	struct busy busy;

	(void)state;
	fill_busy(&busy);
	pid = (uint64_t)busy.process.pid;
	busy.process.ended = true;
	busy.process.ended_ns = 5000;
	write_at(metrics, &busy.model, 6000, &taken);
	points = count_of(metrics_of(span_of(&taken), pid), "");
	busy.process.ended_ns = 7000; /* the same process again: one mark */
	write_at(metrics, &busy.model, 8000, &taken);
	assert_int_equal(count_of(metrics_of(span_of(&taken), pid), ""), points);
	write_at(metrics, &busy.model, 7000 + SERIES_ENDED_NS, &taken);
	process = metrics_of(span_of(&taken), pid);
	assert_int_equal(count_of(process, ""), points);
	point = point_of(metric_of(process, "gpuprobe.device_launches"), 7);
	assert_int_equal(number(point, 3), 7000 + SERIES_ENDED_NS + 1000000);
	assert_int_equal(number(point, 8), 1);
	assert_false(find(point, 6, 0, &value) || find(point, 4, 0, &value));
	assert_true(has_attribute(point, 7, "gpu", "3", 0));
	point = point_of(metric_of(process, "gpu.cuda.memory.copies"), 9);
	assert_int_equal(number(point, 10), 1);
	assert_false(find(point, 4, 0, &value) || find(point, 6, 0, &value));
	write_at(metrics, &busy.model, 9000 + SERIES_ENDED_NS, &taken);
	assert_false(has_process(&taken, pid));
	otlp_metrics__free(metrics);
	free(taken.data);
}

/* Another process has the pid: the mark of the former one comes first. */
static void a_reused_pid(void **state)
{
	const struct metrics_options options = {.kernels = 100, .version = "0.1.0"};
	struct otlp_metrics *metrics = otlp_metrics__new(&options);
	struct taken taken = {0};
	struct span first, second, resource, scope, value;
	struct busy busy;

	(void)state;
	fill_busy(&busy);
	busy.process.ended = true;
	busy.process.ended_ns = 5000;
	write_at(metrics, &busy.model, 6000, &taken);
	busy.process.ended = false;
	busy.process.serial++;
	write_at(metrics, &busy.model, 8000, &taken);
	assert_true(find(span_of(&taken), 1, 0, &first) && find(span_of(&taken), 1, 2, &second));
	assert_true(find(first, 1, 0, &resource) && find(first, 2, 0, &scope));
	assert_true(has_attribute(resource, 1, "process.pid", NULL, (uint64_t)busy.process.pid));
	assert_false(find(point_of(metric_of(scope, "gpuprobe.device_launches"), 7), 6, 0, &value));
	assert_true(find(second, 2, 0, &scope));
	assert_true(find(point_of(metric_of(scope, "gpuprobe.device_launches"), 7), 6, 0, &value));
	otlp_metrics__free(metrics);
	free(taken.data);
}

static void hostile_names(void **state)
{
	struct busy busy;
	struct taken taken;
	struct span one, resource;
	bool found = false;

	(void)state;
	fill_busy(&busy);
	memcpy(busy.process.comm, "a\xff\x1b\\\xc3\xa4", 7);
	taken = write_model(&busy.model);
	for (unsigned int i = 0; find(span_of(&taken), 1, i, &one); i++)
		found |= find(one, 1, 0, &resource) &&
			 has_attribute(resource, 1, "process.executable.name",
				       "a\\xff\\x1b\\\xc3\xa4", 0);
	assert_true(found);
	free(taken.data);
}

static void findings_are_logs(void **state)
{
	const struct otlp_pair finding[] = {{"gpuprobe.finding.id", "oom"}};
	struct otlp_log log = {
		.severity = OTLP_SEVERITY_ERROR,
		.body = "critical oom",
		.event = "gpuprobe.finding",
		.pairs = finding,
		.pair_count = 1,
		.tid = 12,
	};
	struct span one, resource, scope, record, text;
	struct otlp_logs logs = {0};
	struct taken taken = {0};
	struct busy busy;

	(void)state;
	fill_busy(&busy);
	log.pid = busy.process.pid;
	otlp_logs__add(&logs, &sender, &busy.model, &log, 2000);
	assert_int_equal(otlp_logs__write(&logs, take, &taken), 0);
	assert_int_equal(otlp_logs__write(&logs, take, &taken), 0);
	assert_int_equal(taken.requests, 1);
	assert_int_equal(taken.items, 1);
	assert_true(find(span_of(&taken), 1, 0, &one));
	assert_true(find(one, 1, 0, &resource));
	assert_true(find(one, 2, 0, &scope));
	assert_true(find(scope, 2, 0, &record));
	assert_true(has_attribute(resource, 1, "process.pid", NULL, (uint64_t)log.pid));
	assert_int_equal(number(record, 1), 2000 + 1000000);
	assert_int_equal(number(record, 2), 17);
	assert_true(find(record, 5, 0, &text) && find(text, 1, 0, &text) &&
		    is_text(text, "critical oom"));
	assert_true(has_attribute(record, 6, "gpuprobe.finding.id", "oom", 0));
	assert_true(has_attribute(record, 6, "thread.id", NULL, 12));
	free(taken.data);
	otlp_logs__free(&logs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_all_of_the_page),
		cmocka_unit_test(many_processes_take_several_requests),
		cmocka_unit_test(has_times_and_values),
		cmocka_unit_test(has_names_of_conventions),
		cmocka_unit_test(an_end_is_marked),
		cmocka_unit_test(a_reused_pid),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(findings_are_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
