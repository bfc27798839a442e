/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When functions began and stopped allocating, by size. Sorted for lookup: a profile may have tens
 * of thousands of sizes, and as many call sites need theirs.
 */
#ifndef FINDING_SIZE_SPANS_H
#define FINDING_SIZE_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

struct size_span {
	uint64_t size; /* 0: any size */
	uint64_t first_ns, last_ns;
	uint16_t row; /* row of the function */
};

struct size_spans {
	struct size_span *list; /* ordered by function and size */
	size_t count;
};

/* `profile` may be NULL. 0, or -ENOMEM: the list is empty then. */
int size_spans__read(const struct profile *profile, struct size_spans *spans);
void size_spans__clear(struct size_spans *spans);

/* NULL: the function in `row` allocated nothing of this size, or of any (0). */
const struct size_span *size_spans__find(const struct size_spans *spans, size_t row, uint64_t size);

#endif
