// SPDX-License-Identifier: BSD-2-Clause
// The end of an ended process's series in OTLP: a point without a value, once, also if another
// process has its pid.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include "metrics_scene.h"
#include "otlp_reader.h"

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
	struct span first = {0}, second = {0}, resource = {0}, scope = {0}, value;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_is_marked),
		cmocka_unit_test(a_reused_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
