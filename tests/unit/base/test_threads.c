// SPDX-License-Identifier: BSD-2-Clause
// Work in several threads: each item is worked on once, and all at the same time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/threads.h"

#define ITEMS 100

static void count_item(void *arg, unsigned int i)
{
	unsigned int *times = arg;

	times[i]++;
}

static void each_item_is_worked_on_once(void **state)
{
	static const unsigned int counts[] = {0, 1, THREADS_MAX - 1, THREADS_MAX, ITEMS};

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		unsigned int times[ITEMS] = {0};

		threads__each(count_item, times, counts[c]);
		for (unsigned int i = 0; i < ITEMS; i++)
			assert_int_equal(times[i], i < counts[c]);
	}
}

static void meet(void *arg, unsigned int i)
{
	(void)i;
	pthread_barrier_wait(arg);
}

/* Hangs if one item waited for another one's end. */
static void items_are_worked_on_at_once(void **state)
{
	pthread_barrier_t barrier;

	(void)state;
	pthread_barrier_init(&barrier, NULL, THREADS_MAX);
	threads__each(meet, &barrier, THREADS_MAX);
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_item_is_worked_on_once),
		cmocka_unit_test(items_are_worked_on_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
