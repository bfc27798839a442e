// SPDX-License-Identifier: BSD-2-Clause
// How other processes affect a verdict: idle time of a shared GPU, ranks that arrive late,
// processes that hand over work.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "finding/company.h"
#include "model/host.h"

#define FROM (100 * NS_PER_S)
#define TIME (10 * NS_PER_S)
#define OTHERS 3

/*
 * For each process, by its index in the model: the known part of its time, and the verdict that it
 * would have alone.
 */
struct scene {
	struct model model;
	struct process processes[1 + OTHERS];
	struct process_gpu gpus[1 + OTHERS];
	struct kernel kernels[1 + OTHERS][2];
	struct gpu gpu;
	struct load loads[1 + OTHERS];
	uint64_t from_ns[1 + OTHERS]; /* 0: unknown */
	struct verdict verdicts[1 + OTHERS];
};

static size_t number_of(const struct scene *scene, const struct process *process)
{
	return (size_t)(process - scene->processes);
}

static bool find(const struct company_times *times, const struct process *process,
		 struct load *window, uint64_t *from_ns)
{
	const struct scene *scene = times->arg;

	*window = scene->loads[number_of(scene, process)];
	*from_ns = scene->from_ns[number_of(scene, process)];
	return *from_ns;
}

static void judge(const struct company_times *times, const struct process *process,
		  struct verdict *verdict)
{
	const struct scene *scene = times->arg;

	*verdict = scene->verdicts[number_of(scene, process)];
}

/* All use one GPU, and left it without work for six of ten seconds. */
static int begin(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->model.processes = scene->processes;
	scene->model.process_count = 1;
	scene->model.gpus = &scene->gpu;
	scene->model.gpu_count = 1;
	scene->model.now_ns = FROM + TIME;
	for (size_t i = 0; i <= OTHERS; i++) {
		struct load *load = &scene->loads[i];

		scene->processes[i].pid = 100 + (int32_t)i;
		strcpy(scene->processes[i].comm, "train");
		scene->processes[i].gpus = &scene->gpus[i];
		scene->processes[i].gpu_count = 1;
		scene->processes[i].kernels = scene->kernels[i];
		scene->processes[i].launches = 1;
		scene->from_ns[i] = FROM;
		load->ns = TIME;
		load->launches = 1000 * (i + 1);
		load->proves = true;
		load->queues[0].used = true;
		load->queues[0].idle_ns = 6 * NS_PER_S;
		scene->verdicts[i] = (struct verdict){.kind = VERDICT_HOST_BOUND,
						      .from_ns = FROM,
						      .window_ns = TIME,
						      .unfed = 0.6,
						      .idle = 0.6};
	}
	*state = scene;
	return 0;
}

static int end(void **state)
{
	free(*state);
	return 0;
}

static struct verdict corrected(const struct scene *scene)
{
	const struct company_times times = {
		.model = &scene->model, .find = find, .judge = judge, .arg = scene};
	struct verdict verdict = scene->verdicts[0];

	company__find_sharing(&times, &scene->processes[0], &verdict);
	company__find_awaited(&times, &scene->processes[0], &verdict);
	return verdict;
}

static void assert_idle(const struct scene *scene, double idle, int32_t beside)
{
	struct verdict verdict = corrected(scene);

	assert_true(verdict.idle > idle - 1e-9 && verdict.idle < idle + 1e-9);
	assert_int_equal(verdict.beside.pid, beside);
	assert_true(verdict.unfed == 0.6);
	assert_int_equal(verdict.kind, VERDICT_HOST_BOUND);
}

static void alone_it_is_as_it_was(void **state)
{
	assert_idle(*state, 0.6, 0);
}

static void others_may_have_been_busy_in_its_idle_time(void **state)
{
	struct scene *scene = *state;

	scene->model.process_count = 2;
	assert_idle(scene, 0.2, 101);
	/* With four more seconds from another process none are left. */
	scene->model.process_count = 3;
	assert_idle(scene, 0, 102);
}

static void what_is_not_known_of_others_is_not_idle(void **state)
{
	struct scene *scene = *state;

	scene->model.process_count = 2;
	scene->from_ns[1] = FROM + NS_PER_S;
	assert_idle(scene, 0.1, 101);
	scene->loads[1].proves = false;
	assert_idle(scene, SHARE_UNKNOWN, 101);
	/* It has only just begun. */
	scene->from_ns[1] = 0;
	assert_idle(scene, SHARE_UNKNOWN, 101);
	scene->processes[1].launches = 0;
	assert_idle(scene, 0.6, 0);
}

static void who_gives_the_gpu_nothing_is_no_other(void **state)
{
	struct scene *scene = *state;

	scene->model.process_count = 2;
	scene->loads[1].launches = 0;
	assert_idle(scene, 0.6, 0);
	scene->loads[1].launches = 1;
	scene->gpus[1].gpu = GPU_NONE;
	assert_idle(scene, 0.6, 0);
	scene->gpus[1].gpu = 0;
	scene->loads[1].queues[0].used = false;
	assert_idle(scene, 0.6, 0);
	scene->loads[1].queues[0].used = true;
	scene->processes[1].ended_ns = FROM;
	assert_idle(scene, 0.6, 0);
	scene->processes[1].ended_ns = FROM + 1;
	assert_idle(scene, 0.2, 101);
}

static void several_devices_are_reported_apart(void **state)
{
	struct process_gpu gpus[] = {{.ordinal = 0, .gpu = GPU_NONE}, {.ordinal = 1, .gpu = 0}};
	struct scene *scene = *state;

	scene->model.process_count = 2;
	scene->processes[1].gpus = gpus;
	scene->processes[1].gpu_count = 2;
	/* Its work is on a device that is another GPU. */
	assert_idle(scene, 0.6, 0);
	scene->loads[1].queues[1] = (struct load_queue){.used = true, .idle_ns = 9 * NS_PER_S};
	assert_idle(scene, 0.5, 101);
}

/* They were running before gpuprobe, so that calls do not tell their devices. */
static void work_of_unknown_devices(void **state)
{
	struct process_gpu gpus[][2] = {{{.ordinal = 0, .gpu = 0}, {.ordinal = 1, .gpu = 1}},
					{{.ordinal = 0, .gpu = 0}, {.ordinal = 1, .gpu = 1}}};
	struct gpu two[2] = {0};
	struct scene *scene = *state;

	scene->model.gpus = two;
	scene->model.gpu_count = 2;
	scene->model.process_count = 2;
	for (size_t i = 0; i < 2; i++) {
		scene->processes[i].gpus = gpus[i];
		scene->processes[i].gpu_count = 2;
		scene->loads[i].queues[PROFILE_DEVICES - 1] = scene->loads[i].queues[0];
		scene->loads[i].queues[0].used = false;
		gpus[i][0].used_bytes = gpus[i][1].used_bytes = GPU_UNKNOWN_BYTES;
	}
	scene->verdicts[0].device = PROFILE_DEVICES - 1;
	assert_idle(scene, SHARE_UNKNOWN, 0);
	/* NVML sees one of them on the second GPU, and then both. */
	gpus[0][1].used_bytes = 0;
	assert_idle(scene, SHARE_UNKNOWN, 101);
	gpus[1][1].used_bytes = 0;
	assert_idle(scene, 0.2, 101);
	gpus[1][1].used_bytes = GPU_UNKNOWN_BYTES;
	gpus[1][0].used_bytes = 0;
	assert_idle(scene, 0.6, 0);
	/* Nobody else. */
	gpus[0][1].used_bytes = GPU_UNKNOWN_BYTES;
	scene->model.process_count = 1;
	assert_idle(scene, 0.6, 0);
	two[0].stranger = 77;
	assert_idle(scene, SHARE_UNKNOWN, 0);
}

static void strangers_prove_nothing(void **state)
{
	struct scene *scene = *state;

	scene->gpu.stranger = 77;
	assert_idle(scene, SHARE_UNKNOWN, 77);
	assert_string_equal(corrected(scene).beside.comm, "");
	/* It has been watched since. */
	scene->gpu.stranger = 101;
	scene->model.process_count = 2;
	scene->loads[1].launches = 0;
	assert_idle(scene, 0.6, 0);
	/* Next to a process that is watched. */
	scene->gpu.stranger = 77;
	scene->loads[1].launches = 1;
	assert_idle(scene, SHARE_UNKNOWN, 101);
}

static void give_collectives(struct scene *scene, size_t number, uint64_t launches)
{
	scene->kernels[number][0] = (struct kernel){.short_name = (char *)"gemm", .launches = 7};
	scene->kernels[number][1] =
		(struct kernel){.short_name = (char *)"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
				.launches = launches};
	scene->processes[number].kernel_count = 2;
}

static void assert_awaited(const struct scene *scene, int32_t pid)
{
	struct verdict verdict = corrected(scene);

	assert_int_equal(verdict.kind, pid ? VERDICT_OTHERS : VERDICT_GPU_BOUND);
	assert_int_equal(verdict.awaited.pid, pid);
	assert_int_equal(verdict.collectives, pid != 0);
	assert_string_equal(verdict.awaited.comm, pid ? "train" : "");
}

static void a_rank_that_comes_late_is_awaited(void **state)
{
	struct scene *scene = *state;

	scene->model.process_count = 3;
	scene->verdicts[0].kind = VERDICT_GPU_BOUND;
	scene->verdicts[1].held = 0.2;
	scene->verdicts[2].held = 0.1;
	assert_awaited(scene, 0);
	for (size_t i = 0; i < 3; i++)
		give_collectives(scene, i, 1000 + i);
	/* The process that waits for its GPU least. */
	assert_awaited(scene, 102);
	scene->verdicts[2].kind = VERDICT_GPU_BOUND;
	assert_awaited(scene, 101);
	scene->verdicts[1].kind = VERDICT_NO_WORK;
	assert_awaited(scene, 101);
	/* It existed for less than half of the time. */
	scene->processes[1].ended_ns = FROM + TIME / 2;
	assert_awaited(scene, 0);
}

static void other_jobs_are_not_awaited(void **state)
{
	struct scene *scene = *state;

	scene->model.process_count = 2;
	scene->verdicts[0].kind = VERDICT_GPU_BOUND;
	give_collectives(scene, 0, 1000);
	give_collectives(scene, 1, 899);
	assert_awaited(scene, 0);
	give_collectives(scene, 1, 900);
	assert_awaited(scene, 101);
	/* Too few. */
	give_collectives(scene, 0, 15);
	give_collectives(scene, 1, 15);
	assert_awaited(scene, 0);
	scene->kernels[1][1].short_name = NULL;
	give_collectives(scene, 0, 1000);
	assert_awaited(scene, 0);
}

static void who_is_slow_itself_waits_for_nobody(void **state)
{
	struct scene *scene = *state;

	scene->model.process_count = 2;
	give_collectives(scene, 0, 1000);
	give_collectives(scene, 1, 1000);
	assert_int_equal(corrected(scene).kind, VERDICT_HOST_BOUND);
}

static void who_hands_over_work_is_awaited(void **state)
{
	struct host_location locations[] = {{.activity = ACTIVITY_QUEUE, .ns = 51, .times = 1},
					    {.activity = ACTIVITY_CPU, .ns = 49, .times = 1}};
	struct host_thread thread = {.tid = 100,
				     .pid = 100,
				     .submits = true,
				     .watched_ns = 100,
				     .locations = locations,
				     .location_count = 2};
	struct host_process host = {.pid = 100, .threads = &thread, .thread_count = 1};
	struct scene *scene = *state;

	scene->model.process_count = 2;
	scene->processes[0].host = &host;
	thread.wakers[ACTIVITY_QUEUE][0] = (struct host_partner){
		.tid = 111, .pid = 101, .count = 1, .ns = 1, .thread = HOST_NO_THREAD};
	assert_int_equal(corrected(scene).kind, VERDICT_OTHERS);
	assert_int_equal(corrected(scene).awaited.pid, 101);
	assert_false(corrected(scene).collectives);
	/* A loader without GPU work of its own is part of the program. */
	scene->processes[1].launches = 0;
	assert_int_equal(corrected(scene).kind, VERDICT_HOST_BOUND);
	scene->processes[1].launches = 1;
	thread.wakers[ACTIVITY_QUEUE][0].pid = 100;
	assert_int_equal(corrected(scene).kind, VERDICT_HOST_BOUND);
	thread.wakers[ACTIVITY_QUEUE][0].pid = 101;
	locations[0].ns = 50;
	locations[1].ns = 50;
	assert_int_equal(corrected(scene).kind, VERDICT_HOST_BOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(alone_it_is_as_it_was),
		TEST(others_may_have_been_busy_in_its_idle_time),
		TEST(what_is_not_known_of_others_is_not_idle),
		TEST(who_gives_the_gpu_nothing_is_no_other),
		TEST(several_devices_are_reported_apart),
		TEST(work_of_unknown_devices),
		TEST(strangers_prove_nothing),
		TEST(a_rank_that_comes_late_is_awaited),
		TEST(other_jobs_are_not_awaited),
		TEST(who_is_slow_itself_waits_for_nobody),
		TEST(who_hands_over_work_is_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
