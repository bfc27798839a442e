// SPDX-License-Identifier: BSD-2-Clause
// When sizes were allocated, see size_spans.h.
#include "finding/size_spans.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static int compare_spans(const void *a, const void *b)
{
	const struct size_span *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

static struct size_span span_of(const struct profile_size *size, bool any)
{
	return (struct size_span){
		.size = any ? 0 : size->key.size,
		.first_ns = size->record.first_ns,
		.last_ns = size->record.latest_ns,
		.row = size->key.row,
	};
}

/* Merges entries of one function and size on several devices, which are adjacent after sorting. */
static size_t merge_spans(struct size_span *list, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		struct size_span *last = used ? &list[used - 1] : NULL;

		if (!last || compare_spans(last, &list[i])) {
			list[used++] = list[i];
			continue;
		}
		if (list[i].first_ns < last->first_ns)
			last->first_ns = list[i].first_ns;
		if (list[i].last_ns > last->last_ns)
			last->last_ns = list[i].last_ns;
	}
	return used;
}

int size_spans__read(const struct profile *profile, struct size_spans *spans)
{
	size_t count = profile ? profile->size_count : 0;

	spans->list = calloc(2 * count + 1, sizeof(*spans->list));
	if (!spans->list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		spans->list[2 * i] = span_of(&profile->sizes[i], false);
		spans->list[2 * i + 1] = span_of(&profile->sizes[i], true);
	}
	qsort(spans->list, 2 * count, sizeof(*spans->list), compare_spans);
	spans->count = merge_spans(spans->list, 2 * count);
	return 0;
}

void size_spans__clear(struct size_spans *spans)
{
	free(spans->list);
	*spans = (struct size_spans){0};
}

const struct size_span *size_spans__find(const struct size_spans *spans, size_t row, uint64_t size)
{
	const struct size_span wanted = {.size = size, .row = (uint16_t)row};

	if (row > UINT16_MAX)
		return NULL;
	return bsearch(&wanted, spans->list, spans->count, sizeof(*spans->list), compare_spans);
}
