// SPDX-License-Identifier: BSD-2-Clause
// Estimates of missed calls, with a simulated source: what adds up, what never decreases, what
// stays exact.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate_scene.h"

static void without_misses_all_is_exact(void **state)
{
	struct scene *scene = begin(true);
	struct tally *copies = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED);

	(void)state;
	for (uint64_t round = 1; round <= 3; round++) {
		scene->launches[0] = 7 * round;
		scene->seen[RATE_LAUNCH] = 7 * round;
		*copies = (struct tally){
			.calls = 3 * round, .failures = 1, .bytes = 100 * round, .ns = 11 * round};
		read_maps(scene);
		assert_int_equal(scene->process.launches, 7 * round);
		assert_int_equal(kernel_at(scene, "kernel_a")->missed, 0);
		assert_int_equal(scene->process.copies[COPY_H2D][0].calls, 3 * round);
		assert_int_equal(scene->process.copies[COPY_H2D][0].bytes, 100 * round);
		assert_int_equal(scene->process.copies[COPY_H2D][0].pinned_calls, 3 * round);
		assert_int_equal(scene->process.family_calls[RATE_LAUNCH].counted, 7 * round);
		assert_false(process__is_estimated(&scene->process, RATE_LAUNCH));
		assert_false(process__is_estimated(&scene->process, RATE_COPY));
		assert_int_equal(scene->refreshed, round);
	}
	end(scene);
}

static void misses_are_shared_in_proportion(void **state)
{
	struct scene *scene = begin(false);
	struct tally *graphs = tally_of(scene, "cuGraphLaunch", 0, 0);
	struct tally *host = tally_of(scene, "cuLaunchHostFunc", 0, 0);

	(void)state;
	scene->launches[0] = 60;
	scene->launches[1] = 20;
	*graphs = (struct tally){.calls = 15};
	*host = (struct tally){.calls = 5};
	scene->runs[0] = (struct graph_run){.kernels = 10, .launches = 10};
	scene->runs[1] = (struct graph_run){.unknown = true, .launches = 5};
	scene->run_count = 2;
	scene->missed[RATE_LAUNCH] = 900;
	read_maps(scene);
	assert_int_equal(kernel_at(scene, "kernel_a")->launches, 600);
	assert_int_equal(kernel_at(scene, "kernel_a")->missed, 540);
	assert_int_equal(kernel_at(scene, "kernel_b")->launches, 200);
	assert_int_equal(scene->process.launches, 800);
	assert_int_equal(scene->process.graph_launches, 150);
	assert_int_equal(scene->process.graph_kernels, 1000);
	assert_int_equal(scene->process.graph_launches_of_unknown_size, 50);
	assert_int_equal(scene->process.graph_runs[0].launches, 100);
	assert_int_equal(scene->process.host_functions, 50);
	assert_int_equal(scene->process.devices[0].launches, 800);
	assert_int_equal(scene->process.family_calls[RATE_LAUNCH].counted, 100);
	assert_int_equal(scene->process.family_calls[RATE_LAUNCH].missed, 900);
	assert_false(process__is_estimated(&scene->process, RATE_COPY));
	end(scene);
}

static void copies_and_waits_have_their_bytes_and_times(void **state)
{
	struct scene *scene = begin(false);
	struct tally *pinned = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED);
	struct tally *pageable = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PAGEABLE);
	struct tally *waits = tally_of(scene, "cuStreamSynchronize", WAIT_STREAM, 0);
	struct tally *queries = tally_of(scene, "cuEventQuery", WAIT_EVENT, TALLY_NOT_READY);
	struct tally *records = tally_of(scene, "cuEventRecord", 0, 0);
	const struct process *p = &scene->process;

	(void)state;
	*pinned = (struct tally){.calls = 30, .bytes = 3000, .ns = 300};
	*pageable = (struct tally){.calls = 10, .bytes = 80, .ns = 400, .failures = 2};
	*waits = (struct tally){.calls = 4, .ns = 4000};
	*queries = (struct tally){.calls = 8, .ns = 80};
	*records = (struct tally){.calls = 8, .ns = 80};
	scene->missed[RATE_COPY] = 42;
	scene->missed[RATE_WAIT] = 60;
	read_maps(scene);
	assert_int_equal(p->copies[COPY_H2D][0].pinned_calls, 60);
	assert_int_equal(p->copies[COPY_H2D][0].pinned_bytes, 6000);
	assert_int_equal(p->copies[COPY_H2D][0].pageable_calls, 20);
	assert_int_equal(p->copies[COPY_H2D][0].pageable_bytes, 160);
	assert_int_equal(p->copies[COPY_H2D][0].calls, 80);
	assert_int_equal(p->copies[COPY_H2D][0].ns, 1400);
	assert_int_equal(p->copy_waits.calls, 80);
	assert_int_equal(p->waits[WAIT_STREAM].calls, 16);
	assert_int_equal(p->waits[WAIT_STREAM].ns, 16000);
	assert_int_equal(p->queries[WAIT_EVENT].calls, 32);
	assert_int_equal(p->queries[WAIT_EVENT].not_ready, 32);
	assert_int_equal(p->devices[0].copies, 80);
	assert_int_equal(p->devices[0].waits[WAIT_STREAM].calls, 16);
	assert_int_equal(p->devices[0].wait_ns, 16000);
	/* Failures are only those seen. */
	assert_int_equal(p->functions[1].failures, 2);
	assert_int_equal(p->functions[1].calls, 20);
	/*
	 * Larger copies since: calls missed in between are like these, and to a quarter like the
	 * earlier ones.
	 */
	pinned->calls += 10;
	pinned->bytes += 5000;
	scene->missed[RATE_COPY] += 20;
	read_maps(scene);
	assert_int_equal(p->copies[COPY_H2D][0].pinned_calls, 40 + 30 + 17);
	assert_int_equal(p->copies[COPY_H2D][0].pinned_bytes, 8000 + 3000 + 5586);
	end(scene);
}

/* Each interval has its own proportions; an exact interval in between is not mixed in. */
static void each_interval_has_its_proportions(void **state)
{
	struct scene *scene = begin(false);
	uint64_t a, b;

	(void)state;
	scene->launches[0] = 1000000;
	scene->launches[1] = 0;
	read_maps(scene);
	/* Weights fade with each reading: the earlier ones are almost nothing. */
	for (int i = 0; i < 20; i++) {
		scene->launches[1] += 100;
		read_maps(scene);
	}
	scene->launches[1] += 100;
	scene->missed[RATE_LAUNCH] = 1000;
	read_maps(scene);
	a = kernel_at(scene, "kernel_a")->launches;
	b = kernel_at(scene, "kernel_b")->launches;
	assert_int_equal(a, 1000000);
	assert_int_equal(b, 2100 + 1000);
	end(scene);
}

/* Misses reported late, when nothing is seen any more, use the latest proportions. */
static void late_misses_are_not_lost(void **state)
{
	struct scene *scene = begin(false);

	(void)state;
	scene->missed[RATE_LAUNCH] = 10;
	read_maps(scene);
	assert_int_equal(scene->process.launches, 0);
	scene->launches[0] = 30;
	scene->launches[1] = 10;
	read_maps(scene);
	assert_int_equal(scene->process.launches, 50);
	for (int i = 0; i < 5; i++)
		read_maps(scene);
	scene->missed[RATE_LAUNCH] = 90;
	read_maps(scene);
	assert_int_equal(scene->process.launches, 40 + 90);
	assert_int_equal(kernel_at(scene, "kernel_a")->launches, 30 + 67);
	end(scene);
}

/* Many kernels, each with a fraction of a call: the rounding loses nothing. */
static void small_shares_add_up(void **state)
{
	struct scene *scene = begin(false);
	uint64_t before[COUNTERS] = {0};

	(void)state;
	for (int i = 0; i < COUNTERS; i++)
		scene->launches[i] = 0;
	for (uint64_t round = 1; round <= 1000; round++) {
		for (int i = 0; i < COUNTERS; i++)
			scene->launches[i] += (uint64_t)i % 3 + (round + (uint64_t)i) % 2;
		scene->missed[RATE_LAUNCH] += round % 4;
		read_maps(scene);
		for (size_t i = 0; i < scene->process.kernel_count; i++) {
			const struct kernel *k = &scene->process.kernels[i];
			int at = k->name[7] - 'a';

			assert_true(k->launches >= before[at]);
			before[at] = k->launches;
		}
		assert_int_equal(scene->process.family_calls[RATE_LAUNCH].counted +
					 scene->process.family_calls[RATE_LAUNCH].missed,
				 scene->process.launches);
		assert_in_range(scene->process.family_calls[RATE_LAUNCH].missed + 1,
				scene->missed[RATE_LAUNCH], scene->missed[RATE_LAUNCH] + 1);
	}
	end(scene);
}

/* While a thread moves counts to the map, the sum may seem lower for a moment. */
static void counts_that_seem_to_go_back_are_not_taken_twice(void **state)
{
	struct scene *scene = begin(false);

	(void)state;
	scene->launches[0] = 100;
	scene->launches[1] = 100;
	read_maps(scene);
	scene->launches[0] = 40;
	scene->launches[1] = 200;
	read_maps(scene);
	scene->launches[0] = 100;
	read_maps(scene);
	assert_int_equal(scene->process.family_calls[RATE_LAUNCH].counted, 300);
	end(scene);
}

/* Handles that disappear, and a process that ends, keep their estimates. */
static void what_is_over_keeps_its_estimate(void **state)
{
	struct scene *scene = begin(false);

	(void)state;
	scene->launches[0] = 10;
	scene->launches[1] = 10;
	scene->missed[RATE_LAUNCH] = 20;
	read_maps(scene);
	scene->launches[0] = 20;
	scene->leaves[0] = true;
	scene->missed[RATE_LAUNCH] = 30;
	read_maps(scene);
	/* The latest calls seen count most: 8 of the 10. */
	assert_int_equal(kernel_at(scene, "kernel_a")->launches, 20 + 10 + 8);
	assert_int_equal(kernel_at(scene, "kernel_a")->missed, 18);
	assert_int_equal(scene->process.devices[0].launches, 30 + 30);
	read_maps(scene);
	assert_int_equal(kernel_at(scene, "kernel_a")->launches, 38);
	/* The next kernel with the name. */
	scene->generation[0] = 1;
	scene->launches[0] = 1;
	read_maps(scene);
	assert_int_equal(kernel_at(scene, "kernel_a")->launches, 39);
	assert_int_equal(kernel_at(scene, "kernel_a")->missed, 18);
	scene->leaves[0] = scene->leaves[1] = true;
	scene->missed[RATE_LAUNCH] = 40;
	read_maps(scene);
	assert_int_equal(scene->process.launches, 31 + 40);
	estimates__forget(scene->estimates, SLOT);
	assert_int_equal(scene->forgotten, SLOT);
	assert_int_equal(scene->process.launches, 31 + 40);
	end(scene);
}

/*
 * If every other call is nested in another, which alone is counted, half as many missed calls are
 * added.
 */
static void nested_calls_are_not_estimated_twice(void **state)
{
	struct scene *scene = begin(true);

	(void)state;
	scene->launches[0] = 0;
	for (int i = 0; i < 10; i++) {
		scene->launches[0] += 1000;
		scene->seen[RATE_LAUNCH] += 2000;
		scene->missed[RATE_LAUNCH] += 8000;
		read_maps(scene);
	}
	assert_in_range(scene->process.launches, 10000 + 40000 - 10, 10000 + 40000 + 10);
	end(scene);
}

/*
 * A process that existed while probes were out is not called exact, even if nothing is estimated
 * for it.
 */
static void what_lived_while_probes_were_out_is_sampled(void **state)
{
	struct scene *scene = begin(false);

	(void)state;
	scene->process.start_ns = 100;
	scene->launches[0] = 5;
	scene->unseen_until[RATE_LAUNCH] = 100;
	read_maps(scene);
	assert_false(process__is_estimated(&scene->process, RATE_LAUNCH));
	scene->unseen_until[RATE_LAUNCH] = UINT64_MAX;
	read_maps(scene);
	assert_true(process__is_estimated(&scene->process, RATE_LAUNCH));
	assert_false(process__is_estimated(&scene->process, RATE_COPY));
	scene->unseen_until[RATE_LAUNCH] = 200;
	read_maps(scene);
	assert_true(process__is_estimated(&scene->process, RATE_LAUNCH));
	assert_int_equal(scene->process.launches, 5);
	end(scene);
}

/* --- the profile: the same calls by function and by thread --- */

/* Kernels, graphs, functions and threads have the same sums. */
static void assert_launches_agree(const struct scene *scene, const struct reported *reported)
{
	const struct profile_function *f = reported->functions;
	const struct profile *profile = &reported->profile;
	uint64_t launches = 0, kernels = 0, graphs = 0, wall = 0;
	struct profile_time all;

	for (size_t i = 0; i < scene->process.kernel_count; i++)
		kernels += scene->process.kernels[i].missed;
	for (size_t i = 0; i < profile->thread_count; i++) {
		launches += profile->missed[i].launches;
		profile__thread_time(profile, &reported->threads[i], reported->span.began_ns,
				     reported->span.now_ns, &all);
		assert_true(all.inside_ns <= all.wall_ns);
		wall += all.wall_ns;
	}
	graphs = f[2].missed;
	assert_int_equal(f[0].missed + f[1].missed, kernels);
	assert_int_equal(graphs, scene->process.graph_launches - f[2].time.calls);
	assert_int_equal(kernels + graphs, scene->process.family_calls[RATE_LAUNCH].missed);
	assert_int_equal(profile->all_missed.time[TIME_LAUNCH].calls, kernels + graphs);
	assert_int_equal(missed_of(reported, TIME_LAUNCH, false), kernels + graphs);
	assert_int_equal(launches, kernels + graphs);
	assert_int_equal(f[0].missed_ns + f[1].missed_ns + f[2].missed_ns,
			 missed_of(reported, TIME_LAUNCH, true));
	assert_int_equal(profile->all_missed.time[TIME_LAUNCH].ns,
			 missed_of(reported, TIME_LAUNCH, true));
	profile__sum_time(profile, reported->span.began_ns, reported->span.now_ns, &all);
	assert_int_equal(all.wall_ns, wall);
}

static void durations_have_calls_but_no_new_buckets(void **state)
{
	struct scene *scene = begin(false);
	struct tally *copies = tally_of(scene, "cuMemcpyHtoD_v2", COPY_H2D, 0);
	struct profile_function first[FUNCTIONS];
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 1);
	call(&reported, 0, 0, TIME_LAUNCH, 100, 9);
	call(&reported, 3, 0, TIME_COPY, 10, 5);
	call(&reported, 4, 0, TIME_MEMORY, 5, 1);
	memcpy(first, reported.functions, sizeof(first));
	*copies = (struct tally){.calls = 10, .bytes = 10, .ns = 50};
	scene->launches[0] = 100;
	scene->missed[RATE_COPY] = 20;
	scene->missed[RATE_LAUNCH] = 300;
	scene->missed[RATE_EXACT] = 1000;
	read_profile(scene, &reported);
	assert_int_equal(reported.functions[3].missed, 20);
	assert_int_equal(reported.functions[3].missed_ns, 100);
	assert_int_equal(reported.functions[0].missed, 300);
	assert_int_equal(reported.functions[0].missed_ns, 2700);
	assert_int_equal(reported.functions[4].missed, 0);
	assert_int_equal(reported.profile.missed[0].time[TIME_COPY].calls, 20);
	assert_int_equal(reported.profile.missed[0].time[TIME_MEMORY].calls, 0);
	for (int i = 0; i < FUNCTIONS; i++)
		assert_memory_equal(&reported.functions[i].time, &first[i].time,
				    sizeof(first[i].time));
	end_reported(scene, &reported);
}

/* Whenever kernels, functions and threads are seen, and in whatever proportions. */
static void sums_are_the_same_by_kernel_function_and_thread(void **state)
{
	struct scene *scene = begin(false);
	struct tally *graphs = tally_of(scene, "cuGraphLaunch", 0, 0);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 3);
	scene->launches[0] = scene->launches[1] = 0;
	for (uint64_t round = 1; round <= 20; round++) {
		/* The maps were read while threads continued. */
		call(&reported, 0, round % 2, TIME_LAUNCH, 7 * round % 5 + round % 3, 3 + round);
		call(&reported, 1, round % 3, TIME_LAUNCH, 3, 5);
		call(&reported, 2, 0, TIME_LAUNCH, round % 2, 4);
		scene->launches[0] += 7 * round % 5;
		scene->launches[1] += 3;
		*graphs = (struct tally){.calls = reported.functions[2].time.calls, .ns = 1};
		scene->missed[RATE_LAUNCH] += 1 + 13 * round % 11;
		read_profile(scene, &reported);
		assert_launches_agree(scene, &reported);
	}
	assert_true(reported.profile.missed[0].time[TIME_LAUNCH].calls > 0);
	assert_true(reported.profile.missed[2].time[TIME_LAUNCH].calls > 0);
	end_reported(scene, &reported);
}

/*
 * A thread's time is limited by its lifetime, and functions and all threads together by the sum of
 * those.
 */
static void estimated_time_is_within_lives(void **state)
{
	struct scene *scene = begin(false);
	struct reported reported;
	struct profile_time time;

	(void)state;
	begin_reported(scene, &reported, 2);
	reported.span.now_ns = 1001;
	call(&reported, 0, 0, TIME_LAUNCH, 100, 6);
	call(&reported, 0, 1, TIME_LAUNCH, 100, 2);
	scene->launches[0] = 200;
	scene->missed[RATE_LAUNCH] = 400;
	read_profile(scene, &reported);
	assert_launches_agree(scene, &reported);
	assert_int_equal(reported.profile.missed[0].time[TIME_LAUNCH].calls, 200);
	assert_int_equal(reported.profile.missed[0].time[TIME_LAUNCH].ns, 400);
	assert_int_equal(reported.profile.missed[1].time[TIME_LAUNCH].ns, 400);
	assert_int_equal(reported.functions[0].missed_ns, 800);
	profile__sum_time(&reported.profile, 0, 1001, &time);
	assert_int_equal(time.time[TIME_LAUNCH].ns, 1600);
	assert_int_equal(time.outside_ns, 399);
	end_reported(scene, &reported);
}

/* A reading that fails may have listed more threads than have estimates. */
static void threads_without_an_estimate_have_none(void **state)
{
	struct scene *scene = begin(false);
	struct time_totals unlisted[TIME_CLASSES];
	struct profile_time time;
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 1);
	call(&reported, 0, 0, TIME_LAUNCH, 100, 6);
	scene->launches[0] = 100;
	scene->missed[RATE_LAUNCH] = 100;
	read_profile(scene, &reported);
	reported.profile.thread_count = 3;
	for (size_t i = 1; i < 3; i++) {
		profile__thread_time(&reported.profile, &reported.threads[i], 0, 1000, &time);
		assert_int_equal(time.inside_ns, 0);
		assert_int_equal(profile__missed_launches(&reported.profile, &reported.threads[i]),
				 0);
	}
	profile__unlisted_time(&reported.profile, unlisted);
	assert_int_equal(unlisted[TIME_LAUNCH].calls, 0);
	end_reported(scene, &reported);
}

/* A thread's share stays in the sum when the thread ends and is no longer listed. */
static void threads_that_leave_keep_their_part(void **state)
{
	struct scene *scene = begin(false);
	struct time_totals unlisted[TIME_CLASSES];
	struct reported reported;

	(void)state;
	read_two_that_launched(scene, &reported);
	reported.profile.unlisted_threads = 1;
	reported.profile.unlisted_wall_ns = 999998;
	memcpy(reported.profile.unlisted_time, reported.threads[1].time,
	       sizeof(reported.profile.unlisted_time));
	reported.profile.thread_count = 1;
	call(&reported, 0, 0, TIME_LAUNCH, 100, 6);
	scene->launches[0] += 100;
	scene->missed[RATE_LAUNCH] += 170;
	read_profile(scene, &reported);
	/* All of the latest calls were its own, before that a quarter. */
	assert_int_equal(reported.profile.missed[0].time[TIME_LAUNCH].calls, 100 + 170);
	profile__unlisted_time(&reported.profile, unlisted);
	assert_int_equal(unlisted[TIME_LAUNCH].calls +
				 reported.profile.missed[0].time[TIME_LAUNCH].calls,
			 300 + 570);
	assert_int_equal(reported.profile.all_missed.time[TIME_LAUNCH].calls, 570);
	assert_int_equal(reported.functions[0].missed, 570);
	assert_int_equal(reported.functions[0].missed_ns,
			 reported.profile.all_missed.time[TIME_LAUNCH].ns);
	end_reported(scene, &reported);
}

/*
 * Probes are detached in the middle of launches: kernels have these launches, and in the end
 * everything else does.
 */
static void cut_launches_are_counted_once_all_is_over(void **state)
{
	struct scene *scene = begin(false);
	struct reported reported;

	(void)state;
	begin_reported(scene, &reported, 2);
	call(&reported, 0, 0, TIME_LAUNCH, 50, 6);
	call(&reported, 0, 1, TIME_LAUNCH, 47, 6);
	scene->launches[0] = 100;
	scene->missed[RATE_LAUNCH] = 200;
	read_profile(scene, &reported);
	assert_int_equal(reported.functions[0].missed, 200);
	reported.span.over = true;
	for (int i = 0; i < 2; i++) {
		read_profile(scene, &reported);
		assert_int_equal(scene->process.launches, 300);
		assert_int_equal(reported.functions[0].time.calls + reported.functions[0].missed,
				 300);
		assert_int_equal(97 + missed_of(&reported, TIME_LAUNCH, false), 300);
		assert_int_equal(97 + reported.profile.missed[0].launches +
					 reported.profile.missed[1].launches,
				 300);
	}
	end_reported(scene, &reported);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_misses_all_is_exact),
		cmocka_unit_test(misses_are_shared_in_proportion),
		cmocka_unit_test(copies_and_waits_have_their_bytes_and_times),
		cmocka_unit_test(each_interval_has_its_proportions),
		cmocka_unit_test(late_misses_are_not_lost),
		cmocka_unit_test(small_shares_add_up),
		cmocka_unit_test(counts_that_seem_to_go_back_are_not_taken_twice),
		cmocka_unit_test(what_is_over_keeps_its_estimate),
		cmocka_unit_test(nested_calls_are_not_estimated_twice),
		cmocka_unit_test(what_lived_while_probes_were_out_is_sampled),
		cmocka_unit_test(durations_have_calls_but_no_new_buckets),
		cmocka_unit_test(sums_are_the_same_by_kernel_function_and_thread),
		cmocka_unit_test(estimated_time_is_within_lives),
		cmocka_unit_test(threads_without_an_estimate_have_none),
		cmocka_unit_test(threads_that_leave_keep_their_part),
		cmocka_unit_test(cut_launches_are_counted_once_all_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
