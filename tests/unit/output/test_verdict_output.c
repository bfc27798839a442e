// SPDX-License-Identifier: BSD-2-Clause
// Which side waits for the other, in the monitor's report, in JSON and in the metrics: with a
// profile, without one, and if it was not requested.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "finding/load_scene.h"
#include "output/json/report.h"
#include "output/metrics/metrics.h"
#include "output/monitor/monitor.h"
#include "output/finding/verdict.h"

static int begin(void **state)
{
	struct load_scene *scene = scene__new();

	strcpy(scene->process.comm, "train");
	scene->model.sections = SECTION_ALL;
	scene->model.libraries = 1;
	scene->process.called = true;
	*state = scene;
	return 0;
}

static int end(void **state)
{
	scene__free(*state);
	return 0;
}

/* Ten seconds: the GPU idle for seven, one in waits, one in allocations. */
static void go_on(struct load_scene *scene)
{
	assert_int_equal(findings__sample(scene->findings, &scene->model), 0);
	scene->thread.time[TIME_MEMORY].ns += NS_PER_S;
	scene->process.waits[WAIT_STREAM].ns += NS_PER_S;
	scene->process.launches += 100;
	scene__pass(scene, &(struct stretch){.ns = 10 * NS_PER_S,
					     .launches = 100,
					     .waited_ns = NS_PER_S,
					     .idle_ns = 7 * NS_PER_S});
	assert_int_equal(findings__sample(scene->findings, &scene->model), 0);
}

static char *report(const struct load_scene *scene, const struct findings *verdicts)
{
	const struct monitor_text_options options = {.columns = 500};
	struct monitor_text *monitor = monitor_text__new(&options);
	const struct finding_list none = {0};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(monitor);
	assert_int_equal(monitor_text__print(out, monitor, &scene->model, &none, verdicts), 0);
	assert_int_equal(fclose(out), 0);
	monitor_text__free(monitor);
	return text;
}

static char *json(const struct load_scene *scene, const struct findings *verdicts)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	report_json__print(out, &scene->model, NULL, verdicts, NULL);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *page(const struct load_scene *scene, const struct findings *verdicts)
{
	const struct metrics_options options = {.kernels = 1, .version = "0", .verdicts = verdicts};
	struct metrics *metrics = metrics__new(&options);
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(metrics__render(metrics, out, &scene->model, NULL, EXPOSITION_PROMETHEUS),
			 0);
	assert_int_equal(fclose(out), 0);
	metrics__free(metrics);
	return text;
}

/* Whether the text contains the part; frees the text. */
static bool has(char *text, const char *part)
{
	bool found = strstr(text, part);

	free(text);
	return found;
}

#define TITLE "\n  verdict   "

static void a_line_in_the_block(void **state)
{
	struct load_scene *scene = *state;

	/* It has not been followed for any time. */
	assert_int_equal(findings__sample(scene->findings, &scene->model), 0);
	assert_false(has(report(scene, scene->findings), "  verdict "));
	go_on(scene);
	assert_true(has(report(scene, scene->findings), TITLE
			"the GPU waits for the program (host-bound): "
			"idle at least 70.0 % of "
			"the time (proved); the GPU holds the program up for 10.0 % of 10.0 s\n"));
	assert_false(has(report(scene, NULL), "  verdict "));
}

static void without_an_profile_it_says_what_it_knows(void **state)
{
	const uint32_t busy[] = {20};
	struct load_scene *scene = *state;

	scene->process.profile = NULL;
	scene->process.launches = 1;
	go_on(scene);
	assert_true(has(report(scene, scene->findings),
			TITLE "it is unclear who waits for whom (use --verdict to find out more): "
			      "the program waits for the GPU for 10.0 % of 10.0 s\n"));
	scene__set_gpus(scene, 1, busy);
	go_on(scene);
	assert_true(has(report(scene, scene->findings),
			TITLE "the GPU waits for the program "
			      "(host-bound): the program waits for the GPU for 10.0 % of "
			      "20.0 s, the GPU is busy about 20.0 % (NVML)\n"));
}

static void in_json(void **state)
{
	struct load_scene *scene = *state;

	go_on(scene);
	assert_true(has(json(scene, scene->findings),
			"\"verdict\":{\"kind\":\"host-bound\",\"from_ns\":1000000000000,\"window_"
			"ns\":10000000000,\"launches\":100,"
			"\"idle_proved\":0.7,\"unfed_proved\":0.7,\"held_by_gpu\":0.1,\"busy_"
			"nvml\":null,\"stopped\":null,\"beside\":null,"
			"\"waits_for\":null}"));
	assert_false(has(json(scene, NULL), "verdict"));
}

/* An unwatched process uses the GPU, too. */
static void of_a_shared_gpu(void **state)
{
	struct load_scene *scene = *state;

	scene__set_gpus(scene, 1, (const uint32_t[]){GPU_UNKNOWN_PERCENT});
	scene->gpus[0].stranger = 77;
	go_on(scene);
	assert_true(has(report(scene, scene->findings),
			TITLE "the program gives the GPU too little "
			      "to do (host-bound): nothing for at least "
			      "70.0 % of the time (proved); the GPU holds the program up for 10.0 "
			      "% of 10.0 s; process 77 has memory on the GPU, too\n"));
	assert_true(
		has(json(scene, scene->findings), "\"idle_proved\":null,\"unfed_proved\":0.7,"));
	assert_true(has(json(scene, scene->findings),
			"\"beside\":{\"pid\":77,\"comm\":null},\"waits_for\":null"));
	assert_false(has(page(scene, scene->findings), "\ngpuprobe_gpu_idle_proved_ratio{"));
}

static void of_who_waits_for_others(void **state)
{
	struct verdict verdict = {.kind = VERDICT_OTHERS,
				  .window_ns = NS_PER_S,
				  .held = 0.9,
				  .profile = true,
				  .collectives = true,
				  .awaited = {.pid = 7, .comm = "a\nb"}};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	verdict_text__print_sentence(out, &verdict);
	fputc('\n', out);
	verdict.collectives = false;
	verdict_text__print_sentence(out, &verdict);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "the program waits in collective operations "
				  "for process 7 (a\\nb): the GPU has no "
				  "proved idle time, busy about 0.0 % (NVML); the GPU holds the "
				  "program up for 90.0 % of 1.0 s\n"
				  "the program waits for its work from "
				  "process 7 (a\\nb): the GPU has no "
				  "proved idle time, busy about 0.0 % (NVML); the GPU holds the "
				  "program up for 90.0 % of 1.0 s");
	free(text);
}

#define OF_PROCESS "pid=\"100\",comm=\"train\""

static void in_metrics(void **state)
{
	struct load_scene *scene = *state;

	go_on(scene);
	assert_true(has(page(scene, scene->findings),
			"\ngpuprobe_gpu_idle_proved_ratio{" OF_PROCESS
			",device=\"0\",gpu=\"unknown\",uuid=\"\"} 0.7\n"));
	assert_true(has(page(scene, scene->findings),
			"\ngpuprobe_host_bound_ratio{" OF_PROCESS ",reason=\"outside\"} 0.8\n"
			"gpuprobe_host_bound_ratio{" OF_PROCESS ",reason=\"launches\"} 0\n"
			"gpuprobe_host_bound_ratio{" OF_PROCESS ",reason=\"memory\"} 0.1\n"
			"gpuprobe_host_bound_ratio{" OF_PROCESS ",reason=\"copies\"} 0\n"
			"gpuprobe_host_bound_ratio{" OF_PROCESS ",reason=\"other\"} 0\n"));
	assert_false(has(page(scene, NULL), "gpuprobe_gpu_idle"));
	assert_false(has(page(scene, NULL), "gpuprobe_host_bound"));
}

/* 0 if it is not host-bound: an alert ends. */
static void not_host_bound_is_0(void **state)
{
	struct load_scene *scene = *state;

	assert_int_equal(findings__sample(scene->findings, &scene->model), 0);
	scene__pass(
		scene,
		&(struct stretch){.ns = 10 * NS_PER_S, .launches = 100, .waited_ns = 6 * NS_PER_S});
	assert_true(has(page(scene, scene->findings), "reason=\"outside\"} 0\n"));
	assert_true(has(page(scene, scene->findings), "uuid=\"\"} 0\n"));
}

static void what_is_not_known_has_no_sample(void **state)
{
	struct load_scene *scene = *state;

	/* It is undecided, and nothing has been proved. */
	scene->profile.totals.unproven = 1;
	assert_int_equal(findings__sample(scene->findings, &scene->model), 0);
	scene__pass(scene, &(struct stretch){.ns = 10 * NS_PER_S, .launches = 100});
	assert_false(has(page(scene, scene->findings), "\ngpuprobe_gpu_idle_proved_ratio{"));
	assert_false(has(page(scene, scene->findings), "\ngpuprobe_host_bound_ratio{"));
	/* There is no profile. */
	scene->process.profile = NULL;
	go_on(scene);
	assert_false(has(page(scene, scene->findings), "\ngpuprobe_host_bound_ratio{"));
}

static void an_ended_process_has_none(void **state)
{
	struct load_scene *scene = *state;

	go_on(scene);
	scene->process.ended = true;
	scene->process.ended_ns = scene->model.now_ns;
	assert_false(has(page(scene, scene->findings), "\ngpuprobe_gpu_idle_proved_ratio{"));
}

/* Work on an unknown device. */
static void an_unknown_device_is_called_so(void **state)
{
	struct load_scene *scene = *state;

	scene->profile.totals.queues[0].launched_epoch = 0;
	scene->profile.totals.queues[UNKNOWN_DEVICE].launched_epoch = 1;
	go_on(scene);
	assert_true(has(page(scene, scene->findings),
			"ratio{" OF_PROCESS ",device=\"unknown\",gpu=\"unknown\",uuid=\"\"} 0\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_in_the_block, begin, end),
		cmocka_unit_test_setup_teardown(without_an_profile_it_says_what_it_knows, begin,
						end),
		cmocka_unit_test_setup_teardown(in_json, begin, end),
		cmocka_unit_test_setup_teardown(of_a_shared_gpu, begin, end),
		cmocka_unit_test_setup_teardown(of_who_waits_for_others, begin, end),
		cmocka_unit_test_setup_teardown(in_metrics, begin, end),
		cmocka_unit_test_setup_teardown(not_host_bound_is_0, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_known_has_no_sample, begin, end),
		cmocka_unit_test_setup_teardown(an_ended_process_has_none, begin, end),
		cmocka_unit_test_setup_teardown(an_unknown_device_is_called_so, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
