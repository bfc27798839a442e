// SPDX-License-Identifier: BSD-2-Clause
// Lists of a process, and processes, at their maximum numbers: time must grow with the number, not
// with its square.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "base/clock.h"
#include "finding/device_history.h"
#include "finding/graph_history.h"
#include "model/growth.h"
#include "model/model.h"
#include "output/metrics/metrics.h"
#include "output/report/parts.h"

static void *allocate(size_t count, size_t size)
{
	void *list = calloc(count, size);

	assert_non_null(list);
	return list;
}

/* --- failures --- */

/* Codes without names: a library may return any. */
static void write_failures(size_t size)
{
	const struct metrics_options options = {.version = "1"};
	struct metrics *metrics = metrics__new(&options);
	struct process process = {.pid = 12,
				  .failures = allocate(size, sizeof(struct failure)),
				  .failure_count = size};
	struct model model = {.processes = &process, .process_count = 1};
	FILE *out = fopen("/dev/null", "we");

	assert_true(metrics && out);
	for (size_t i = 0; i < size; i++)
		process.failures[i] = (struct failure){
			.function = "cudaMalloc", .code = (int)(100000 + i), .count = 1};
	assert_int_equal(metrics__render(metrics, out, &model, NULL, EXPOSITION_PROMETHEUS), 0);
	fclose(out);
	metrics__free(metrics);
	free(process.failures);
}

static void thousands_of_failures(void **state)
{
	(void)state;
	assert_linear("failures on the metrics page", write_failures, 1024);
}

/* --- processes --- */

static struct model model_of(size_t count)
{
	struct model model = {.now_ns = 1000 * NS_PER_S, .process_count = count};

	model.processes = allocate(count, sizeof(*model.processes));
	for (size_t i = 0; i < count; i++) {
		model.processes[i].pid = (int32_t)(1000 + i);
		model.processes[i].start_ns = NS_PER_S + i;
	}
	return model;
}

static void end_all(struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		model->processes[i].ended = true;
}

/* Each process has one site, and then ends. */
static void follow_sites(size_t size)
{
	struct growth *growth = growth__new(GROWTH_WINDOW_NS, GROWTH_SITES_MAX);
	struct live_site live = {.bytes = 1, .count = 1};
	struct model model = model_of(size);

	assert_non_null(growth);
	for (size_t i = 0; i < size; i++) {
		model.processes[i].live_sites = &live;
		model.processes[i].live_site_count = 1;
	}
	assert_int_equal(growth__sample(growth, &model), 0);
	end_all(&model);
	model.now_ns += NS_PER_S;
	assert_int_equal(growth__sample(growth, &model), 0);
	growth__free(growth);
	free(model.processes);
}

/* Graphs that are gone are looked up at the first sample. */
static void follow_graphs(size_t size)
{
	struct graph_history *history = graph_history__new();
	struct model model = model_of(size);

	assert_non_null(history);
	for (size_t i = 0; i < size; i++)
		model.processes[i].objects[OBJECT_GRAPH_EXEC].created = 1;
	assert_int_equal(graph_history__sample(history, &model), 0);
	graph_history__free(history);
	free(model.processes);
}

static void follow_devices(size_t size)
{
	struct device_history *history = device_history__new(GROWTH_WINDOW_NS);
	struct gpu gpu = {.uuid = "GPU-1", .mig = GPU_NONE, .total_bytes = 2, .used_bytes = 1};
	struct process_gpu process_gpu = {.gpu = 0, .used_bytes = 1};
	struct model model = model_of(size);

	assert_non_null(history);
	model.gpus = &gpu;
	model.gpu_count = 1;
	for (size_t i = 0; i < size; i++) {
		model.processes[i].gpus = &process_gpu;
		model.processes[i].gpu_count = 1;
	}
	assert_int_equal(device_history__sample(history, &model), 0);
	end_all(&model);
	model.now_ns += NS_PER_S;
	assert_int_equal(device_history__sample(history, &model), 0);
	device_history__free(history);
	free(model.processes);
}

/* Processes whose end was reported before. */
static void select_findings(size_t size)
{
	struct model model = model_of(size);
	struct finding_list list = {.items = allocate(size, sizeof(struct finding)), .count = size};

	end_all(&model);
	for (size_t i = 0; i < size; i++) {
		model.processes[i].reported_end = true;
		list.items[i] = (struct finding){.kind = finding_kinds[0],
						 .pid = model.processes[i].pid,
						 .start_ns = model.processes[i].start_ns};
	}
	report_findings__select(&list, &model);
	assert_int_equal(list.count, 0);
	finding_list__clear(&list);
	free(model.processes);
}

static void thousands_of_processes(void **state)
{
	(void)state;
	assert_linear("processes with a site", follow_sites, 512);
	assert_linear("processes with graphs", follow_graphs, 512);
	assert_linear("processes on a device", follow_devices, 512);
	assert_linear("processes with a finding", select_findings, 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_of_failures),
		cmocka_unit_test(thousands_of_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
