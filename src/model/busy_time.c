// SPDX-License-Identifier: BSD-2-Clause
// The union of times, see busy_time.h.
#include "model/busy_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLOSED_AT_ONCE (BUSY_SPANS / 4)

/* Keeps every second mark. */
static void thin_marks(struct busy_time *busy)
{
	for (size_t i = 0; i < BUSY_MARKS / 2; i++)
		busy->marks[i] = busy->marks[2 * i + 1];
	busy->mark_count = BUSY_MARKS / 2;
	busy->mark_each *= 2;
}

/* Without memory there are no marks. */
static void note_closing(struct busy_time *busy)
{
	if (!busy->marks) {
		busy->marks = calloc(BUSY_MARKS, sizeof(*busy->marks));
		busy->mark_each = 1;
	}
	if (!busy->marks || ++busy->closings % busy->mark_each)
		return;
	if (busy->mark_count == BUSY_MARKS)
		thin_marks(busy);
	busy->marks[busy->mark_count++] =
		(struct busy_mark){busy->closed_until_ns, busy->closed_ns};
}

static void close_earliest(struct busy_time *busy)
{
	for (size_t i = 0; i < CLOSED_AT_ONCE; i++)
		busy->closed_ns += busy->spans[i].end_ns - busy->spans[i].start_ns;
	busy->closed_until_ns = busy->spans[CLOSED_AT_ONCE - 1].end_ns;
	note_closing(busy);
	busy->count -= CLOSED_AT_ONCE;
	memmove(busy->spans, busy->spans + CLOSED_AT_ONCE, busy->count * sizeof(*busy->spans));
}

/* The first span that does not end before `start_ns`; work mostly comes in order. */
static size_t first_reached(const struct busy_time *busy, uint64_t start_ns)
{
	size_t low = 0, high = busy->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (busy->spans[middle].end_ns < start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Replaces the spans that touch the new one by one span, or inserts it. There is room. */
static void merge(struct busy_time *busy, struct busy_span span)
{
	size_t first = first_reached(busy, span.start_ns), end = first;
	struct busy_span *spans = busy->spans;

	while (end < busy->count && spans[end].start_ns <= span.end_ns) {
		if (spans[end].start_ns < span.start_ns)
			span.start_ns = spans[end].start_ns;
		if (spans[end].end_ns > span.end_ns)
			span.end_ns = spans[end].end_ns;
		end++;
	}
	memmove(spans + first + 1, spans + end, (busy->count - end) * sizeof(*spans));
	spans[first] = span;
	busy->count -= end - first;
	busy->count++;
}

static void note_ends(struct busy_time *busy, uint64_t start_ns, uint64_t end_ns)
{
	if (!busy->last_ns || start_ns < busy->first_ns)
		busy->first_ns = start_ns;
	if (end_ns > busy->last_ns)
		busy->last_ns = end_ns;
}

int busy_time__add(struct busy_time *busy, uint64_t start_ns, uint64_t end_ns)
{
	struct busy_span span = {start_ns, end_ns};

	if (end_ns < start_ns)
		return 0;
	/* One more than are kept: a span is inserted before earlier ones are closed. */
	if (!busy->spans)
		busy->spans = calloc(BUSY_SPANS + 1, sizeof(*busy->spans));
	if (!busy->spans)
		return -ENOMEM;
	note_ends(busy, start_ns, end_ns);
	if (start_ns < busy->closed_until_ns) {
		busy->late++;
		span.start_ns = busy->closed_until_ns;
	}
	if (span.end_ns < span.start_ns)
		return 0;
	merge(busy, span);
	if (busy->count > BUSY_SPANS)
		close_earliest(busy);
	return 0;
}

uint64_t busy_time__ns(const struct busy_time *busy)
{
	uint64_t ns = busy->closed_ns;

	for (size_t i = 0; i < busy->count; i++)
		ns += busy->spans[i].end_ns - busy->spans[i].start_ns;
	return ns;
}

static uint64_t open_ns_since(const struct busy_time *busy, uint64_t from_ns)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < busy->count; i++) {
		const struct busy_span *span = &busy->spans[i];

		if (span->end_ns > from_ns)
			ns += span->end_ns - (span->start_ns > from_ns ? span->start_ns : from_ns);
	}
	return ns;
}

uint64_t busy_time__ns_since(const struct busy_time *busy, uint64_t *from_ns)
{
	size_t i = 0;

	if (*from_ns <= busy->first_ns) {
		*from_ns = busy->first_ns;
		return busy_time__ns(busy);
	}
	while (i < busy->mark_count && busy->marks[i].until_ns < *from_ns)
		i++;
	if (i < busy->mark_count) {
		*from_ns = busy->marks[i].until_ns;
		return busy_time__ns(busy) - busy->marks[i].closed_ns;
	}
	if (*from_ns < busy->closed_until_ns)
		*from_ns = busy->closed_until_ns;
	return open_ns_since(busy, *from_ns);
}

void busy_time__clear(struct busy_time *busy)
{
	free(busy->marks);
	free(busy->spans);
	*busy = (struct busy_time){0};
}
