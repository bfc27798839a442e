// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order of waiting events, compared with qsort's, and the memory that they leave; and the
 * reader of the ring.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "growth_of_time.h"
#include "no_valgrind.h"
#include "trace/reorder.h"
#include "base/ring.h"

#define EVENTS 20000

struct item {
	uint64_t time, serial;
	uint8_t rank;
};

static void put(struct reorder *order, const struct item *item)
{
	struct pending_event *waiting =
		reorder__room(order, sizeof(struct trace_event) + (item->serial % 5) * 8);

	assert_non_null(waiting);
	waiting->thread = NULL;
	waiting->rank = item->rank;
	waiting->event.start_ns = item->serial;
	reorder__insert(order, waiting, item->time);
}

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* `spread`: how much older than the newest an event may be. */
static void comes_out_sorted(uint64_t spread)
{
	struct reorder *order = reorder__new();
	struct item *items = calloc(EVENTS, sizeof(*items));
	uint64_t time;

	srand((unsigned int)spread);
	for (size_t i = 0; i < EVENTS; i++) {
		uint64_t newest = 10 * EVENTS + i / 3;

		items[i] = (struct item){newest - (uint64_t)rand() % (spread + 1), i,
					 (uint8_t)(rand() % 3)};
		put(order, &items[i]);
	}
	assert_int_equal(reorder__count(order), EVENTS);
	qsort(items, EVENTS, sizeof(*items), compare);
	for (size_t i = 0; i < EVENTS; i++) {
		struct pending_event *first = reorder__first(order, &time);

		assert_non_null(first);
		assert_int_equal(time, items[i].time);
		assert_int_equal(first->event.start_ns, items[i].serial);
		reorder__pop(order);
	}
	assert_null(reorder__first(order, &time));
	assert_int_equal(reorder__bytes(order), 0);
	free(items);
	reorder__free(order);
}

static void near_events_are_sorted(void **state)
{
	(void)state;
	comes_out_sorted(0);
	comes_out_sorted(5);
}

static void far_events_are_sorted(void **state)
{
	(void)state;
	comes_out_sorted(500);
	comes_out_sorted(5 * EVENTS);
}

static void taking_and_adding_alternate(void **state)
{
	struct reorder *order = reorder__new();
	uint64_t time, last = 0, serial = 0;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		for (unsigned int i = 0; i < 50; i++, serial++) {
			const struct item item = {1000 + round * 100 + (uint64_t)rand() % 300,
						  serial, 0};

			put(order, &item);
		}
		while (reorder__first(order, &time) && time < 1000 + round * 100) {
			assert_true(time >= last);
			last = time;
			reorder__pop(order);
		}
	}
	assert_true(reorder__count(order) < 300);
	reorder__free(order);
}

static void a_waiting_call_is_found(void **state)
{
	struct reorder *order = reorder__new();

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		/* Every tenth comes late. */
		const struct item item = {i % 10 ? 1000 + i : i, i % 10 ? 1000 + i : i, 2};

		put(order, &item);
	}
	assert_false(reorder__has(order, 7, 2, 10));
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t start = i ? 10 : 1001;
		struct pending_event *waiting = reorder__room(order, sizeof(struct trace_event));

		waiting->thread = (struct trace_thread *)order;
		waiting->rank = 2;
		waiting->event = (struct trace_event){.thread = 7, .depth = 2, .start_ns = start};
		reorder__insert(order, waiting, start);
		assert_true(reorder__has(order, 7, 2, start));
		assert_false(reorder__has(order, 7, 1, start));
		assert_false(reorder__has(order, 8, 2, start));
		assert_false(reorder__has(order, 7, 2, start + 1));
	}
	reorder__free(order);
}

static void impossible_sizes_get_no_room(void **state)
{
	struct reorder *order = reorder__new();

	(void)state;
	assert_null(reorder__room(order, sizeof(struct trace_event) - 1));
	assert_null(reorder__room(order, ORDER_EVENT_MAX + 1));
	assert_int_equal(reorder__bytes(order), 0);
	reorder__free(order);
}

struct seen {
	size_t count, bytes;
	int answer;
};

static int see(const void *record, size_t size, void *arg)
{
	struct seen *seen = arg;

	(void)record;
	seen->count++;
	seen->bytes += size;
	return seen->answer;
}

static void the_ring_is_read_to_a_position(void **state)
{
	_Alignas(8) char data[256] = {0};
	uint64_t consumer = 0, producer = 0;
	struct ring ring = {
		.consumer = &consumer, .producer = &producer, .data = data, .size = sizeof(data)};
	struct seen seen = {0};

	(void)state;
	*(uint32_t *)data = 5;
	*(uint32_t *)(data + 16) = 8 | 1u << 30; /* discarded */
	*(uint32_t *)(data + 32) = 8;
	*(uint32_t *)(data + 48) = 8 | 1u << 31; /* being written */
	producer = 64;
	assert_int_equal(ring__read(&ring, 32, see, &seen), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.bytes, 5);
	assert_int_equal(consumer, 32);
	assert_int_equal(ring__read(&ring, 64, see, &seen), RING_BUSY);
	assert_int_equal(seen.count, 2);
	assert_int_equal(consumer, 48);
	*(uint32_t *)(data + 48) = 8;
	seen.answer = 7;
	assert_int_equal(ring__read(&ring, 64, see, &seen), 7);
	assert_int_equal(seen.count, 3);
	assert_int_equal(consumer, 64);
}

/*
 * A thread's call that began early returns late: thousands do, and as many unfinished ones are
 * looked up.
 */
static void ask_for_calls(size_t size)
{
	struct reorder *order = reorder__new();
	uint64_t time;

	assert_non_null(order);
	for (size_t i = 0; i < size + 100; i++) {
		struct pending_event *waiting = reorder__room(order, sizeof(struct trace_event));
		uint64_t start = i < 100 ? 2 * size + i : i;

		assert_non_null(waiting);
		waiting->thread = (struct trace_thread *)order; /* some thread */
		waiting->event = (struct trace_event){.start_ns = start,
						      .thread = (uint32_t)(i % TRACE_THREADS)};
		waiting->rank = 0;
		reorder__insert(order, waiting, start);
	}
	for (size_t i = 100; i < size; i++) {
		assert_true(reorder__has(order, (uint32_t)(i % TRACE_THREADS), 0, i));
		assert_false(reorder__has(order, (uint32_t)(i % TRACE_THREADS), 0, i + 1));
	}
	while (reorder__first(order, &time))
		reorder__pop(order);
	assert_false(reorder__has(order, 100, 0, 100));
	reorder__free(order);
}

static void test_many_calls_in_progress(void **state)
{
	(void)state;
	not_under_valgrind();
	assert_linear("calls that return late", ask_for_calls, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_events_are_sorted),
		cmocka_unit_test(far_events_are_sorted),
		cmocka_unit_test(taking_and_adding_alternate),
		cmocka_unit_test(a_waiting_call_is_found),
		cmocka_unit_test(impossible_sizes_get_no_room),
		cmocka_unit_test(the_ring_is_read_to_a_position),
		cmocka_unit_test(test_many_calls_in_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
