// SPDX-License-Identifier: BSD-2-Clause
// Requests that wait: bounded by bytes and number, the oldest one makes room, all are counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/queue.h"

static uint64_t push(struct export_queue *queue, size_t length, uint64_t items)
{
	struct export_request *request = calloc(1, sizeof(*request));

	assert_non_null(request);
	request->data = malloc(length);
	assert_non_null(request->data);
	request->length = length;
	request->items = items;
	return export_queue__push(queue, request);
}

static void the_oldest_makes_room(void **state)
{
	struct export_queue queue = {.max_bytes = 100, .max_requests = 3};

	(void)state;
	assert_int_equal(push(&queue, 40, 1), 0);
	assert_int_equal(push(&queue, 40, 2), 0);
	assert_int_equal(push(&queue, 40, 4), 1); /* too many bytes */
	assert_int_equal(push(&queue, 10, 8), 0);
	assert_int_equal(push(&queue, 5, 16), 2); /* too many requests */
	assert_int_equal(queue.items, 4 + 8 + 16);
	assert_int_equal(queue.bytes, 55);
	assert_int_equal(queue.first->items, 4);
	assert_int_equal(queue.last->items, 16);
	/* What can never fit drops nothing else. */
	assert_int_equal(push(&queue, 101, 32), 32);
	assert_int_equal(queue.requests, 3);
	assert_int_equal(export_queue__clear(&queue), 28);
	assert_int_equal(queue.bytes + queue.requests + queue.items, 0);
	assert_null(queue.first);
	assert_null(queue.last);
}

static void what_is_being_sent_stays(void **state)
{
	struct export_queue queue = {.max_bytes = 100, .max_requests = 2};

	(void)state;
	push(&queue, 60, 1);
	queue.busy = true;
	assert_int_equal(push(&queue, 30, 2), 0);
	assert_int_equal(push(&queue, 30, 4), 2);
	assert_int_equal(push(&queue, 50, 8), 4 + 8); /* even without others there is no room */
	assert_int_equal(queue.first->items, 1);
	assert_ptr_equal(queue.first, queue.last);
	assert_int_equal(push(&queue, 10, 16), 0);
	export_queue__pop(&queue);
	assert_int_equal(queue.first->items, 16);
	export_queue__pop(&queue);
	assert_null(queue.first);
	assert_int_equal(push(&queue, 10, 32), 0);
	assert_int_equal(export_queue__clear(&queue), 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_makes_room),
		cmocka_unit_test(what_is_being_sent_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
