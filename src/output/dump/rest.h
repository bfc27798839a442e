/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up the threads that have no line of their own, by what they wait for. */
#ifndef OUTPUT_DUMP_REST_H
#define OUTPUT_DUMP_REST_H

#include <stdio.h>

#include "model/dump.h"
#include "model/dump_before.h"
#include "output/dump/words.h"

struct dump_rest {
	size_t threads;
	size_t stand; /* those that have not moved */
	size_t waits[DUMP_WAITS];
	size_t runs[DUMP_RUN_STATES]; /* those whose state says all that is known */
};

void dump_rest__add(struct dump_rest *rest, const struct dump_thread *thread, enum dump_motion motion);

/* "14 other threads: 12 wait for a lock, 2 sleep for a time", most first, and a newline; nothing where there are none. */
void dump_rest__print(FILE *out, const struct dump_rest *rest, int indent);

#endif
