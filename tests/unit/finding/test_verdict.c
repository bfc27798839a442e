// SPDX-License-Identifier: BSD-2-Clause
// Which side waits for the other: each verdict at its borders, unknown values, several devices, and
// startup.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding/load_history.h"
#include "finding/verdict.h"
#include "load_scene.h"
#include "model/host.h"

#define MANY 4096 /* launches, more than queues hold */

static int begin(void **state)
{
	*state = scene__new();
	return 0;
}

static int end(void **state)
{
	scene__free(*state);
	return 0;
}

static void sample(struct load_scene *scene)
{
	assert_int_equal(findings__sample(scene->findings, &scene->model), 0);
}

static struct verdict judge(const struct load_scene *scene)
{
	struct verdict verdict;

	verdict__judge_latest(scene->findings, &scene->model, &scene->process, &verdict);
	return verdict;
}

/*
 * Takes a sample and lets a stretch pass in which NVML reports this use; GPU_UNKNOWN_PERCENT: none.
 */
static struct verdict judge_stretch(struct load_scene *scene, uint32_t busy_percent,
				    struct stretch stretch)
{
	sample(scene);
	scene__pass(scene, &stretch);
	scene__set_gpus(scene, busy_percent != GPU_UNKNOWN_PERCENT, &busy_percent);
	sample(scene);
	return judge(scene);
}

/* A stretch of ten seconds. */
static struct stretch seconds(uint64_t launches, double held, double idle)
{
	return (struct stretch){
		.ns = 10 * NS_PER_S,
		.launches = launches,
		.waited_ns = (uint64_t)(held * 10e9),
		.idle_ns = (uint64_t)(idle * 10e9),
	};
}

/* The verdict after one such stretch, of a new process. */
static void assert_verdict(enum verdict_kind kind, uint32_t busy_percent, struct stretch stretch)
{
	struct load_scene *scene = scene__new();

	assert_string_equal(verdict__word(judge_stretch(scene, busy_percent, stretch).kind),
			    verdict__word(kind));
	scene__free(scene);
}

static void idle_gpus_wait_for_the_host(void **state)
{
	(void)state;
	assert_verdict(VERDICT_HOST_BOUND, GPU_UNKNOWN_PERCENT, seconds(100, 0, 0.3));
	assert_verdict(VERDICT_UNKNOWN, GPU_UNKNOWN_PERCENT, seconds(100, 0, 0.299));
	/* Whatever the process waits for, and whatever NVML reports for a GPU that others use. */
	assert_verdict(VERDICT_HOST_BOUND, 100, seconds(100, 0.6, 0.3));
}

static void held_up_is_gpu_bound(void **state)
{
	(void)state;
	assert_verdict(VERDICT_GPU_BOUND, GPU_UNKNOWN_PERCENT, seconds(100, 0.3, 0));
	assert_verdict(VERDICT_UNKNOWN, GPU_UNKNOWN_PERCENT, seconds(100, 0.299, 0));
	assert_verdict(VERDICT_GPU_BOUND, GPU_UNKNOWN_PERCENT, seconds(MANY, 0.3, 0.299));
}

/* Several streams, none of which is ever full. */
static void busy_by_nvml_is_gpu_bound(void **state)
{
	(void)state;
	assert_verdict(VERDICT_GPU_BOUND, 80, seconds(MANY, 0, 0));
	assert_verdict(VERDICT_HOST_BOUND, 79, seconds(MANY, 0, 0));
}

/* The verdict if an unwatched process has memory on the GPU, too. */
static void assert_verdict_beside(enum verdict_kind kind, uint32_t busy_percent,
				  struct stretch stretch)
{
	struct load_scene *scene = scene__new();
	struct verdict verdict;

	scene->gpus[0].stranger = 77;
	verdict = judge_stretch(scene, busy_percent, stretch);
	assert_int_equal(verdict.beside.pid, 77);
	assert_string_equal(verdict__word(verdict.kind), verdict__word(kind));
	scene__free(scene);
}

static void another_may_keep_the_gpu_busy(void **state)
{
	(void)state;
	assert_verdict_beside(VERDICT_HOST_BOUND, 100, seconds(MANY, 0.15, 0.1));
	assert_verdict_beside(VERDICT_UNKNOWN, 100, seconds(MANY - 1, 0.15, 0.1));
	assert_verdict_beside(VERDICT_GPU_BOUND, 100, seconds(MANY, 0.151, 0.1));
	assert_verdict_beside(VERDICT_HOST_BOUND, 10, seconds(100, 0, 0.1));
}

static void many_launches_that_are_never_held_up_are_host_bound(void **state)
{
	(void)state;
	assert_verdict(VERDICT_HOST_BOUND, GPU_UNKNOWN_PERCENT, seconds(MANY, 0.15, 0));
	assert_verdict(VERDICT_UNKNOWN, GPU_UNKNOWN_PERCENT, seconds(MANY - 1, 0.15, 0));
	assert_verdict(VERDICT_UNKNOWN, GPU_UNKNOWN_PERCENT, seconds(MANY, 0.151, 0));
	/* It was held up a little, so NVML cannot decide. */
	assert_verdict(VERDICT_UNKNOWN, 10, seconds(MANY, 0.151, 0));
}

static void few_launches_need_nvml(void **state)
{
	(void)state;
	assert_verdict(VERDICT_HOST_BOUND, 50, seconds(100, 0, 0));
	assert_verdict(VERDICT_UNKNOWN, 51, seconds(100, 0, 0));
	assert_verdict(VERDICT_UNKNOWN, GPU_UNKNOWN_PERCENT, seconds(100, 0, 0));
}

static void who_submits_nothing_has_no_work(void **state)
{
	struct stretch copies = seconds(0, 0, 1);

	(void)state;
	assert_verdict(VERDICT_NO_WORK, GPU_UNKNOWN_PERCENT, seconds(0, 0, 1));
	assert_verdict(VERDICT_NO_WORK, 100, seconds(0, 1, 0));
	copies.copies = 1;
	assert_verdict(VERDICT_HOST_BOUND, GPU_UNKNOWN_PERCENT, copies);
}

static void less_than_a_second_says_nothing(void **state)
{
	struct verdict verdict = judge_stretch(
		*state, GPU_UNKNOWN_PERCENT,
		(struct stretch){.ns = NS_PER_S - 1, .launches = MANY, .idle_ns = 900 * MS});

	assert_int_equal(verdict.kind, VERDICT_UNKNOWN);
	/* The shares are reported anyway. */
	assert_int_equal(verdict.window_ns, NS_PER_S - 1);
	assert_true(verdict.idle > 0.89 && verdict.idle < 0.91);
	assert_verdict(VERDICT_HOST_BOUND, GPU_UNKNOWN_PERCENT,
		       (struct stretch){.ns = NS_PER_S, .launches = 1, .idle_ns = 900 * MS});
}

static void without_samples_all_is_unknown(void **state)
{
	struct verdict verdict = judge(*state);

	assert_int_equal(verdict.kind, VERDICT_UNKNOWN);
	assert_int_equal(verdict.window_ns, 0);
	assert_int_equal(verdict.device, -1);
	assert_true(verdict.idle == SHARE_UNKNOWN && verdict.busy == SHARE_UNKNOWN);
}

static void parts_have_numbers_or_are_unknown(void **state)
{
	struct load_scene *scene = *state;
	struct verdict verdict = judge_stretch(scene, 25, seconds(7, 0.125, 0.5));

	assert_int_equal(verdict.window_ns, 10 * NS_PER_S);
	assert_int_equal(verdict.from_ns, SCENE_BEGAN);
	assert_int_equal(verdict.launches, 7);
	assert_int_equal(verdict.device, 0);
	assert_true(verdict.idle == 0.5);
	assert_true(verdict.held == 0.125);
	assert_true(verdict.busy == 0.25);
	/* Some submissions are not seen: nothing is proved, and only NVML's value is left. */
	scene->profile.totals.unproven = 1;
	verdict = judge(scene);
	assert_true(verdict.idle == SHARE_UNKNOWN);
	assert_int_equal(verdict.kind, VERDICT_HOST_BOUND);
}

/* The waits of several threads exceed the elapsed time. */
static void no_share_is_more_than_all(void **state)
{
	struct verdict verdict = judge_stretch(*state, GPU_UNKNOWN_PERCENT, seconds(100, 3, 2));

	assert_true(verdict.held == 1);
	assert_true(verdict.idle == 1);
}

/* --- devices --- */

static void the_busiest_device_decides(void **state)
{
	struct load_scene *scene = *state;
	struct verdict verdict;

	scene->profile.totals.queues[1].launched_epoch = 1;
	sample(scene);
	scene__pass(scene, &(struct stretch){
				   .ns = 10 * NS_PER_S, .launches = 100, .idle_ns = 9 * NS_PER_S});
	verdict = judge(scene);
	assert_int_equal(verdict.device, 1);
	assert_true(verdict.idle == 0);
	assert_int_equal(verdict.kind, VERDICT_UNKNOWN);
	scene->profile.totals.queues[1].idle_ns = 4 * NS_PER_S;
	verdict = judge(scene);
	assert_int_equal(verdict.device, 1);
	assert_true(verdict.idle == 0.4);
	assert_int_equal(verdict.kind, VERDICT_HOST_BOUND);
	/* A device that was never used does not count. */
	scene->profile.totals.queues[1].launched_epoch = 0;
	assert_int_equal(judge(scene).device, 0);
	assert_true(judge(scene).idle == 0.9);
}

static void an_unknown_device_counts_where_no_other_is_known(void **state)
{
	struct load_scene *scene = *state;
	struct device_queue *unknown = &scene->profile.totals.queues[UNKNOWN_DEVICE];

	unknown->launched_epoch = 1;
	sample(scene);
	scene__pass(scene, &(struct stretch){
				   .ns = 10 * NS_PER_S, .launches = 100, .idle_ns = 5 * NS_PER_S});
	assert_int_equal(judge(scene).device, 0);
	assert_true(judge(scene).idle == 0.5);
	scene->profile.totals.queues[0].launched_epoch = 0;
	unknown->idle_ns = 4 * NS_PER_S;
	assert_int_equal(judge(scene).device, UNKNOWN_DEVICE);
	assert_true(judge(scene).idle == 0.4);
}

/* Before that, work from before the process was watched may run. */
static void no_idle_time_of_the_first_seconds_is_unknown(void **state)
{
	struct load_scene *scene = *state;
	struct stretch stretch = {.ns = LOAD_EARLIER_NS - 1, .launches = 100};

	sample(scene);
	scene__pass(scene, &stretch);
	assert_true(judge(scene).idle == SHARE_UNKNOWN);
	assert_true(judge(scene).unfed == SHARE_UNKNOWN);
	scene->process.since_attach = false;
	assert_true(judge(scene).idle == 0);
	scene->process.since_attach = true;
	/* It waited for its GPU, so that its end is known. */
	scene->profile.totals.queues[0].idle_ns = 1;
	assert_true(judge(scene).idle > 0);
	scene->profile.totals.queues[0].idle_ns = 0;
	scene__pass(scene, &(struct stretch){.ns = 1, .launches = 1});
	assert_true(judge(scene).idle == 0);
}

/* --- without a profile --- */

/* Ten seconds of a process, with one share spent in waits and another in synchronous copies. */
static struct verdict judge_totals(uint32_t busy_percent, double held, double blocked, bool sampled)
{
	struct load_scene *scene = scene__new();
	struct verdict verdict;

	scene->process.profile = NULL;
	scene->process.launches = 1;
	scene->process.family_calls[RATE_WAIT].sampled = sampled;
	sample(scene);
	scene->process.launches += MANY;
	scene->process.waits[WAIT_STREAM].ns = (uint64_t)(held * 10e9);
	scene->process.copy_waits.ns = (uint64_t)(blocked * 10e9);
	scene->model.now_ns += 10 * NS_PER_S;
	scene__set_gpus(scene, busy_percent != GPU_UNKNOWN_PERCENT, &busy_percent);
	sample(scene);
	verdict = judge(scene);
	scene__free(scene);
	return verdict;
}

static void waits_and_nvml_decide_without_an_profile(void **state)
{
	struct verdict verdict = judge_totals(GPU_UNKNOWN_PERCENT, 0.7, 0, false);

	(void)state;
	assert_int_equal(verdict.kind, VERDICT_GPU_BOUND);
	assert_false(verdict.profile);
	assert_true(verdict.held == 0.7);
	assert_true(verdict.idle == SHARE_UNKNOWN);
	assert_int_equal(verdict.device, -1);
	assert_int_equal(judge_totals(80, 0, 0, false).kind, VERDICT_GPU_BOUND);
	assert_int_equal(judge_totals(50, 0.15, 0, false).kind, VERDICT_HOST_BOUND);
	assert_int_equal(judge_totals(51, 0, 0, false).kind, VERDICT_UNKNOWN);
	assert_int_equal(judge_totals(50, 0.151, 0, false).kind, VERDICT_UNKNOWN);
}

/* The duration of launches is unknown, and so is whether copies waited. */
static void what_waits_do_not_report_is_unknown_without_an_profile(void **state)
{
	(void)state;
	assert_int_equal(judge_totals(GPU_UNKNOWN_PERCENT, 0, 0, false).kind, VERDICT_UNKNOWN);
	/* A profile may prove that the GPU is idle for the other 30 %, and that decides. */
	assert_int_equal(judge_totals(GPU_UNKNOWN_PERCENT, 0.699, 0, false).kind, VERDICT_UNKNOWN);
	assert_int_equal(judge_totals(20, 0, 0.16, false).kind, VERDICT_UNKNOWN);
	assert_int_equal(judge_totals(20, 0, 0.15, false).kind, VERDICT_HOST_BOUND);
	/* Some calls are not seen. */
	assert_int_equal(judge_totals(20, 0, 0, true).kind, VERDICT_UNKNOWN);
	assert_int_equal(judge_totals(20, 0.9, 0, true).kind, VERDICT_UNKNOWN);
	assert_int_equal(judge_totals(80, 0, 0, true).kind, VERDICT_GPU_BOUND);
}

static void unseen_calls_are_no_want_of_work(void **state)
{
	struct load_scene *scene = *state;

	scene->process.profile = NULL;
	scene->process.launches = 1;
	sample(scene);
	scene->model.now_ns += 10 * NS_PER_S;
	assert_int_equal(judge(scene).kind, VERDICT_NO_WORK);
	scene->process.family_calls[RATE_LAUNCH].sampled = true;
	assert_int_equal(judge(scene).kind, VERDICT_UNKNOWN);
}

/* --- what threads do --- */

static void threads_time_has_parts(void **state)
{
	struct load_scene *scene = *state;
	struct verdict verdict;

	sample(scene);
	scene->thread.time[TIME_MEMORY].ns = 1 * NS_PER_S;
	scene->thread.time[TIME_LAUNCH].ns = 2 * NS_PER_S;
	scene->thread.time[TIME_OTHER].ns = 500 * MS;
	scene__pass(scene, &(struct stretch){
				   .ns = 10 * NS_PER_S, .launches = 10, .waited_ns = 4 * NS_PER_S});
	verdict = judge(scene);
	assert_true(verdict.doing[DOING_MEMORY] == 0.1);
	assert_true(verdict.doing[DOING_LAUNCH] == 0.2);
	assert_true(verdict.doing[DOING_OTHER] == 0.05);
	assert_true(verdict.doing[DOING_COPY] == 0);
	/* The rest belongs to the wait. */
	assert_true(verdict.doing[DOING_OUTSIDE] == 0.25);
	assert_string_equal(verdict__doing(DOING_OUTSIDE), "outside");
	assert_string_equal(verdict__doing(DOING_OTHER), "other");
}

static void launches_that_were_held_up_are_no_doing(void **state)
{
	struct load_scene *scene = *state;
	struct profile_function *function = &scene->functions[0];
	struct verdict verdict;

	scene->profile.function_count = 1;
	function->row = (uint16_t)api__find("cuLaunchKernel", API_NEWEST);
	sample(scene);
	function->time.buckets[time_bucket(5 * US)] = 1000;
	function->time.buckets[time_bucket(50 * MS)] = 100;
	function->time.ns = scene->thread.time[TIME_LAUNCH].ns = 5 * NS_PER_S + 5 * MS;
	scene__pass(scene, &(struct stretch){.ns = 10 * NS_PER_S, .launches = 1100});
	verdict = judge(scene);
	assert_true(verdict.held > 0.48 && verdict.held < 0.51);
	assert_true(verdict.doing[DOING_LAUNCH] < 0.02);
	assert_true(verdict.doing[DOING_OUTSIDE] > 0.49 && verdict.doing[DOING_OUTSIDE] < 0.51);
}

/* --- the latest minute --- */

static void the_latest_minute_counts(void **state)
{
	struct load_scene *scene = *state;
	struct verdict verdict;

	/* A hundred seconds of an idle GPU, then sixty of a busy one. */
	for (int i = 0; i < 100; i++) {
		sample(scene);
		scene__pass(scene,
			    &(struct stretch){.ns = NS_PER_S, .launches = 10, .idle_ns = NS_PER_S});
	}
	assert_int_equal(judge(scene).kind, VERDICT_HOST_BOUND);
	for (int i = 0; i < 60; i++) {
		sample(scene);
		scene__pass(scene, &(struct stretch){
					   .ns = NS_PER_S, .launches = 10, .waited_ns = NS_PER_S});
	}
	verdict = judge(scene);
	assert_int_equal(verdict.kind, VERDICT_GPU_BOUND);
	assert_in_range(verdict.window_ns, 60 * NS_PER_S, 64 * NS_PER_S);
	assert_true(verdict.held > 0.9 && verdict.idle < 0.1);
}

/* --- startup --- */

static void the_start_does_not_count(void **state)
{
	struct load_scene *scene = *state;
	struct verdict verdict;

	scene->process.since_attach = false;
	/* 14 seconds with an idle GPU, then 14 with a busy one. */
	for (int i = 0; i < 14; i++) {
		sample(scene);
		scene__pass(scene,
			    &(struct stretch){.ns = NS_PER_S, .launches = 10, .idle_ns = NS_PER_S});
	}
	for (int i = 0; i < 14; i++) {
		sample(scene);
		scene__pass(scene, &(struct stretch){.ns = NS_PER_S,
						     .launches = 10,
						     .waited_ns = NS_PER_S * 9 / 10});
	}
	verdict = judge(scene);
	assert_int_equal(verdict.kind, VERDICT_GPU_BOUND);
	assert_int_equal(verdict.window_ns, 14 * NS_PER_S);
	assert_int_equal(verdict.from_ns, SCENE_BEGAN + 14 * NS_PER_S);
	assert_true(verdict.idle == 0);
	/* It had begun before the probes were attached: nothing is proved for two seconds. */
	scene->process.since_attach = true;
	verdict = judge(scene);
	assert_int_equal(verdict.kind, VERDICT_HOST_BOUND);
	assert_int_equal(verdict.window_ns, 26 * NS_PER_S);
	assert_true(verdict.idle == 12.0 / 26);
}

static void an_ended_process_is_judged_up_to_its_end(void **state)
{
	struct load_scene *scene = *state;
	struct verdict verdict = judge_stretch(scene, GPU_UNKNOWN_PERCENT, seconds(100, 0, 0.5));

	scene->process.ended_ns = scene->model.now_ns;
	scene->model.now_ns += 100 * NS_PER_S;
	verdict = judge(scene);
	assert_int_equal(verdict.kind, VERDICT_HOST_BOUND);
	assert_int_equal(verdict.window_ns, 10 * NS_PER_S);
	assert_int_equal(verdict.from_ns, SCENE_BEGAN);
}

/*
 * Ten seconds: for five the GPU was proved idle, and for three the program was stopped, in this
 * class.
 */
static enum verdict_kind kind_of_stopped(enum host_class class)
{
	struct host_location locations[] = {
		{.activity = ACTIVITY_OTHER, .class = HOST_WAITS, .ns = 7 * NS_PER_S},
		{.activity = ACTIVITY_STOPPED, .class = class, .ns = 3 * NS_PER_S}};
	struct host_thread thread = {.submits = true,
				     .watched_ns = 10 * NS_PER_S,
				     .locations = locations,
				     .location_count = 2};
	struct host_process host = {.threads = &thread, .thread_count = 1};
	struct load_scene *scene = scene__new();
	enum verdict_kind kind;

	scene->process.host = &host;
	kind = judge_stretch(scene, GPU_UNKNOWN_PERCENT, seconds(100, 0.5, 0.5)).kind;
	scene->process.host = NULL;
	scene__free(scene);
	return kind;
}

/* Between two waits the GPU has nothing to do then, which is not the program's fault. */
static void a_stopped_program_leaves_the_gpu_idle(void **state)
{
	(void)state;
	assert_string_equal(verdict__word(kind_of_stopped(HOST_OUTSIDE)),
			    verdict__word(VERDICT_GPU_BOUND));
	/* Inside a wait the GPU's work was done: its idle time was elsewhere. */
	assert_string_equal(verdict__word(kind_of_stopped(HOST_WAITS)),
			    verdict__word(VERDICT_HOST_BOUND));
}

static void words_of_json(void **state)
{
	(void)state;
	assert_string_equal(verdict__word(VERDICT_UNKNOWN), "not known");
	assert_string_equal(verdict__word(VERDICT_GPU_BOUND), "GPU-bound");
	assert_string_equal(verdict__word(VERDICT_HOST_BOUND), "host-bound");
	assert_string_equal(verdict__word(VERDICT_NO_WORK), "no work");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_gpus_wait_for_the_host),
		cmocka_unit_test(held_up_is_gpu_bound),
		cmocka_unit_test(busy_by_nvml_is_gpu_bound),
		cmocka_unit_test(another_may_keep_the_gpu_busy),
		cmocka_unit_test(many_launches_that_are_never_held_up_are_host_bound),
		cmocka_unit_test(few_launches_need_nvml),
		cmocka_unit_test(who_submits_nothing_has_no_work),
		cmocka_unit_test_setup_teardown(less_than_a_second_says_nothing, begin, end),
		cmocka_unit_test_setup_teardown(without_samples_all_is_unknown, begin, end),
		cmocka_unit_test_setup_teardown(parts_have_numbers_or_are_unknown, begin, end),
		cmocka_unit_test_setup_teardown(no_share_is_more_than_all, begin, end),
		cmocka_unit_test_setup_teardown(the_busiest_device_decides, begin, end),
		cmocka_unit_test_setup_teardown(an_unknown_device_counts_where_no_other_is_known,
						begin, end),
		cmocka_unit_test_setup_teardown(no_idle_time_of_the_first_seconds_is_unknown, begin,
						end),
		cmocka_unit_test_setup_teardown(the_start_does_not_count, begin, end),
		cmocka_unit_test_setup_teardown(an_ended_process_is_judged_up_to_its_end, begin,
						end),
		cmocka_unit_test(waits_and_nvml_decide_without_an_profile),
		cmocka_unit_test(what_waits_do_not_report_is_unknown_without_an_profile),
		cmocka_unit_test_setup_teardown(unseen_calls_are_no_want_of_work, begin, end),
		cmocka_unit_test_setup_teardown(threads_time_has_parts, begin, end),
		cmocka_unit_test_setup_teardown(launches_that_were_held_up_are_no_doing, begin,
						end),
		cmocka_unit_test_setup_teardown(the_latest_minute_counts, begin, end),
		cmocka_unit_test(a_stopped_program_leaves_the_gpu_idle),
		cmocka_unit_test(words_of_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
