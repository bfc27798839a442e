// SPDX-License-Identifier: BSD-2-Clause
/*
 * The reorder buffer; see reorder.h.
 *
 * Most events are later than all pending ones, or than all but a few: they go to the end of a
 * sorted array, or a few steps before it. Events that belong further back (the end of a long call)
 * go to a heap instead, so that no event moves many others. The first event is the first of one of
 * the two.
 *
 * Calls in the heap are linked by thread: thousands of threads may wait in a call, and reorder__has
 * is called for each of them while as many returned calls are pending.
 */
#include "trace/reorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define CHUNK_BYTES (256u << 10)
#define CHUNKS_KEPT 64 /* kept for reuse */
#define STEPS_MAX 64   /* how far before the end of the array an event may be inserted */
#define FIRST_CAPACITY 1024

/*
 * The header of a chunk. A chunk is aligned to its size, so an event's chunk follows from its
 * address.
 */
struct chunk {
	struct chunk *next; /* of the free chunks */
	size_t used;	    /* bytes, including this header */
	size_t events;	    /* pending events in it */
};

struct entry {
	uint64_t time;
	struct pending_event *pending;
};

struct reorder {
	struct entry *row; /* [head, tail), sorted by time */
	size_t head, tail, row_capacity;
	struct entry *heap;
	size_t heap_count, heap_capacity;
	struct chunk *chunk; /* being filled */
	struct chunk *free;
	size_t free_count;
	size_t bytes;
	uint64_t sequence;
	/* calls in the heap whose time is their beginning */
	struct pending_event *heaped[TRACE_THREADS];
};

struct reorder *reorder__new(void)
{
	return calloc(1, sizeof(struct reorder));
}

static struct chunk *chunk_of(const struct pending_event *pending)
{
	return (struct chunk *)((uintptr_t)pending & ~(uintptr_t)(CHUNK_BYTES - 1));
}

static void release(struct reorder *order, struct pending_event *pending)
{
	struct chunk *chunk = chunk_of(pending);

	order->bytes -= sizeof(*pending) - sizeof(pending->event) + pending->size;
	if (--chunk->events)
		return;
	if (chunk == order->chunk) {
		chunk->used = sizeof(*chunk);
		return;
	}
	if (order->free_count == CHUNKS_KEPT) {
		free(chunk);
		return;
	}
	chunk->next = order->free;
	order->free = chunk;
	order->free_count++;
}

void reorder__free(struct reorder *order)
{
	uint64_t time;

	if (!order)
		return;
	while (reorder__first(order, &time))
		reorder__pop(order);
	while (order->free) {
		struct chunk *chunk = order->free;

		order->free = chunk->next;
		free(chunk);
	}
	free(order->chunk);
	free(order->row);
	free(order->heap);
	free(order);
}

static int take_chunk(struct reorder *order)
{
	struct chunk *chunk = order->free;

	if (chunk) {
		order->free = chunk->next;
		order->free_count--;
	} else {
		chunk = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);
		if (!chunk)
			return -ENOMEM;
	}
	chunk->used = sizeof(*chunk);
	chunk->events = 0;
	order->chunk = chunk;
	return 0;
}

static int grow(struct entry **entries, size_t *capacity)
{
	size_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
	struct entry *grown = realloc(*entries, wanted * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*entries = grown;
	*capacity = wanted;
	return 0;
}

/* Reserves a slot in the array and in the heap, so that an insertion cannot fail. */
static int make_room(struct reorder *order)
{
	if (order->heap_count == order->heap_capacity && grow(&order->heap, &order->heap_capacity))
		return -ENOMEM;
	if (order->tail < order->row_capacity)
		return 0;
	if (order->head < order->row_capacity / 2 || !order->head)
		return grow(&order->row, &order->row_capacity);
	memmove(order->row, order->row + order->head,
		(order->tail - order->head) * sizeof(*order->row));
	order->tail -= order->head;
	order->head = 0;
	return 0;
}

struct pending_event *reorder__room(struct reorder *order, size_t size)
{
	const size_t align = _Alignof(struct pending_event);
	struct pending_event *pending;
	size_t bytes;

	if (size < sizeof(struct trace_event) || size > ORDER_EVENT_MAX || make_room(order))
		return NULL;
	bytes = (sizeof(*pending) - sizeof(pending->event) + size + align - 1) & ~(align - 1);
	if ((!order->chunk || order->chunk->used + bytes > CHUNK_BYTES) && take_chunk(order))
		return NULL;
	pending = (struct pending_event *)((char *)order->chunk + order->chunk->used);
	order->chunk->used += bytes;
	order->chunk->events++;
	pending->sequence = order->sequence++;
	pending->size = (uint32_t)size;
	order->bytes += sizeof(*pending) - sizeof(pending->event) + size;
	return pending;
}

static bool is_before(const struct entry *a, const struct entry *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->pending->rank != b->pending->rank)
		return a->pending->rank < b->pending->rank;
	return a->pending->sequence < b->pending->sequence;
}

/*
 * The list of the heap's calls of the event's thread; NULL if reorder__has never looks for this
 * event.
 */
static struct pending_event **heaped_calls(struct reorder *order, const struct entry *entry)
{
	const struct pending_event *pending = entry->pending;

	if (!pending->thread || entry->time != pending->event.start_ns ||
	    pending->event.thread >= TRACE_THREADS)
		return NULL;
	return &order->heaped[pending->event.thread];
}

static void add_to_heap(struct reorder *order, const struct entry *entry)
{
	struct pending_event **calls = heaped_calls(order, entry);
	size_t at = order->heap_count++;

	if (calls)
		DL_APPEND(*calls, entry->pending);

	while (at && is_before(entry, &order->heap[(at - 1) / 2])) {
		order->heap[at] = order->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	order->heap[at] = *entry;
}

static void pop_from_heap(struct reorder *order)
{
	struct entry last = order->heap[--order->heap_count];
	size_t at = 0;

	for (size_t child = 1; child < order->heap_count; child = at * 2 + 1) {
		if (child + 1 < order->heap_count &&
		    is_before(&order->heap[child + 1], &order->heap[child]))
			child++;
		if (!is_before(&order->heap[child], &last))
			break;
		order->heap[at] = order->heap[child];
		at = child;
	}
	order->heap[at] = last;
}

void reorder__insert(struct reorder *order, struct pending_event *pending, uint64_t time)
{
	const struct entry entry = {.time = time, .pending = pending};
	size_t count = order->tail - order->head, at = order->tail;
	size_t end = count > STEPS_MAX ? order->tail - STEPS_MAX : order->head;

	while (at > end && is_before(&entry, &order->row[at - 1]))
		at--;
	if (at == end && at > order->head && is_before(&entry, &order->row[at - 1])) {
		add_to_heap(order, &entry);
		return;
	}
	memmove(order->row + at + 1, order->row + at, (order->tail - at) * sizeof(*order->row));
	order->row[at] = entry;
	order->tail++;
}

static bool heap_is_first(const struct reorder *order)
{
	if (!order->heap_count)
		return false;
	return order->head == order->tail || is_before(&order->heap[0], &order->row[order->head]);
}

struct pending_event *reorder__first(const struct reorder *order, uint64_t *time)
{
	const struct entry *entry;

	if (heap_is_first(order))
		entry = &order->heap[0];
	else if (order->head < order->tail)
		entry = &order->row[order->head];
	else
		return NULL;
	*time = entry->time;
	return entry->pending;
}

void reorder__pop(struct reorder *order)
{
	if (heap_is_first(order)) {
		struct pending_event **calls = heaped_calls(order, &order->heap[0]);

		if (calls)
			DL_DELETE(*calls, order->heap[0].pending);
		release(order, order->heap[0].pending);
		pop_from_heap(order);
		return;
	}
	if (order->head == order->tail)
		return;
	release(order, order->row[order->head++].pending);
	if (order->head == order->tail)
		order->head = order->tail = 0;
}

static bool is_call(const struct pending_event *pending, uint32_t thread, uint8_t depth,
		    uint64_t start_ns)
{
	return pending->thread && pending->event.thread == thread &&
	       pending->event.depth == depth && pending->event.start_ns == start_ns;
}

bool reorder__has(const struct reorder *order, uint32_t thread, uint8_t depth, uint64_t start_ns)
{
	size_t low = order->head, high = order->tail;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (order->row[middle].time < start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < order->tail && order->row[low].time == start_ns; low++) {
		if (is_call(order->row[low].pending, thread, depth, start_ns))
			return true;
	}
	for (const struct pending_event *call = thread < TRACE_THREADS ? order->heaped[thread] :
									 NULL;
	     call; call = call->next) {
		if (is_call(call, thread, depth, start_ns))
			return true;
	}
	return false;
}

size_t reorder__count(const struct reorder *order)
{
	return order->tail - order->head + order->heap_count;
}

size_t reorder__bytes(const struct reorder *order)
{
	return order->bytes;
}

uint64_t reorder__middle(const struct reorder *order)
{
	if (order->head < order->tail)
		return order->row[order->head + (order->tail - order->head) / 2].time;
	return order->heap_count ? order->heap[0].time : 0;
}
