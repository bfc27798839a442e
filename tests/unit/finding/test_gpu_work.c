// SPDX-License-Identifier: BSD-2-Clause
// What GPU times find, each at its borders, and nothing where they are not whole.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "finding/verdict.h"
#include "finding_case.h"
#include "load_scene.h"
#include "model/gpu_times.h"

#define BOOT (500 * NS_PER_S) /* CLOCK_BOOTTIME is that much ahead of CUPTI's clock */
#define MS 1000000ull

struct scene_times {
	struct gpu_times times;
	struct gpu_times_head head;
	uint32_t correlation;
};

static void add(struct scene_times *scene, const struct gpu_work *work)
{
	struct gpu_times_work record = {.head = scene->head, .count = 1};

	record.head.function = GPU_TIMES_WORK;
	record.work[0] = *work;
	gpu_times__take(&scene->times, &record, sizeof(record));
	if (scene->times.due)
		gpu_times__join(&scene->times);
}

static void begin(struct scene_times *scene, int pid, uint64_t start_ns)
{
	struct gpu_times_clock clock = {.cupti_ns = 1, .boot_ns = BOOT + 1};
	struct gpu_times_name name = {.name = 1, .text = "gemm"};

	*scene = (struct scene_times){.head = {.pid = pid, .start_ns = start_ns}};
	clock.head = name.head = scene->head;
	clock.head.function = GPU_TIMES_CLOCK;
	name.head.function = GPU_TIMES_NAME;
	gpu_times__take(&scene->times, &clock, sizeof(clock));
	gpu_times__take(&scene->times, &name, sizeof(name));
}

/* Work of a call that began `delay_ns` before it. */
static void run(struct scene_times *scene, enum gpu_work_kind kind, uint64_t start_ns,
		uint64_t end_ns, uint64_t delay_ns)
{
	const uint64_t called_ns = start_ns - delay_ns;
	const struct gpu_call call = {.start_ns = called_ns + BOOT,
				      .end_ns = called_ns + BOOT + 10,
				      .process_start_ns = scene->head.start_ns,
				      .pid = scene->head.pid,
				      .thread = 1,
				      .tid = 101};
	const struct gpu_work mark = {.kind = GPU_WORK_CALL,
				      .start_ns = called_ns + 5,
				      .end_ns = called_ns + 5,
				      .thread = 1,
				      .correlation = ++scene->correlation};
	const struct gpu_work work = {.kind = kind,
				      .copy = GPU_COPY_H2D,
				      .name = 1,
				      .start_ns = start_ns,
				      .end_ns = end_ns,
				      .correlation = scene->correlation};

	gpu_times__take_call(&scene->times, &call);
	add(scene, &mark);
	add(scene, &work);
}

/* The finding of this kind from the times alone, whose text the caller frees; NULL: none. */
static char *find(struct scene_times *scene, const char *id)
{
	const struct findings_options options = {.needs = NEEDS_GPU_TIMES,
						 .window_ns = GROWTH_WINDOW_NS};
	struct finding_case *c = case__new();
	const struct finding *finding;
	char *text = NULL;

	findings__free(c->findings);
	c->findings = findings__new(&options);
	findings__begin(c->findings, BEGAN);
	gpu_times__join(&scene->times);
	c->model.gpu_times = &scene->times;
	assert_true(case__detect(c) < 10);
	finding = case__find(c, id);
	if (finding)
		text = strdup(finding->evidence);
	case__free(c);
	gpu_times__clear(&scene->times);
	return text;
}

static void expect(struct scene_times *scene, const char *id, const char *text)
{
	char *found = find(scene, id);

	assert_non_null(found);
	assert_string_equal(found, text);
	free(found);
}

/* `count` steps of 10 ms with a copy of 2 ms and a kernel of 4 ms that begins `kernel_ms` later. */
static void copy_and_compute(struct scene_times *scene, uint64_t count, uint64_t kernel_ms)
{
	begin(scene, 100, BEGAN - NS_PER_S);
	for (uint64_t i = 1; i <= count; i++) {
		run(scene, GPU_WORK_COPY, i * 10 * MS, (i * 10 + 2) * MS, 100);
		run(scene, GPU_WORK_KERNEL, (i * 10 + kernel_ms) * MS,
		    (i * 10 + kernel_ms + 4) * MS, 100);
	}
}

static void test_copies_without_overlap(void **state)
{
	struct scene_times scene;

	(void)state;
	copy_and_compute(&scene, 100, 2);
	expect(&scene, "no-overlap",
	       "100 copies took 200 ms on GPU 0, and no kernel ran for 200 ms of it, 20.1 % of 996 "
	       "ms (exact, by GPU times); kernels ran for 400 ms");
	copy_and_compute(&scene, 99, 2);
	assert_null(find(&scene, "no-overlap"));
	copy_and_compute(&scene, 100, 1); /* half of each copy is beside a kernel */
	assert_null(find(&scene, "no-overlap"));
}

static void small(struct scene_times *scene, uint64_t count, uint64_t ns, uint64_t period_ns)
{
	begin(scene, 100, BEGAN - NS_PER_S);
	for (uint64_t i = 1; i <= count; i++)
		run(scene, GPU_WORK_KERNEL, i * period_ns, i * period_ns + ns, 100);
}

static void test_small_kernels(void **state)
{
	struct scene_times scene;

	(void)state;
	small(&scene, 1000, 5000, 10000);
	expect(&scene, "small-kernels",
	       "100.0 % of 1,000 kernels ran for 5.0 us on average, and GPU 0 was idle 50.0 % of "
	       "10.0 ms (exact, by GPU times)");
	small(&scene, 999, 5000, 10000);
	assert_null(find(&scene, "small-kernels"));
	small(&scene, 1000, 10000, 20000);
	assert_null(find(&scene, "small-kernels"));
	small(&scene, 1000, 8000, 10000); /* the GPU is busy */
	assert_null(find(&scene, "small-kernels"));
}

static void late(struct scene_times *scene, uint64_t delay_ns)
{
	begin(scene, 100, BEGAN - NS_PER_S);
	for (uint64_t i = 1; i <= 200; i++)
		run(scene, GPU_WORK_KERNEL, i * 100000, i * 100000 + 40000, delay_ns);
}

static void test_launch_latency(void **state)
{
	struct scene_times scene;

	(void)state;
	late(&scene, 50000);
	expect(&scene, "launch-latency",
	       "199 times GPU 0 was idle although its next work had been called: 50.0 us from the "
	       "call to the start on average, together 49.9 % of 19.9 ms; 2.0 ms more until the "
	       "next call (exact, by GPU times)");
	late(&scene, 29000);
	assert_null(find(&scene, "launch-latency"));
	/* The GPU is busy until shortly before the start, however early the call was. */
	begin(&scene, 100, BEGAN - NS_PER_S);
	for (uint64_t i = 1; i <= 200; i++)
		run(&scene, GPU_WORK_KERNEL, i * 100000, i * 100000 + 95000, 90000);
	assert_null(find(&scene, "launch-latency"));
}

/* What is missing may have run at any time. */
static void test_nothing_without_all_work(void **state)
{
	struct gpu_times_work dropped = {.dropped = 1};
	struct scene_times scene;

	(void)state;
	small(&scene, 1000, 5000, 10000);
	dropped.head = scene.head;
	dropped.head.function = GPU_TIMES_WORK;
	gpu_times__take(&scene.times, &dropped, sizeof(dropped));
	assert_null(find(&scene, "small-kernels"));
	small(&scene, 1000, 5000, 10000);
	add(&scene, &(struct gpu_work){.kind = GPU_WORK_KERNEL, .name = 1});
	assert_null(find(&scene, "small-kernels"));
}

/* --- the verdict --- */

static struct verdict judge(struct scene_times *scene, uint64_t busy_ms)
{
	struct load_scene *load = scene__new();
	const struct stretch stretch = {.ns = 10 * NS_PER_S, .launches = 100};
	struct verdict verdict;

	begin(scene, load->process.pid, load->process.start_ns);
	assert_int_equal(findings__sample(load->findings, &load->model), 0);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t at_ns = load->model.now_ns - BOOT + i * 100 * MS;

		run(scene, GPU_WORK_KERNEL, at_ns, at_ns + busy_ms * MS, 100);
	}
	gpu_times__join(&scene->times);
	scene__pass(load, &stretch);
	load->model.gpu_times = &scene->times;
	assert_int_equal(findings__sample(load->findings, &load->model), 0);
	verdict__judge_latest(load->findings, &load->model, &load->process, &verdict);
	scene__free(load);
	gpu_times__clear(&scene->times);
	return verdict;
}

static void test_verdict(void **state)
{
	struct scene_times scene;
	struct verdict verdict = judge(&scene, 90);

	(void)state;
	assert_int_equal(verdict.kind, VERDICT_GPU_BOUND);
	assert_true(verdict.exact > 0.89 && verdict.exact < 0.91);
	verdict = judge(&scene, 69);
	assert_int_equal(verdict.kind, VERDICT_HOST_BOUND);
	assert_true(verdict.exact > 0.68 && verdict.exact < 0.70);
	assert_int_equal(verdict.exact_device, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_without_overlap),
		cmocka_unit_test(test_small_kernels),
		cmocka_unit_test(test_launch_latency),
		cmocka_unit_test(test_nothing_without_all_work),
		cmocka_unit_test(test_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
