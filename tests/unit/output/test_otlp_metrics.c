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
#include "otlp_reader.h"

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
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(findings_are_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
