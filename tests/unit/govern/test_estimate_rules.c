// SPDX-License-Identifier: BSD-2-Clause
// Estimates of missed calls: the rules that distribute them, one by one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "govern/estimate_counters.h"
#include "estimate_scene.h"

/* --- kernels and tallies --- */

/* Half of the calls were nested, and now none is: that shows soon, but not at once. */
static void the_share_of_nested_calls_is_of_late(void **state)
{
	struct scene *scene = begin(true);

	(void)state;
	scene->launches[0] = 1000;
	scene->seen[RATE_LAUNCH] = 2000;
	scene->missed[RATE_LAUNCH] = 1000;
	read_maps(scene);
	assert_int_equal(scene->process.launches, 1000 + 500);
	scene->launches[0] += 1000;
	scene->seen[RATE_LAUNCH] += 1000;
	scene->missed[RATE_LAUNCH] += 1000;
	read_maps(scene);
	/* (937.5 + 1000) / (1875 + 1000) */
	assert_int_equal(scene->process.launches, 2000 + 500 + 673);
	end(scene);
}

/* Calls counted before their entries are known still belong to those entries. */
static void counts_may_come_before_entries(void **state)
{
	struct scene *scene = begin(true);

	(void)state;
	scene->launches[0] = scene->seen[RATE_LAUNCH] = 1000;
	read_maps(scene);
	scene->launches[0] = 2000;
	read_maps(scene);
	scene->seen[RATE_LAUNCH] = 2000;
	scene->missed[RATE_LAUNCH] = 1000;
	read_maps(scene);
	assert_int_equal(scene->process.launches, 2000 + 967); /* 1875 / 1937.5 */
	end(scene);
}

static void without_entries_each_call_counts(void **state)
{
	struct scene *scene = begin(true);

	(void)state;
	scene->launches[0] = scene->missed[RATE_LAUNCH] = 10;
	read_maps(scene);
	assert_int_equal(scene->process.launches, 20);
	end(scene);
}

/* Proportions fade with readings in which calls were seen, not while nothing happens. */
static void idle_readings_change_no_proportions(void **state)
{
	struct scene *scene = begin(false);

	(void)state;
	scene->launches[0] = 1000;
	scene->launches[1] = 0;
	for (int i = 0; i < 6; i++)
		read_maps(scene);
	scene->launches[1] = 1000;
	scene->missed[RATE_LAUNCH] = 1000;
	read_maps(scene);
	assert_int_equal(kernel_at(scene, "kernel_a")->missed, 200);
	assert_int_equal(kernel_at(scene, "kernel_b")->missed, 800);
	end(scene);
}

/* Some of the missed calls may have failed. */
static void failing_calls_have_their_part(void **state)
{
	struct scene *scene = begin(false);
	struct tally *copies = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED);

	(void)state;
	*copies = (struct tally){.calls = 10, .failures = 10, .bytes = 1000};
	read_maps(scene);
	*copies = (struct tally){.calls = 20, .failures = 20, .bytes = 2000};
	scene->missed[RATE_COPY] = 70;
	read_maps(scene);
	assert_int_equal(scene->process.family_calls[RATE_COPY].missed, 70);
	assert_int_equal(scene->process.copies[COPY_H2D][0].calls, 20 + 35);
	assert_int_equal(scene->process.copies[COPY_H2D][0].bytes, 2000 + 3500);
	end(scene);
}

static void calls_that_only_fail_have_no_bytes(void **state)
{
	struct scene *scene = begin(false);
	struct tally *copies = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED);

	(void)state;
	*copies = (struct tally){.failures = 10};
	scene->missed[RATE_COPY] = 30;
	read_maps(scene);
	assert_int_equal(scene->process.family_calls[RATE_COPY].missed, 30);
	assert_int_equal(scene->process.copies[COPY_H2D][0].bytes, 0);
	assert_int_equal(scene->process.copies[COPY_H2D][0].calls, 0);
	end(scene);
}

/* Amounts that are being moved from a thread to the map are not counted twice. */
static void tallies_that_seem_to_go_back_are_not_taken_twice(void **state)
{
	struct scene *scene = begin(false);
	struct tally *copies = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED);
	static const uint64_t reported[] = {100, 40, 100};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		*copies = (struct tally){
			.calls = reported[i], .bytes = reported[i], .ns = reported[i]};
		read_maps(scene);
		assert_int_equal(scene->process.family_calls[RATE_COPY].counted, 100);
	}
	scene->missed[RATE_COPY] = 50;
	read_maps(scene);
	assert_int_equal(scene->process.copies[COPY_H2D][0].bytes, 150);
	assert_int_equal(scene->process.copies[COPY_H2D][0].ns, 150);
	end(scene);
}

/* Graph launches by size add up to all graph launches, in whatever order they come. */
static void launches_by_size_add_up(void **state)
{
	struct scene *scene = begin(false);
	struct tally *graphs = tally_of(scene, "cuGraphLaunch", 0, 0);
	const struct process *p = &scene->process;

	(void)state;
	scene->run_count = 2;
	scene->runs[0] = (struct graph_run){.kernels = 10};
	scene->runs[1] = (struct graph_run){.kernels = 3};
	for (uint64_t round = 1; round <= 300; round++) {
		graphs->calls += 4;
		scene->runs[0].launches += 3;
		scene->runs[1].launches += 1;
		scene->missed[RATE_LAUNCH] += round % 4;
		read_maps(scene);
		assert_in_range(p->graph_runs[0].launches + p->graph_runs[1].launches + 1,
				p->graph_launches, p->graph_launches + 2);
	}
	assert_int_equal(p->graph_runs[0].kernels, 10);
	/* The graph launched now was hardly launched before: the estimate puts it first. */
	graphs->calls += 500;
	scene->runs[1].launches += 500;
	scene->missed[RATE_LAUNCH] += 5000;
	read_maps(scene);
	assert_int_equal(p->graph_runs[0].kernels, 3);
	end(scene);
}

/* Counts of handles that have disappeared no longer have weight. */
static void what_has_left_gets_nothing(void **state)
{
	struct scene *scene = begin(false);
	uint64_t fresh = 0;
	double weight = 0;

	(void)state;
	scene->launches[0] = 10;
	scene->leaves[0] = true;
	read_maps(scene);
	kernel_table__weigh(scene->process.kernel_table, &weight, &fresh);
	assert_true(weight == 0 && fresh == 0);
	end(scene);
}

/* --- the profile --- */

static uint64_t missed_calls(const struct reported *reported, size_t thread, enum time_class class)
{
	return reported->profile.missed[thread].time[class].calls;
}

static void without_readings_there_is_nothing_to_share(void **state)
{
	struct scene *scene = begin(false);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 1);
	assert_int_equal(
		estimates__apply_profile(scene->estimates, &scene->process, &reported.span), 0);
	end_reported(scene, &reported);
}

/* Functions of kernels share what kernels have; functions that tallies cover have their own. */
static void functions_get_what_is_theirs(void **state)
{
	struct scene *scene = begin(false);
	struct tally *graphs = tally_of(scene, "cuGraphLaunch", 0, 0);
	struct tally *copies = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, 0);
	struct tally *queries = tally_of(scene, "cuEventQuery", WAIT_EVENT, 0);
	struct tally *waits = tally_of(scene, "cuStreamSynchronize", WAIT_STREAM, 0);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 1);
	reported.functions[4].row = (uint16_t)api__find("cuStreamSynchronize", API_NEWEST);
	call(&reported, 4, 0, TIME_WAIT, 10, 5);
	call(&reported, 0, 0, TIME_LAUNCH, 100, 6);
	call(&reported, 1, 0, TIME_LAUNCH, 100, 6);
	call(&reported, 2, 0, TIME_LAUNCH, 200, 6);
	call(&reported, 3, 0, TIME_COPY, 20, 7);
	call(&reported, 5, 0, TIME_OTHER, 10, 3);
	scene->launches[0] = 200;
	*graphs = (struct tally){.calls = 200};
	*copies = (struct tally){.calls = 10, .failures = 10};
	queries->calls = waits->calls = 10;
	scene->missed[RATE_LAUNCH] = 400;
	scene->missed[RATE_COPY] = 40;
	scene->missed[RATE_WAIT] = 60;
	read_profile(scene, &reported);
	assert_int_equal(reported.functions[0].missed, 100);
	assert_int_equal(reported.functions[1].missed, 100);
	assert_int_equal(reported.functions[2].missed, 200);
	assert_int_equal(reported.functions[0].missed_ns, 600);
	assert_int_equal(reported.functions[1].missed_ns, 600);
	assert_int_equal(reported.functions[2].missed_ns, 1200);
	assert_int_equal(reported.functions[3].missed, 40);
	assert_int_equal(reported.functions[3].missed_ns, 280);
	/* Queries are not waits: they have time, but no class. */
	assert_int_equal(reported.functions[5].missed, 30);
	assert_int_equal(reported.functions[5].missed_ns, 90);
	assert_int_equal(missed_calls(&reported, 0, TIME_WAIT), 30);
	assert_int_equal(reported.functions[4].missed_ns, 150);
	assert_int_equal(missed_calls(&reported, 0, TIME_LAUNCH), 400);
	end_reported(scene, &reported);
}

/*
 * As with kernels, by function: not while only other functions are called. Times fade like calls.
 */
static void proportions_of_functions_fade(void **state)
{
	struct scene *scene = begin(false);
	struct tally *graphs = tally_of(scene, "cuGraphLaunch", 0, 0);
	struct tally *queries = tally_of(scene, "cuEventQuery", WAIT_EVENT, 0);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 1);
	call(&reported, 0, 0, TIME_LAUNCH, 1000, 1);
	call(&reported, 5, 0, TIME_OTHER, 10, 50);
	queries->calls = 10;
	scene->launches[0] = 1000;
	for (int i = 0; i < 6; i++) {
		read_profile(scene, &reported);
		call(&reported, 2, 0, TIME_LAUNCH, 1, 1);
		graphs->calls++;
	}
	call(&reported, 1, 0, TIME_LAUNCH, 1000, 1);
	call(&reported, 5, 0, TIME_OTHER, 10, 90);
	queries->calls += 10;
	scene->launches[0] += 1000;
	scene->missed[RATE_LAUNCH] = 1000;
	scene->missed[RATE_WAIT] = 10;
	read_profile(scene, &reported);
	assert_int_equal(reported.functions[0].missed + reported.functions[1].missed +
				 reported.functions[2].missed,
			 1000);
	assert_in_range(reported.functions[1].missed, 4 * reported.functions[0].missed - 4,
			4 * reported.functions[0].missed + 4);
	assert_int_equal(reported.functions[5].missed_ns, 820); /* (2.5 x 50 + 10 x 90) / 12.5 */
	end_reported(scene, &reported);
}

/* The same by thread. */
static void proportions_of_threads_fade(void **state)
{
	struct scene *scene = begin(false);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 2);
	scene->launches[0] = 1000;
	call(&reported, 0, 0, TIME_LAUNCH, 1000, 1);
	for (int i = 0; i < 6; i++)
		read_profile(scene, &reported);
	call(&reported, 0, 1, TIME_LAUNCH, 1000, 1);
	scene->launches[0] += 1000;
	scene->missed[RATE_LAUNCH] = 1000;
	read_profile(scene, &reported);
	assert_int_equal(missed_calls(&reported, 0, TIME_LAUNCH), 200);
	assert_int_equal(missed_calls(&reported, 1, TIME_LAUNCH), 800);
	end_reported(scene, &reported);
}

/* Amounts that rounding leaves over go to those that get any; an idle one gets none. */
static void nothing_is_rounded_off(void **state)
{
	static const uint64_t amounts[] = {100,
					   1,
					   999999999999999,
					   3333333333333331,
					   1234567890123457,
					   7777777777777777,
					   7874199854573939,
					   6894758977765202,
					   7253135072876894};

	(void)state;
	for (size_t i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
		struct scene *scene = begin(false);
		struct reported reported;

		begin_reported(scene, &reported, 3);
		call(&reported, 0, 0, TIME_LAUNCH, 3, 0);
		call(&reported, 1, 1, TIME_LAUNCH, 7, 0);
		call(&reported, 0, 2, TIME_LAUNCH, 11, 0);
		scene->launches[0] = 21;
		scene->missed[RATE_LAUNCH] = amounts[i];
		read_profile(scene, &reported);
		/* The kernels' shares are rounded separately; the others are derived from them. */
		assert_int_equal(reported.functions[0].missed + reported.functions[1].missed,
				 kernel_at(scene, "kernel_a")->missed);
		assert_int_equal(missed_of(&reported, TIME_LAUNCH, false),
				 kernel_at(scene, "kernel_a")->missed);
		end_reported(scene, &reported);
	}
}

/*
 * A thread leaves the list, and another 100 calls of 2 ns are reported. Returns the total that it
 * is given.
 */
static uint64_t unlisted_time_within(uint64_t wall_ns)
{
	struct scene *scene = begin(false);
	struct process_estimates *own;
	struct reported reported;
	uint64_t ns;

	read_two_that_launched(scene, &reported);
	assert_int_equal(missed_calls(&reported, 1, TIME_LAUNCH), 300);
	reported.profile.thread_count = 1;
	reported.profile.unlisted_threads = 1;
	reported.profile.unlisted_wall_ns = wall_ns;
	reported.profile.unlisted_time[TIME_LAUNCH] = (struct time_totals){.calls = 400, .ns = 800};
	call(&reported, 0, 0, TIME_LAUNCH, 100, 6);
	scene->launches[0] += 200;
	scene->missed[RATE_LAUNCH] += 200;
	read_profile(scene, &reported);
	/* 125 to 100: the first had 100 before, which count to a quarter. */
	assert_in_range(missed_calls(&reported, 0, TIME_LAUNCH), 100 + 110, 100 + 112);
	assert_int_equal(reported.profile.all_missed.time[TIME_LAUNCH].calls, 600);
	ns = reported.profile.all_missed.time[TIME_LAUNCH].ns -
	     reported.profile.missed[0].time[TIME_LAUNCH].ns;
	/* Nothing is kept for a thread that is not listed. */
	own = scene->estimates->of[SLOT];
	for (const struct counter *counter = own->counters; counter; counter = counter->hh.next)
		assert_true(counter->key.of != COUNTER_THREAD || counter->key.tid == 0 ||
			    counter->key.tid == 7);
	end_reported(scene, &reported);
	return ns;
}

/* The calls of such a thread until it ends belong to the rest, limited by its lifetime. */
static void unlisted_threads_have_their_part(void **state)
{
	(void)state;
	assert_in_range(unlisted_time_within(100000), 600 + 2 * 88, 600 + 2 * 90);
	/* 600 ns were its own, 600 it was given, 200 come now: 100 are left. */
	assert_int_equal(unlisted_time_within(1500), 700);
}

/* Time given to one class reduces what is left for the next. */
static void classes_share_the_time_of_a_thread(void **state)
{
	struct scene *scene = begin(false);
	struct tally *copies = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, 0);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 1);
	reported.span.now_ns = 301;
	call(&reported, 0, 0, TIME_LAUNCH, 10, 10);
	call(&reported, 3, 0, TIME_COPY, 10, 10);
	scene->launches[0] = copies->calls = 10;
	scene->missed[RATE_LAUNCH] = 8;
	scene->missed[RATE_COPY] = 8;
	read_profile(scene, &reported);
	assert_int_equal(reported.profile.missed[0].time[TIME_LAUNCH].ns, 80);
	assert_int_equal(reported.profile.missed[0].time[TIME_COPY].ns, 20);
	assert_int_equal(reported.functions[3].missed_ns, 20);
	/* The next reading knows what was given. */
	reported.span.now_ns += 10;
	scene->missed[RATE_LAUNCH] += 8;
	read_profile(scene, &reported);
	assert_int_equal(reported.profile.missed[0].time[TIME_LAUNCH].ns, 90);
	end_reported(scene, &reported);
}

/* Unknown threads have no lifetime that would limit the time of missed calls. */
static void functions_have_time_without_threads(void **state)
{
	struct scene *scene = begin(false);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 0);
	reported.functions[0].time = (struct duration_record){.calls = 100, .ns = 600};
	scene->launches[0] = 100;
	scene->missed[RATE_LAUNCH] = 50;
	read_profile(scene, &reported);
	assert_int_equal(reported.functions[0].missed, 50);
	assert_int_equal(reported.functions[0].missed_ns, 300);
	end_reported(scene, &reported);
}

/*
 * A thread's launches are its executed kernels and graphs: captured launches and callbacks do not
 * count.
 */
static void launches_are_what_is_executed(void **state)
{
	struct scene *scene = begin(false);
	struct tally *graphs = tally_of(scene, "cuGraphLaunch", 0, 0);
	struct tally *captured = tally_of(scene, "cuGraphLaunch", 0, TALLY_CAPTURED);
	struct tally *host = tally_of(scene, "cuLaunchHostFunc", 0, 0);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 2);
	call(&reported, 0, 0, TIME_LAUNCH, 100, 1);
	call(&reported, 0, 1, TIME_LAUNCH, 100, 1);
	call(&reported, 2, 1, TIME_LAUNCH, 200, 1);
	call(&reported, 6, 1, TIME_LAUNCH, 100, 1);
	/* The first thread's launches went into a capture. */
	reported.threads[0].launches = 0;
	scene->launches[0] = scene->launches[1] = 100;
	scene->captured[1] = true;
	graphs->calls = captured->calls = host->calls = 100;
	scene->missed[RATE_LAUNCH] = 500;
	read_profile(scene, &reported);
	assert_int_equal(scene->process.captured_launches, 200);
	assert_int_equal(reported.functions[0].missed, 200);
	assert_int_equal(reported.functions[2].missed, 200);
	assert_int_equal(missed_of(&reported, TIME_LAUNCH, false), 500);
	assert_int_equal(reported.profile.missed[0].launches, 0);
	assert_int_equal(reported.profile.missed[1].launches, 200);
	end_reported(scene, &reported);
}

/*
 * All launches go into a capture: their time is within the lifetimes although no thread has a
 * launch.
 */
static void captured_launches_take_their_time(void **state)
{
	struct scene *scene = begin(false);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 1);
	reported.span.now_ns = 651;
	call(&reported, 0, 0, TIME_LAUNCH, 100, 6);
	reported.threads[0].launches = 0;
	scene->launches[0] = 100;
	scene->captured[0] = true;
	scene->missed[RATE_LAUNCH] = 100;
	read_profile(scene, &reported);
	assert_int_equal(reported.profile.missed[0].time[TIME_LAUNCH].ns, 50);
	assert_int_equal(reported.functions[0].missed_ns, 50);
	end_reported(scene, &reported);
}

/* --- launches that were cut --- */

/*
 * `kernels` were counted at entry, half of them into a capture, `returned` at the return; then the
 * process ends.
 */
static uint64_t launches_in_the_end(uint64_t kernels, uint64_t returned, uint64_t missed,
				    const char *more)
{
	struct scene *scene = begin(false);
	struct reported reported;
	uint64_t all;

	begin_reported(scene, &reported, 1);
	call(&reported, 0, 0, TIME_LAUNCH, returned, 6);
	call(&reported, 3, 0, TIME_COPY, 10, 6);
	if (more) {
		reported.functions[4].row = (uint16_t)api__find(more, API_NEWEST);
		call(&reported, 4, 0, TIME_LAUNCH, 1, 6);
	}
	scene->launches[0] = scene->launches[1] = kernels / 2;
	scene->captured[1] = true;
	scene->missed[RATE_LAUNCH] = missed;
	read_profile(scene, &reported);
	reported.span.over = true;
	read_profile(scene, &reported);
	all = reported.functions[0].missed + (more ? reported.functions[4].missed : 0);
	end_reported(scene, &reported);
	return all;
}

static void cut_launches_are_what_lacks(void **state)
{
	(void)state;
	assert_int_equal(launches_in_the_end(100, 97, 200, NULL), 203);
	assert_int_equal(launches_in_the_end(100, 103, 200, NULL), 200);
	/*
	 * Probes are detached once for each launch that is cut, and something is missed afterwards.
	 */
	assert_int_equal(launches_in_the_end(100, 50, 20, NULL), 40);
	assert_int_equal(launches_in_the_end(100, 97, 0, NULL), 0);
	/* One call may be several launches: how many are missing is unknown. */
	assert_int_equal(launches_in_the_end(100, 90, 200, "cuLaunchCooperativeKernelMultiDevice"),
			 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_share_of_nested_calls_is_of_late),
		cmocka_unit_test(counts_may_come_before_entries),
		cmocka_unit_test(without_entries_each_call_counts),
		cmocka_unit_test(idle_readings_change_no_proportions),
		cmocka_unit_test(failing_calls_have_their_part),
		cmocka_unit_test(calls_that_only_fail_have_no_bytes),
		cmocka_unit_test(tallies_that_seem_to_go_back_are_not_taken_twice),
		cmocka_unit_test(launches_by_size_add_up),
		cmocka_unit_test(what_has_left_gets_nothing),
		cmocka_unit_test(without_readings_there_is_nothing_to_share),
		cmocka_unit_test(functions_get_what_is_theirs),
		cmocka_unit_test(proportions_of_functions_fade),
		cmocka_unit_test(proportions_of_threads_fade),
		cmocka_unit_test(nothing_is_rounded_off),
		cmocka_unit_test(unlisted_threads_have_their_part),
		cmocka_unit_test(classes_share_the_time_of_a_thread),
		cmocka_unit_test(functions_have_time_without_threads),
		cmocka_unit_test(launches_are_what_is_executed),
		cmocka_unit_test(captured_launches_take_their_time),
		cmocka_unit_test(cut_launches_are_what_lacks),
	};

	return cmocka_run_group_tests_name("estimate_rules", tests, NULL, NULL);
}
