/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a GPU worked: the union of the times of its work, which overlap, and come in any order.
 * The memory is bounded: beyond BUSY_SPANS separate times the earliest ones are only summed up, and
 * work before their end that comes later still is left out.
 */
#ifndef MODEL_BUSY_TIME_H
#define MODEL_BUSY_TIME_H

#include <stddef.h>
#include <stdint.h>

#define BUSY_SPANS 4096
#define BUSY_MARKS 128 /* moments from which the time can be had, of those only summed up */

struct busy_mark {
	uint64_t until_ns, closed_ns; /* as in struct busy_time at some time */
};

struct busy_span {
	uint64_t start_ns, end_ns;
};

/* All zeros: no work. */
struct busy_time {
	uint64_t first_ns, last_ns; /* begin of the first and end of the last work; any clock */
	uint64_t closed_ns;	    /* sum of the spans that are only summed up */
	uint64_t closed_until_ns;   /* their end */
	uint64_t late;		    /* pieces of work left out, as a whole or in part */
	struct busy_span *spans;    /* in order, separate */
	size_t count;
	struct busy_mark *marks; /* in order */
	size_t mark_count;
	uint64_t closings, mark_each; /* one in so many closings so far has a mark */
};

/*
 * Adds work of this time; one that ends before it starts is ignored. Returns 0 or -ENOMEM: it is
 * left out.
 */
int busy_time__add(struct busy_time *busy, uint64_t start_ns, uint64_t end_ns);

/* The sum of all times, each moment once. */
uint64_t busy_time__ns(const struct busy_time *busy);

/*
 * The same from `*from_ns` on, or from the first moment after it from which the time is known,
 * which `*from_ns` is set to.
 */
uint64_t busy_time__ns_since(const struct busy_time *busy, uint64_t *from_ns);

void busy_time__clear(struct busy_time *busy);

#endif
