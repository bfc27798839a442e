/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens when calls return, kept until the timeline has come to that time: lines come when
 * calls begin.
 */
#ifndef OUTPUT_TIMELINE_LATER_H
#define OUTPUT_TIMELINE_LATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATER_MAX 1024u /* calls that are in progress at one time; the owner takes more early */

/* Elements of the owner's type, whose first member is uint64_t time_ns. */
struct later {
	size_t size; /* of an element */
	size_t count;
	uint8_t *elements; /* the earliest is last */
};

/* Returns 0 or -ENOMEM. */
int later__init(struct later *later, size_t size);
void later__clear(struct later *later);

bool later__is_full(const struct later *later);

/* Copies an element in, behind those of the same time. There must be room. */
void later__add(struct later *later, const void *element);

/*
 * Copies the earliest element out and removes it, if it happens until `time_ns`. Returns whether
 * there was one.
 */
bool later__take(struct later *later, uint64_t time_ns, void *element);

#endif
