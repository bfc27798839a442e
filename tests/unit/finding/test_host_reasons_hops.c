// SPDX-License-Identifier: BSD-2-Clause
// Why the GPU waits for threads: which thread another one waits for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host_reasons_case.h"

/* A queue whose feeding thread waits for a lock, whose holder reads a file. */
static void follows_hops(void **state)
{
	struct host_location *main_locations =
		LOCATIONS({.activity = ACTIVITY_QUEUE, .ns = 90 * MS, .stack = &gets});
	struct host_location *feeder =
		LOCATIONS({.activity = ACTIVITY_LOCK, .ns = 80 * MS, .stack = &takes});
	struct host_location *worker =
		LOCATIONS({.activity = ACTIVITY_DISK, .ns = 70 * MS, .stack = &reads},
			  {.ns = 20 * MS, .stack = &holds});
	struct host_thread threads[] = {thread(true, 1, main_locations, 1),
					thread(false, 2, feeder, 1), thread(false, 3, worker, 2)};
	struct host_reasons reasons;
	struct host_other hops[HOST_HOPS];

	(void)state;
	threads[0].wakers[ACTIVITY_QUEUE][0] = partner(2, 1);
	threads[1].wakers[ACTIVITY_LOCK][0] = partner(3, 2);
	strcpy(threads[2].files[0].name, ".../data/a.bin");
	reasons = reasons_of(&(struct host_process){.threads = threads, .thread_count = 3});
	assert_int_equal(host_reasons__hops(&reasons, &reasons.items[0], hops), 2);
	assert_ptr_equal(hops[0].thread, &threads[1]);
	assert_int_equal(hops[0].kind, HOST_LOCK);
	assert_ptr_equal(hops[1].thread, &threads[2]);
	assert_int_equal(hops[1].kind, HOST_DISK);
	assert_ptr_equal(hops[1].stack, &reads);
	assert_string_equal(hops[1].file, ".../data/a.bin");
	assert_float_equal(hops[1].share, 0.7, 1e-9);
	host_reasons__clear(&reasons);
}

/* On a busy machine the thread that feeds the queue mostly waits for a CPU. */
static void passes_a_librarys_thread_without_a_cpu(void **state)
{
	struct host_location *main_locations =
		LOCATIONS({.activity = ACTIVITY_QUEUE, .ns = 90 * MS, .stack = &gets});
	struct host_location *feeder =
		LOCATIONS({.activity = ACTIVITY_READY, .ns = 60 * MS, .stack = &of_a_library},
			  {.activity = ACTIVITY_GIL, .ns = 20 * MS, .stack = &of_a_library});
	struct host_location *worker =
		LOCATIONS({.activity = ACTIVITY_READY, .ns = 50 * MS, .stack = &holds},
			  {.activity = ACTIVITY_LOCK, .ns = 10 * MS, .stack = &takes});
	struct host_thread threads[] = {thread(true, 1, main_locations, 1),
					thread(false, 2, feeder, 2), thread(false, 3, worker, 2)};
	struct host_reasons reasons;
	struct host_other hops[HOST_HOPS];

	(void)state;
	threads[0].wakers[ACTIVITY_QUEUE][0] = partner(2, 1);
	threads[1].wakers[ACTIVITY_GIL][0] = partner(3, 2);
	reasons = reasons_of(&(struct host_process){.threads = threads, .thread_count = 3});
	assert_int_equal(host_reasons__hops(&reasons, &reasons.items[0], hops), 2);
	assert_int_equal(hops[0].kind, HOST_GIL);
	assert_float_equal(hops[0].share, 0.2, 1e-9);
	/* Its own line lacks a CPU, which is what there is to mend. */
	assert_ptr_equal(hops[1].thread, &threads[2]);
	assert_int_equal(hops[1].kind, HOST_READY);
	assert_ptr_equal(hops[1].stack, &holds);
	/* A library's own work. */
	feeder[1].activity = ACTIVITY_CPU;
	assert_int_equal(host_reasons__hops(&reasons, &reasons.items[0], hops), 1);
	assert_int_equal(hops[0].kind, HOST_READY);
	host_reasons__clear(&reasons);
}

/* Two threads that wait for each other in turn, and one that is not followed. */
static void ends_hops(void **state)
{
	struct host_location *first =
		LOCATIONS({.activity = ACTIVITY_LOCK, .ns = 90 * MS, .stack = &takes});
	struct host_location *second =
		LOCATIONS({.activity = ACTIVITY_LOCK, .ns = 90 * MS, .stack = &holds});
	struct host_thread threads[] = {thread(true, 1, first, 1), thread(false, 2, second, 1)};
	struct host_reasons reasons;
	struct host_other hops[HOST_HOPS];

	(void)state;
	threads[0].wakers[ACTIVITY_LOCK][0] = partner(2, 1);
	threads[1].wakers[ACTIVITY_LOCK][0] = partner(1, 0);
	reasons = reasons_of(&(struct host_process){.threads = threads, .thread_count = 2});
	assert_int_equal(host_reasons__hops(&reasons, &reasons.items[0], hops), 1);
	threads[0].wakers[ACTIVITY_LOCK][0] = partner(7, HOST_NO_THREAD);
	assert_int_equal(host_reasons__hops(&reasons, &reasons.items[0], hops), 1);
	assert_null(hops[0].thread);
	assert_null(hops[0].stack);
	threads[0].wakers[ACTIVITY_LOCK][0].count = 0;
	assert_int_equal(host_reasons__hops(&reasons, &reasons.items[0], hops), 0);
	host_reasons__clear(&reasons);
}

static void the_holder_of_the_gil_is_where_it_runs(void **state)
{
	struct host_location *first =
		LOCATIONS({.activity = ACTIVITY_GIL, .ns = 90 * MS, .stack = &draws});
	struct host_location *second =
		LOCATIONS({.activity = ACTIVITY_SLEEP, .ns = 60 * MS, .stack = &reads},
			  {.activity = ACTIVITY_CPU, .ns = 30 * MS, .stack = &holds});
	struct host_thread threads[] = {thread(true, 1, first, 1), thread(false, 2, second, 2)};
	struct host_reasons reasons;
	struct host_other hops[HOST_HOPS];

	(void)state;
	threads[0].wakers[ACTIVITY_GIL][0] = partner(2, 1);
	reasons = reasons_of(&(struct host_process){.threads = threads, .thread_count = 2});
	assert_int_equal(host_reasons__hops(&reasons, &reasons.items[0], hops), 1);
	assert_int_equal(hops[0].kind, HOST_CPU);
	assert_ptr_equal(hops[0].stack, &holds);
	host_reasons__clear(&reasons);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_hops),
		cmocka_unit_test(passes_a_librarys_thread_without_a_cpu),
		cmocka_unit_test(ends_hops),
		cmocka_unit_test(the_holder_of_the_gil_is_where_it_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
