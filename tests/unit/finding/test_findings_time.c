// SPDX-License-Identifier: BSD-2-Clause
// Findings about where threads wait and what else takes their time: each with similar healthy
// cases, which give none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding_launches.h"

/* --- short waits --- */

static void sync_after_every_launch(void **state)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];
	const uint16_t row = (uint16_t)api__find("cuStreamSynchronize", API_NEWEST);
	const struct finding *finding;

	(void)state;
	thread->launches = 20000;
	thread->single_waits = totals(20000, 4 * NS_PER_S);
	thread->time[TIME_WAIT] = thread->single_waits;
	/* The site with the most time has long waits, such as another thread's. */
	c->sites[0] = (struct call_site){
		.stack = &elsewhere,
		.kind = SITE_WAIT,
		.row = row,
		.calls = 5,
		.amount = 5 * NS_PER_S,
	};
	c->sites[1] = (struct call_site){
		.stack = &somewhere,
		.kind = SITE_WAIT,
		.row = row,
		.calls = 20000,
		.amount = 4 * NS_PER_S,
	};
	c->process.site_count = 2;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "sync-after-every-launch");
	assert_int_equal(finding->cost_ns, 4 * NS_PER_S);
	assert_true(finding__value(finding, "waits") == 20000);
	assert_true(finding__value(finding, "mean") == 200 * US);
	assert_int_equal(finding->saving_ns, 36 * NS_PER_S / 10);
	assert_ptr_equal(finding->stack, &somewhere);
	/* If the thread does little else, little can overlap: only the waits' own cost counts. */
	thread->latest_ns = thread->first_ns + 4 * NS_PER_S + 100 * NS_PER_S / 1000;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, 100 * NS_PER_S / 1000 + 20000 * EMPTY_WAIT_NS);
	case__free(c);
}

/*
 * Waits before which launches may have been missed are split like the others: here half of them
 * count as single ones.
 */
static void waits_after_unwatched_launches(void **state)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];

	(void)state;
	thread->launches = 5000;
	thread->single_waits = totals(5000, 2 * NS_PER_S / 5);
	thread->batch_waits = totals(5000, NS_PER_S / 5);
	thread->time[TIME_WAIT] = totals(40000, 12 * NS_PER_S / 5);
	assert_null((case__detect(c), case__find(c, "sync-after-every-launch")));
	thread->blind_waits = totals(30000, 9 * NS_PER_S / 5);
	c->process.family_calls[RATE_LAUNCH].sampled = true;
	case__detect(c);
	assert_true(finding__value(case__find(c, "sync-after-every-launch"), "waits") == 20000);
	assert_int_equal(case__find(c, "sync-after-every-launch")->cost_ns, 8 * NS_PER_S / 5);
	case__free(c);
}

static void busy_gpus_are_waited_for(void **state)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];

	(void)state;
	/* Few and long: the GPU is busy. */
	thread->single_waits = totals(200, 9 * NS_PER_S);
	assert_int_equal(case__detect(c), 0);
	thread->single_waits = totals(0, 0);
	thread->batch_waits = totals(200, 9 * NS_PER_S);
	assert_int_equal(case__detect(c), 0);
	/* Short, but almost no time, or almost no waits. */
	thread->batch_waits = totals(0, 0);
	thread->single_waits = totals(20000, NS_PER_S * 9 / 10);
	assert_int_equal(case__detect(c), 0);
	thread->single_waits = totals(0, 0);
	thread->batch_waits = totals(20000, NS_PER_S * 19 / 10);
	assert_int_equal(case__detect(c), 0);
	c->model.now_ns = BEGAN + NS_PER_S / 100;
	thread->batch_waits = totals(99, NS_PER_S / 200);
	thread->single_waits = totals(99, NS_PER_S / 200);
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

static void sync_stall(void **state)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];
	const struct finding *finding;

	(void)state;
	thread->launches = 50000;
	thread->batch_waits = totals(10000, 2 * NS_PER_S);
	thread->bare_waits = totals(5000, NS_PER_S);
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "sync-stall");
	assert_int_equal(finding->cost_ns, 3 * NS_PER_S);
	assert_true(finding->share == 0.3);
	assert_true(finding__value(finding, "waits") == 15000);
	assert_true(finding__value(finding, "without_launch") == 5000);
	assert_true(finding__value(finding, "after_several_ns") == 2e9);
	/*
	 * At most once in 16 launches; launches that were waited for one by one are a different
	 * finding.
	 */
	thread->launches = 16 * 15000;
	assert_int_equal(case__detect(c), 1);
	thread->launches = 17 * 15000;
	assert_int_equal(case__detect(c), 0);
	thread->single_waits = totals(15000, 1);
	assert_int_equal(case__detect(c), 1);
	case__free(c);
}

/* --- threads --- */

static void many_threads_are_four_findings(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	for (int i = 0; i < 6; i++) {
		if (i)
			case__add_thread(c);
		c->threads[i].single_waits = totals(20000, (uint64_t)(2 + i * 5 % 6) * NS_PER_S);
	}
	/* It has only just begun. */
	case__add_thread(c);
	c->threads[6].start_ns = c->threads[6].first_ns = c->model.now_ns;
	c->threads[6].single_waits = totals(200, NS_PER_S);
	assert_int_equal(case__detect(c), 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(c->list.items[i].cost_ns, (7 - (uint64_t)i) * NS_PER_S);
		assert_true(finding__value(&c->list.items[i], "threads") == 6);
	}
	assert_int_equal(c->list.items[0].tid, 101);
	case__free(c);
}

/*
 * Shares refer to the time from the thread's first call, which may come before the last probe, to
 * its latest call.
 */
static void shares_are_of_active_times(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	c->threads[0].first_ns = BEGAN + 5 * NS_PER_S;
	c->threads[0].latest_ns = BEGAN + 9 * NS_PER_S;
	c->threads[0].single_waits = totals(20000, 2 * NS_PER_S);
	assert_int_equal(case__detect(c), 1);
	assert_true(c->list.items[0].share == 0.5);
	c->threads[0].first_ns = BEGAN - 5 * NS_PER_S;
	c->threads[0].latest_ns = BEGAN + 11 * NS_PER_S;
	assert_int_equal(case__detect(c), 1);
	assert_true(c->list.items[0].share == 0.125);
	case__free(c);
}

/* --- implicit waits --- */

static void implicit_sync(void **state)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];
	const struct finding *finding;

	(void)state;
	thread->launches = 3000;
	thread->implicit[IMPLICIT_FREE] = totals(1000, NS_PER_S);
	thread->implicit[IMPLICIT_COPY] = totals(500, NS_PER_S / 2);
	/* In stream order, or of another kind: neither is the call that waited. */
	case__add_durations(&c->functions[0], "cuMemcpyDtoHAsync_v2", 1000, 5000 * US);
	case__add_durations(&c->functions[1], "cuMemFreeAsync", 1000, 4000 * US);
	case__add_durations(&c->functions[2], "cuMemFree_v2", 1000, 1000 * US);
	c->profile.function_count = 3;
	c->sites[0] = (struct call_site){
		.stack = &somewhere,
		.kind = SITE_WAIT,
		.calls = 1,
		.amount = 1,
		.row = c->functions[2].row,
	};
	c->process.site_count = 1;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "implicit-sync");
	assert_string_equal(finding->subject, "frees, mostly cuMemFree_v2");
	assert_int_equal(finding->cost_ns, NS_PER_S * 3 / 2);
	assert_true(finding__value(finding, "frees") == 1000);
	assert_true(finding__value(finding, "copy_ns") == 5e8);
	assert_int_equal(finding->saving_ns, NS_PER_S * 3 / 2);
	assert_ptr_equal(finding->stack, &somewhere);
	/* Loads cost time, but loading elsewhere saves nothing. */
	thread->implicit[IMPLICIT_LOAD] = totals(50, NS_PER_S / 4);
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.items[0].cost_ns, NS_PER_S * 7 / 4);
	assert_int_equal(c->list.items[0].saving_ns, NS_PER_S * 3 / 2);
	case__free(c);
}

/* For each kind, the finding names the waiting function that took most time. */
static void implicit_waits_have_their_functions(void **state)
{
	static const struct {
		enum implicit_wait cause;
		const char *function, *subject;
	} cases[] = {
		{IMPLICIT_COPY, "cuMemcpyDtoH_v2", "synchronous copies, mostly cuMemcpyDtoH_v2"},
		{IMPLICIT_SET, "cuMemsetD8_v2", "synchronous sets, mostly cuMemsetD8_v2"},
		{IMPLICIT_FREE, "cuMemFree_v2", "frees, mostly cuMemFree_v2"},
		{IMPLICIT_LOAD, "cuModuleLoadData", "loads of modules, mostly cuModuleLoadData"},
		{IMPLICIT_LOAD, "cuLibraryLoadData", "loads of modules, mostly cuLibraryLoadData"},
	};
	static const char *const others[] = {"cuMemcpyDtoHAsync_v2", "cuMemsetD8Async",
					     "cuMemFreeAsync", "cuStreamCreate"};
	const size_t other_count = sizeof(others) / sizeof(*others);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct finding_case *c = case__new();

		for (size_t other = 0; other < other_count; other++)
			case__add_durations(&c->functions[other], others[other], 1000,
					    (5000 - 100 * other) * US);
		case__add_durations(&c->functions[other_count], cases[i].function, 1000, 1000 * US);
		c->profile.function_count = other_count + 1;
		c->threads[0].implicit[cases[i].cause] = totals(1000, NS_PER_S);
		assert_int_equal(case__detect(c), 1);
		assert_string_equal(c->list.items[0].subject, cases[i].subject);
		case__free(c);
	}
}

/*
 * A thread that is as slow as its GPU, and reads a result now and then: it has almost nothing to do
 * meanwhile.
 */
static void implicit_waits_that_save_nothing(void **state)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];

	(void)state;
	thread->implicit[IMPLICIT_COPY] =
		totals(10, thread->latest_ns - thread->first_ns - NS_PER_S / 4);
	assert_int_equal(case__detect(c), 0);
	thread->implicit[IMPLICIT_COPY] =
		totals(10, thread->latest_ns - thread->first_ns - NS_PER_S);
	assert_int_equal(case__detect(c), 1);
	/* Other waits use up that remaining time. */
	thread->time[TIME_LAUNCH].calls = 1;
	thread->time[TIME_WAIT] = totals(10, thread->latest_ns - thread->first_ns - NS_PER_S / 4);
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

static void few_implicit_waits(void **state)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];

	(void)state;
	thread->implicit[IMPLICIT_COPY] = totals(9, 5 * NS_PER_S);
	assert_int_equal(case__detect(c), 0);
	thread->implicit[IMPLICIT_COPY] = totals(9000, NS_PER_S * 4 / 10);
	assert_int_equal(case__detect(c), 0);
	/* Nothing was launched after them. */
	thread->implicit[IMPLICIT_COPY] = totals(0, 0);
	thread->pending[IMPLICIT_COPY] = totals(9000, 5 * NS_PER_S);
	assert_int_equal(case__detect(c), 0);
	/* First launches without an observed load are not loads. */
	thread->implicit[IMPLICIT_FIRST_LAUNCH] = totals(20, NS_PER_S);
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].subject, "slow first launches of kernels");
	assert_non_null(strstr(c->list.items[0].evidence,
			       "slow first launches of kernels 1.0 s in 20 calls"));
	assert_null(strstr(c->list.items[0].evidence, "load"));
	assert_false(c->list.items[0].has_saving);
	case__free(c);
}

/* --- idle gaps --- */

static void idle_gaps(void **state)
{
	struct finding_case *c = case__new();
	struct thread_profile *thread = &c->threads[0];
	const struct finding *finding;

	(void)state;
	thread->idle_gaps = 20;
	thread->idle_ns = 4 * NS_PER_S;
	thread->idle_max_ns = NS_PER_S;
	thread->idle_inside_ns = NS_PER_S / 2;
	thread->idle_stack = 77;
	c->stacks[0] = (struct profile_stack){.id = 76, .stack = &elsewhere};
	c->stacks[1] = (struct profile_stack){.id = 77, .stack = &somewhere};
	c->profile.stack_count = 2;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "idle-gaps");
	assert_int_equal(finding->cost_ns, 4 * NS_PER_S);
	assert_true(finding__value(finding, "host_ns") == 3.5e9);
	assert_non_null(strstr(finding->evidence, "a data loader that cannot keep up"));
	assert_ptr_equal(finding->stack, &somewhere);
	/* The first idle time began before the watched one. */
	thread->idle_ns = 40 * NS_PER_S;
	assert_int_equal(case__detect(c), 1);
	assert_non_null(strstr(c->list.items[0].evidence, ", 100.0 % of the thread's time;"));
	assert_true(c->list.items[0].share == 1);
	thread->idle_ns = 4 * NS_PER_S;
	/* Inside CUDA calls it is no data loader. */
	thread->idle_inside_ns = 3 * NS_PER_S;
	assert_int_equal(case__detect(c), 1);
	assert_null(strstr(c->list.items[0].evidence, "data loader"));
	thread->idle_gaps = 2;
	assert_int_equal(case__detect(c), 0);
	thread->idle_gaps = 20;
	thread->idle_ns = NS_PER_S * 9 / 10;
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

/* --- the legacy default stream --- */

static void default_stream(void **state)
{
	struct finding_case *c = case__new();
	const struct finding *finding;

	(void)state;
	for (int i = 0; i < 3; i++) {
		if (i)
			case__add_thread(c);
		c->threads[i].launches = 1000;
		c->threads[i].legacy_launches = 1000;
		c->threads[i].legacy_waits = totals(10, NS_PER_S);
	}
	/* One stream for all threads, and none blocks another. */
	assert_int_equal(case__detect(c), 0);
	c->threads[0].legacy_behind = 300;
	c->threads[1].legacy_behind = 300;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "default-stream");
	assert_int_equal(finding->tid, 0);
	/* The waits of the two that overlap. */
	assert_int_equal(finding->cost_ns, 2 * NS_PER_S);
	assert_int_equal(finding->saving_ns, NS_PER_S);
	assert_true(finding__value(finding, "met_share") == 0.3);
	assert_true(finding__value(finding, "threads") == 2);
	/* Three overlap, but at most two at a time: only two could run side by side. */
	c->threads[2].legacy_behind = 300;
	c->threads[2].first_ns = c->threads[1].latest_ns = BEGAN + 5 * NS_PER_S;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, 3 * NS_PER_S / 2);
	c->threads[1].latest_ns = BEGAN + 6 * NS_PER_S;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, 2 * NS_PER_S);
	c->threads[2].legacy_behind = 0;
	/* Too small a share of their launches, or too few. */
	c->threads[0].launches = 10000;
	assert_int_equal(case__detect(c), 0);
	c->threads[0].launches = c->threads[1].launches = 100;
	c->threads[0].legacy_behind = c->threads[1].legacy_behind = 49;
	assert_int_equal(case__detect(c), 0);
	/* One thread, two streams. */
	c->threads[1].legacy_behind = 0;
	c->threads[0].legacy_crossings = 90;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, NS_PER_S / 2);
	case__free(c);
}

/* The watched launches are a sample: their share counts, and each stands for ten. */
static void default_stream_by_a_sample(void **state)
{
	struct finding_case *c = case__new();
	struct thread_missed missed = {.launches = 9000};
	const uint64_t kind = 1ull << finding_kind__index(finding_kind__find("default-stream"));

	(void)state;
	c->threads[0].launches = 1000;
	c->threads[0].legacy_launches = 500;
	c->threads[0].legacy_crossings = 300;
	c->threads[0].legacy_waits = totals(10, NS_PER_S);
	c->profile.missed = &missed;
	c->profile.missed_count = 1;
	c->process.family_calls[RATE_LAUNCH].sampled = true;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.sampled_kinds & kind, 0);
	assert_true(finding__value(&c->list.items[0], "launches") == 10000);
	assert_true(finding__value(&c->list.items[0], "between_streams") == 3000);
	assert_true(finding__value(&c->list.items[0], "met_share") == 0.3);
	assert_int_equal(c->list.items[0].cost_ns, NS_PER_S);
	/* Fewer than a hundred were watched. */
	c->threads[0].legacy_crossings = 99;
	c->threads[0].launches = 200;
	assert_int_equal(case__detect(c), 0);
	/* Waits have to be complete. */
	c->threads[0].legacy_crossings = 300;
	c->process.family_calls[RATE_WAIT].sampled = true;
	assert_int_equal(case__detect(c), 0);
	assert_int_equal(c->list.sampled_kinds & kind, kind);
	case__free(c);
}

/* --- getters --- */

static void chatty_getters(void **state)
{
	struct finding_case *c = case__new();
	const struct finding *finding;

	(void)state;
	case__add_durations(&c->functions[0], "cuPointerGetAttribute", 400000, US);
	case__add_durations(&c->functions[1], "cudaGetDevice", 700000, US / 2);
	/* These query errors, or change something. */
	case__add_durations(&c->functions[2], "cudaGetLastError", 10000000, US / 10);
	case__add_durations(&c->functions[3], "cudaSetDevice", 10000000, US / 10);
	c->profile.function_count = 4;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "chatty-getters");
	assert_int_equal(finding->severity, SEVERITY_INFO);
	assert_string_equal(finding->subject, "cudaGetDevice");
	assert_int_equal(finding->cost_ns, 750000 * US);
	assert_true(finding__value(finding, "calls") == 1100000);
	assert_true(finding__value(finding, "rate") == 110000);
	assert_string_equal(
		finding->evidence,
		"1.10 M getter calls, 110 k/s, took 750 ms, 7.5 % of the time; 700 k of "
		"them "
		"cudaGetDevice, 500 ns each, including up to about a microsecond for the probe");
	/* 49,000 a second. */
	c->functions[0].time.calls = 90000;
	c->functions[1].time.calls = 400000;
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

static void nothing_is_no_finding(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	assert_int_equal(case__detect(c), 0);
	c->profile.thread_count = 0;
	assert_int_equal(case__detect(c), 0);
	c->process.profile = NULL;
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sync_after_every_launch),
		cmocka_unit_test(waits_after_unwatched_launches),
		cmocka_unit_test(busy_gpus_are_waited_for),
		cmocka_unit_test(sync_stall),
		cmocka_unit_test(many_threads_are_four_findings),
		cmocka_unit_test(shares_are_of_active_times),
		cmocka_unit_test(implicit_sync),
		cmocka_unit_test(implicit_waits_have_their_functions),
		cmocka_unit_test(implicit_waits_that_save_nothing),
		cmocka_unit_test(few_implicit_waits),
		cmocka_unit_test(idle_gaps),
		cmocka_unit_test(default_stream),
		cmocka_unit_test(default_stream_by_a_sample),
		cmocka_unit_test(chatty_getters),
		cmocka_unit_test(nothing_is_no_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
