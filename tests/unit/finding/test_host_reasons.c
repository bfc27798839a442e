// SPDX-License-Identifier: BSD-2-Clause
// Why the GPU waits for threads: how call sites become kinds and lines, their order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host_reasons_case.h"

STACK(computes, PYTHON("sqrt", "/usr/lib/python3/dist-packages/numpy/core.py", 3),
      PYTHON("normalise", "/home/user/train.py", 31), MAIN);
STACK(copies, PYTHON("normalise", "/home/user/train.py", 31), MAIN);

static void merges_by_the_users_line(void **state)
{
	struct host_location *locations = LOCATIONS({.ns = 20 * MS, .times = 2, .stack = &copies},
						    {.ns = 30 * MS, .times = 3, .stack = &computes},
						    {.ns = 10 * MS, .times = 1, .stack = &draws});
	struct host_location *other = LOCATIONS({.ns = 5 * MS, .times = 1, .stack = &copies});
	struct host_thread threads[] = {thread(true, 1, locations, 3), thread(true, 2, other, 1)};
	struct host_reasons reasons =
		reasons_of(&(struct host_process){.threads = threads, .thread_count = 2});

	(void)state;
	assert_int_equal(reasons.count, 2);
	assert_int_equal(reasons.items[0].ns, 55 * MS);
	assert_int_equal(reasons.items[0].times, 6);
	assert_int_equal(reasons.items[0].line->line, 31);
	/* The stack with most of the time. */
	assert_ptr_equal(reasons.items[0].stack, &computes);
	assert_int_equal(reasons.items[1].line->line, 30);
	assert_int_equal(reasons.ns, 65 * MS);
	assert_int_equal(reasons.known_ns, 65 * MS);
	host_reasons__clear(&reasons);
}

static void names_calls(void **state)
{
	static const struct {
		enum host_activity activity;
		enum host_class class;
		enum host_kind kind;
	} rows[] = {
		{ACTIVITY_CPU, HOST_OUTSIDE, HOST_CPU},
		{ACTIVITY_CPU, HOST_LAUNCHES, HOST_IN_LAUNCH},
		{ACTIVITY_LOCK, HOST_MEMORY, HOST_IN_MEMORY},
		{ACTIVITY_CPU, HOST_COPIES, HOST_IN_COPY},
		{ACTIVITY_READY, HOST_WAITS, HOST_IN_WAIT},
		{ACTIVITY_DISK, HOST_MODULE, HOST_IN_MODULE},
		{ACTIVITY_CPU, HOST_CAPTURE, HOST_IN_GRAPH},
		{ACTIVITY_SLEEP, HOST_CALLS, HOST_IN_OTHER},
		{ACTIVITY_GIL, HOST_OUTSIDE, HOST_GIL},
		{ACTIVITY_QUEUE, HOST_OUTSIDE, HOST_QUEUE},
		{ACTIVITY_DISK, HOST_OUTSIDE, HOST_DISK},
		{ACTIVITY_FAULT, HOST_OUTSIDE, HOST_FAULT},
		{ACTIVITY_SLEEP, HOST_OUTSIDE, HOST_SLEEP},
		{ACTIVITY_READY, HOST_OUTSIDE, HOST_READY},
		{ACTIVITY_STOPPED, HOST_OUTSIDE, HOST_STOPPED},
		{ACTIVITY_STOPPED, HOST_WAITS, HOST_STOPPED},
		{ACTIVITY_OTHER, HOST_OUTSIDE, HOST_OFF},
		{ACTIVITY_LOCK, HOST_OUTSIDE, HOST_LOCK},
		{ACTIVITY_THROTTLED, HOST_OUTSIDE, HOST_THROTTLED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct host_location *location = LOCATIONS({.activity = rows[i].activity,
							    .class = rows[i].class,
							    .ns = 1,
							    .stack = &draws});
		struct host_thread threads[] = {thread(true, 1, location, 1)};
		struct host_reasons reasons =
			reasons_of(&(struct host_process){.threads = threads, .thread_count = 1});

		assert_int_equal(reasons.count, 1);
		assert_int_equal(reasons.items[0].kind, rows[i].kind);
		host_reasons__clear(&reasons);
	}
}

/*
 * The kind with the most time over all its lines comes first; locations without a user's line of
 * code come last.
 */
static void ranks(void **state)
{
	struct host_location *locations =
		LOCATIONS({.activity = ACTIVITY_QUEUE, .ns = 50 * MS, .stack = &of_a_library},
			  {.activity = ACTIVITY_CPU, .ns = 30 * MS, .stack = &copies},
			  {.activity = ACTIVITY_LOCK, .ns = 20 * MS, .stack = &takes},
			  {.activity = ACTIVITY_LOCK, .ns = 15 * MS, .stack = &draws},
			  {.activity = ACTIVITY_CPU, .ns = 25 * MS, .stack = &draws});
	struct host_thread threads[] = {thread(true, 1, locations, 5)};
	struct host_reasons reasons =
		reasons_of(&(struct host_process){.threads = threads, .thread_count = 1});
	static const enum host_kind order[] = {HOST_LOCK, HOST_LOCK, HOST_CPU, HOST_CPU,
					       HOST_QUEUE};

	(void)state;
	assert_int_equal(reasons.count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(reasons.items[i].kind, order[i]);
	assert_int_equal(reasons.items[0].kind_ns, 35 * MS);
	assert_int_equal(reasons.items[0].ns, 20 * MS);
	assert_int_equal(reasons.items[2].kind_ns, 30 * MS);
	assert_null(reasons.items[4].line);
	host_reasons__clear(&reasons);
}

/* If two lines take about the same CPU time, the one that launches more comes first. */
static void launches_decide_between_lines(void **state)
{
	struct host_location *locations = LOCATIONS(
		{.activity = ACTIVITY_CPU, .ns = 30 * MS, .stack = &copies},
		{.activity = ACTIVITY_CPU, .ns = 25 * MS, .stack = &draws},
		{.activity = ACTIVITY_CPU, .class = HOST_LAUNCHES, .ns = 10 * MS, .stack = &draws},
		{.activity = ACTIVITY_CPU, .class = HOST_LAUNCHES, .ns = 4 * MS, .stack = &copies},
		{.activity = ACTIVITY_LOCK, .ns = 29 * MS, .stack = &takes},
		{.activity = ACTIVITY_CPU, .ns = 90 * MS, .stack = &of_a_library});
	struct host_thread threads[] = {thread(true, 1, locations, 6)};
	struct host_reasons reasons =
		reasons_of(&(struct host_process){.threads = threads, .thread_count = 1});
	static const uint64_t order[] = {25, 30, 29, 10, 4, 90};

	(void)state;
	assert_int_equal(reasons.count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(reasons.items[i].ns, order[i] * MS);
	assert_int_equal(reasons.items[0].kind_ns, 25 * MS);
	host_reasons__clear(&reasons);
}

/*
 * Waits for another thread that submits are not its own time; nor is the time of threads that are
 * followed only because of it.
 */
static void leaves_out_others(void **state)
{
	struct host_location *locations =
		LOCATIONS({.activity = ACTIVITY_TEAM, .ns = 50 * MS, .stack = &takes},
			  {.ns = 10 * MS, .stack = &draws});
	struct host_location *other = LOCATIONS({.ns = 90 * MS, .stack = &holds});
	struct host_thread threads[] = {thread(true, 1, locations, 2), thread(false, 2, other, 1)};
	struct host_reasons reasons =
		reasons_of(&(struct host_process){.threads = threads, .thread_count = 2});

	(void)state;
	assert_int_equal(reasons.count, 1);
	assert_int_equal(reasons.ns, 10 * MS);
	host_reasons__clear(&reasons);
}

static void knows_pythons_queues(void **state)
{
	struct host_location *locations =
		LOCATIONS({.activity = ACTIVITY_LOCK, .ns = 50 * MS, .stack = &gets});
	struct host_thread threads[] = {thread(true, 1, locations, 1)};
	struct host_reasons reasons =
		reasons_of(&(struct host_process){.threads = threads, .thread_count = 1});

	(void)state;
	assert_int_equal(reasons.items[0].kind, HOST_QUEUE);
	assert_int_equal(reasons.items[0].line->line, 60);
	host_reasons__clear(&reasons);
}

/*
 * A pool's workers and the threads that wait for them; below Python it may as well be one of
 * Python's own locks.
 */
static void knows_conditions(void **state)
{
	STACK(waits, {.function = "futex_wait", .object = "libc.so.6"},
	      {.function = "___pthread_cond_wait", .object = "libc.so.6"},
	      {.function = "wait_batch", .object = "train", .file = "pool.c", .line = 17});
	STACK(in_python, {.function = "pthread_cond_timedwait", .object = "libc.so.6"}, MAIN);
	STACK(mutex, {.function = "pthread_mutex_lock", .object = "libc.so.6"},
	      {.function = "pthread_cond", .object = "train"});
	const struct {
		const struct stack *stack;
		enum host_kind kind;
	} rows[] = {{&waits, HOST_QUEUE}, {&in_python, HOST_LOCK}, {&mutex, HOST_LOCK}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct host_location *locations = LOCATIONS(
			{.activity = ACTIVITY_LOCK, .ns = 50 * MS, .stack = rows[i].stack});
		struct host_thread threads[] = {thread(true, 1, locations, 1)};
		struct host_reasons reasons =
			reasons_of(&(struct host_process){.threads = threads, .thread_count = 1});

		assert_int_equal(reasons.items[0].kind, rows[i].kind);
		host_reasons__clear(&reasons);
	}
}

static void knows_full_pipes(void **state)
{
	STACK(writes, {.function = "__libc_write", .object = "libc.so.6"},
	      PYTHON("log", "/home/user/train.py", 9));
	struct host_location *locations =
		LOCATIONS({.activity = ACTIVITY_QUEUE, .ns = 50 * MS, .stack = &writes});
	struct host_thread threads[] = {thread(true, 1, locations, 1)};
	struct host_process host = {.threads = threads, .thread_count = 1};
	struct host_other hops[HOST_HOPS];
	struct host_reasons reasons;

	(void)state;
	threads[0].wakers[ACTIVITY_QUEUE][0] = partner(2, HOST_NO_THREAD);
	reasons = reasons_of(&host);
	assert_int_equal(reasons.items[0].kind, HOST_OUTPUT);
	assert_int_equal(host_reasons__hops(&reasons, &reasons.items[0], hops), 1);
	host_reasons__clear(&reasons);
}

/* A server's threads, or those that hand them work, wait at sockets. */
static void knows_who_awaits_requests(void **state)
{
	STACK(polls, {.function = "epoll_wait", .object = "libc.so.6"},
	      PYTHON("select", "/usr/lib/python3.11/selectors.py", 468), MAIN);
	STACK(receives, {.function = "__libc_recv", .object = "libc.so.6"},
	      PYTHON("readinto", "/usr/lib/python3.11/socket.py", 706));
	STACK(reads_pipe, {.function = "read", .object = "libc.so.6"}, MAIN);
	struct host_location *own =
		LOCATIONS({.activity = ACTIVITY_QUEUE, .ns = 60 * MS, .stack = &gets},
			  {.ns = 40 * MS, .stack = &draws});
	struct host_location *feeders =
		LOCATIONS({.activity = ACTIVITY_QUEUE, .ns = 90 * MS, .stack = &receives},
			  {.ns = 10 * MS, .stack = &holds});
	struct host_thread threads[] = {thread(true, 1, own, 2), thread(false, 2, feeders, 2)};
	struct host_process host = {
		.pid = 10, .threads = threads, .thread_count = 2, .serves = true};
	const struct {
		const struct stack *own, *feeders;
		bool serves, fed, awaits;
		bool serves_there, asks_there; /* what is known of the socket */
	} rows[] = {
		{&polls, &receives, true, false, true, false, false},
		{&polls, &receives, false, false, false, false, false},
		{&polls, &receives, true, false, false, false, true},
		{&reads_pipe, &receives, true, false, false, false, false},
		{&reads_pipe, &receives, true, false, true, true, false},
		{&gets, &receives, true, true, true, false, false},
		{&gets, &receives, true, true, false, false, true},
		{&gets, &reads_pipe, true, true, false, false, false},
		{&gets, &reads_pipe, true, true, true, true, false},
		{&gets, &receives, false, true, false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct host_reasons reasons;

		own[0].stack = rows[i].own;
		feeders[0].stack = rows[i].feeders;
		host.serves = rows[i].serves;
		threads[rows[i].fed].asks = rows[i].asks_there;
		threads[rows[i].fed].serves = rows[i].serves_there;
		threads[!rows[i].fed].asks = threads[!rows[i].fed].serves = false;
		threads[0].wakers[ACTIVITY_QUEUE][0] =
			rows[i].fed ? partner(2, 1) : (struct host_partner){0};
		reasons = reasons_of(&host);
		assert_int_equal(host_reasons__awaits_requests(&reasons), rows[i].awaits);
		host_reasons__clear(&reasons);
	}
}

/* A program may wait for its own requests some of the time. */
static void most_of_the_time(void **state)
{
	STACK(polls, {.function = "epoll_wait", .object = "libc.so.6"}, MAIN);
	struct host_location *own =
		LOCATIONS({.activity = ACTIVITY_QUEUE, .ns = 50 * MS, .stack = &polls},
			  {.ns = 50 * MS, .stack = &draws});
	struct host_thread threads[] = {thread(true, 1, own, 2)};
	struct host_process host = {
		.pid = 10, .threads = threads, .thread_count = 1, .serves = true};
	struct host_reasons reasons = reasons_of(&host);

	(void)state;
	assert_false(host_reasons__awaits_requests(&reasons));
	host_reasons__clear(&reasons);
}

static void reports_limits_from_rivals(void **state)
{
	struct host_location *locations =
		LOCATIONS({.activity = ACTIVITY_READY, .ns = 30 * MS, .stack = &draws},
			  {.activity = ACTIVITY_THROTTLED, .ns = 20 * MS, .stack = &copies},
			  {.activity = ACTIVITY_READY, .ns = 10 * MS});
	struct host_thread threads[] = {thread(true, 1, locations, 3)};
	struct host_process host = {.threads = threads, .thread_count = 1};
	const struct host_partner *rivals;
	struct host_reasons reasons;

	(void)state;
	threads[0].rivals[0] = partner(0, HOST_NO_THREAD);
	threads[0].rivals[1] = partner(0, HOST_NO_THREAD);
	reasons = reasons_of(&host);
	assert_int_equal(reasons.count, 2);
	assert_int_equal(reasons.items[0].kind, HOST_READY);
	assert_int_equal(reasons.items[0].ns, 40 * MS);
	assert_int_equal(host_reasons__rivals(&reasons.items[0], &rivals), 2);
	assert_int_equal(host_reasons__rivals(&reasons.items[1], &rivals), 0);
	host_reasons__clear(&reasons);
	/* The group was throttled for more than half of it. */
	host.limit_known = true;
	host.limited_ns = 20 * MS + 1;
	reasons = reasons_of(&host);
	assert_int_equal(reasons.count, 1);
	assert_int_equal(reasons.items[0].kind, HOST_THROTTLED);
	assert_int_equal(reasons.items[0].ns, 60 * MS);
	assert_int_equal(reasons.items[0].line->line, 30);
	host_reasons__clear(&reasons);
	host.limited_ns = 20 * MS;
	reasons = reasons_of(&host);
	assert_int_equal(reasons.count, 2);
	host_reasons__clear(&reasons);
}

static void names_the_file(void **state)
{
	struct host_location *locations = LOCATIONS(
		{.activity = ACTIVITY_DISK, .ns = 9, .stack = &reads}, {.ns = 5, .stack = &draws});
	struct host_thread threads[] = {thread(true, 1, locations, 2)};
	struct host_reasons reasons =
		reasons_of(&(struct host_process){.threads = threads, .thread_count = 1});

	(void)state;
	assert_null(host_reasons__file(&reasons.items[0]));
	strcpy(threads[0].files[0].name, "/data/a.bin");
	assert_string_equal(host_reasons__file(&reasons.items[0]), "/data/a.bin");
	assert_null(host_reasons__file(&reasons.items[1]));
	host_reasons__clear(&reasons);
}

static void nothing_is_known(void **state)
{
	struct host_reasons reasons = reasons_of(NULL);

	(void)state;
	assert_int_equal(reasons.count, 0);
	assert_int_equal(reasons.ns, 0);
	host_reasons__clear(&reasons);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_by_the_users_line),
		cmocka_unit_test(names_calls),
		cmocka_unit_test(ranks),
		cmocka_unit_test(launches_decide_between_lines),
		cmocka_unit_test(leaves_out_others),
		cmocka_unit_test(knows_pythons_queues),
		cmocka_unit_test(knows_conditions),
		cmocka_unit_test(knows_full_pipes),
		cmocka_unit_test(knows_who_awaits_requests),
		cmocka_unit_test(most_of_the_time),
		cmocka_unit_test(reports_limits_from_rivals),
		cmocka_unit_test(names_the_file),
		cmocka_unit_test(nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
