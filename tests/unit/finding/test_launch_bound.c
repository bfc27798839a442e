// SPDX-License-Identifier: BSD-2-Clause
// The finding launch-bound, with similar healthy cases, which give none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding_launches.h"
#include "model/steady.h"

/*
 * 1.2 million launches of 4 us with 2 us between them, back to back, of three kernels: 7.2 of 10 s.
 */
static struct finding_case *launching(void)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];

	name_kernel(&c->process, 'a', "gemm");
	name_kernel(&c->process, 'b', "bias");
	name_kernel(&c->process, 'c', "relu");
	repeats(&c->process, thread, "abc");
	thread->launches = 1200000;
	thread->chained = totals(1200000, 1200000 * 4 * US);
	thread->chained_gap_ns = 1200000 * 2 * US;
	thread->gap_count = 1200000;
	thread->gap_ns = thread->chained_gap_ns;
	thread->gaps[time_bucket(2 * US)] = 1200000;
	thread->time[TIME_LAUNCH] = thread->chained;
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1200000, 4 * US);
	c->profile.function_count = 1;
	return c;
}

static void end(struct finding_case *c)
{
	kernel_table__free(c->process.kernel_table);
	process_steps__free(c->process.steps);
	case__free(c);
}

static void launch_bound(void **state)
{
	struct finding_case *c = launching();
	const struct finding *finding;
	double saving;

	(void)state;
	c->sites[0] = (struct call_site){
		.stack = &elsewhere, .kind = SITE_LAUNCH, .calls = 9, .kernel_label = "other"};
	c->sites[1] = (struct call_site){
		.stack = &somewhere, .kind = SITE_LAUNCH, .calls = 8, .kernel_label = "bias"};
	c->process.site_count = 2;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "launch-bound");
	assert_int_equal(finding->pid, 100);
	assert_int_equal(finding->tid, 100);
	assert_true(finding->cost_ns == 4800000 * US);
	assert_true(finding->share > 0.479 && finding->share < 0.481);
	assert_non_null(strstr(finding->subject, "3 launches: "));
	assert_non_null(strstr(finding->subject, "relu"));
	assert_ptr_equal(finding->stack, &somewhere);
	assert_true(finding__value(finding, "sequence_launches") == 3);
	assert_true(finding__value(finding, "launch_rate") == 120000);
	assert_true(finding__value(finding, "median_gap") > 1900 &&
		    finding__value(finding, "median_gap") < 2100);
	/* Launches and gaps are saved, except 2 us per kernel and 10 us for each 33 of them. */
	saving = 1200000 * 6e3 - 1200000 * 2e3 - 1200000 / 32 * 10e3;
	assert_true(finding->has_saving);
	assert_true((double)finding->saving_ns > 0.99 * saving &&
		    (double)finding->saving_ns < 1.01 * saving);
	end(c);
}

static void launch_bound_without_a_sequence(void **state)
{
	struct finding_case *c = launching();

	(void)state;
	c->process.steps->threads[0]->phase_count = 0;
	assert_int_equal(case__detect(c), 1);
	assert_null(c->list.items[0].subject);
	assert_false(c->list.items[0].has_saving);
	end(c);
	/* The launches are of graphs already: no advice. */
	c = launching();
	process_steps__free(c->process.steps);
	c->process.steps = NULL;
	repeats(&c->process, &c->threads[0], "g");
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].subject, "1 launch: (graph)");
	assert_false(c->list.items[0].has_saving);
	end(c);
}

/* One in four launches was watched: the finding covers all, assuming the others were alike. */
static void launches_that_were_not_watched_count(void **state)
{
	struct finding_case *c = launching();
	struct thread_profile *thread = &c->threads[0];
	struct thread_missed missed = {.launches = 900000};
	double all;

	(void)state;
	assert_int_equal(case__detect(c), 1);
	all = (double)c->list.items[0].cost_ns;
	thread->launches /= 4;
	thread->chained.calls /= 4;
	thread->chained.ns /= 4;
	thread->chained_gap_ns /= 4;
	assert_int_equal(case__detect(c), 0);
	c->profile.missed = &missed;
	c->profile.missed_count = 1;
	c->process.family_calls[RATE_LAUNCH].sampled = true;
	assert_int_equal(case__detect(c), 1);
	assert_true(finding__value(&c->list.items[0], "launches") == 1200000);
	assert_true((double)c->list.items[0].cost_ns > 0.99 * all &&
		    (double)c->list.items[0].cost_ns < 1.01 * all);
	end(c);
}

/*
 * What a thread did before its first call does not reduce the finding: seconds of imports, for
 * example.
 */
static void a_late_start_is_no_excuse(void **state)
{
	struct finding_case *c = launching();
	struct thread_profile *thread = &c->threads[0];

	(void)state;
	thread->chained = totals(300000, 300000 * 4 * US);
	thread->chained_gap_ns = 300000 * 2 * US;
	thread->launches = 300000;
	thread->first_ns = BEGAN + 7 * NS_PER_S;
	assert_int_equal(case__detect(c), 1);
	assert_true(c->list.items[0].share > 0.39 && c->list.items[0].share < 0.41);
	thread->first_ns = BEGAN;
	assert_int_equal(case__detect(c), 0);
	end(c);
}

/* The GPU has enough work: launches block until there is room. */
static void full_queues_are_not_launch_bound(void **state)
{
	struct finding_case *c = launching();

	(void)state;
	/* As long as kernels of 60 us, and most of them. */
	c->functions[0].time = (struct duration_record){0};
	case__add_durations(&c->functions[0], "cuLaunchKernel", 500000, 4 * US);
	case__add_durations(&c->functions[0], "cuLaunchKernel", 700000, 60 * US);
	assert_int_equal(case__detect(c), 0);
	end(c);
	/* The queue was full before the probes came, so no launch was seen that found room. */
	c = launching();
	c->functions[0].time = (struct duration_record){0};
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1200000, 60 * US);
	assert_int_equal(case__detect(c), 0);
	end(c);
	/* Shorter ones: the first thousand, which found room, were many times as fast. */
	c = launching();
	c->functions[0].time = (struct duration_record){0};
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1000, 2 * US);
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1000000, 12 * US);
	assert_int_equal(case__detect(c), 0);
	/* If all launches are that slow, the CPU is the reason. */
	c->functions[0].time = (struct duration_record){0};
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1001000, 12 * US);
	assert_int_equal(case__detect(c), 1);
	end(c);
	/* Another thread's launches are fast; this one's are slow, for 120,000 launches. */
	c = launching();
	c->threads[0].launches = 120000;
	c->threads[0].chained.calls = 45000;
	assert_int_equal(case__detect(c), 0);
	end(c);
}

static void waits_are_not_launch_bound(void **state)
{
	struct finding_case *c = launching();

	(void)state;
	c->threads[0].time[TIME_WAIT] = totals(10, 21 * WATCHED / 100);
	c->threads[0].batch_waits = c->threads[0].time[TIME_WAIT];
	assert_int_equal(case__detect(c), 0);
	end(c);
	/* Blocking calls count as well. */
	c = launching();
	c->threads[0].pending[IMPLICIT_COPY] = totals(10, 21 * WATCHED / 100);
	assert_int_equal(case__detect(c), 0);
	end(c);
}

static void few_launches_are_not_launch_bound(void **state)
{
	struct finding_case *c = launching();

	(void)state;
	/* 9,000 a second. */
	c->threads[0].launches = 90000;
	assert_int_equal(case__detect(c), 0);
	end(c);
	c = launching();
	/* Enough, but not back to back. */
	c->threads[0].chained = totals(600000, 600000 * 4 * US);
	c->threads[0].chained_gap_ns = 600000 * 2 * US;
	assert_int_equal(case__detect(c), 0);
	end(c);
}

/* The same rate and shares as launching(), but the thread was active only for `active_ns`. */
static int findings_of_active(uint64_t active_ns)
{
	struct finding_case *c = launching();
	struct thread_profile *thread = &c->threads[0];
	uint64_t launches = active_ns / (8 * US);
	int count;

	thread->latest_ns = thread->first_ns + active_ns;
	thread->launches = launches;
	thread->chained = totals(launches, launches * 4 * US);
	thread->chained_gap_ns = launches * 2 * US;
	thread->time[TIME_LAUNCH] = thread->chained;
	count = case__detect(c);
	end(c);
	return count;
}

static void short_lives_are_not_launch_bound(void **state)
{
	(void)state;
	assert_int_equal(findings_of_active(101 * NS_PER_MS), 1);
	assert_int_equal(findings_of_active(99 * NS_PER_MS), 0);
}

/* The same launches, in the steady time of a GPU that NVML calls busy for this share. */
static bool is_found_beside(uint32_t busy_percent)
{
	struct gpu gpu = {.busy_percent = busy_percent};
	struct process_gpu used = {.gpu = 0};
	struct finding_case *c = launching();
	struct thread_profile launched = c->threads[0];
	bool found;

	c->model.gpus = &gpu;
	c->model.gpu_count = 1;
	c->process.gpus = &used;
	c->process.gpu_count = 1;
	c->profile.totals.queues[0].launched_epoch = 1;
	c->threads[0] = (struct thread_profile){
		.tid = launched.tid, .start_ns = BEGAN, .first_ns = BEGAN, .latest_ns = BEGAN};
	c->threads[0].time[TIME_LAUNCH].calls = 1;
	c->model.now_ns = BEGAN + NS_PER_S;
	assert_int_equal(steady__follow(&c->model, &c->process), 0);
	c->threads[0] = launched;
	c->model.now_ns = BEGAN + WATCHED;
	assert_int_equal(steady__follow(&c->model, &c->process), 0);
	assert_true(case__detect(c) != SIZE_MAX);
	found = case__find(c, "launch-bound");
	steady__free(c->profile.steady);
	end(c);
	return found;
}

/* Launches that are not watched may have met a full queue. */
static void a_gpu_with_enough_work_is_not_launch_bound(void **state)
{
	(void)state;
	assert_true(is_found_beside(30));
	assert_false(is_found_beside(98));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launch_bound),
		cmocka_unit_test(launch_bound_without_a_sequence),
		cmocka_unit_test(launches_that_were_not_watched_count),
		cmocka_unit_test(a_late_start_is_no_excuse),
		cmocka_unit_test(full_queues_are_not_launch_bound),
		cmocka_unit_test(waits_are_not_launch_bound),
		cmocka_unit_test(few_launches_are_not_launch_bound),
		cmocka_unit_test(short_lives_are_not_launch_bound),
		cmocka_unit_test(a_gpu_with_enough_work_is_not_launch_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
