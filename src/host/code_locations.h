/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where one thread spends its time: samples and sleeps by activity, class of CUDA call and the
 * user's line (the innermost frame if there is none). The counts only give shares; the exact times
 * are known separately, and code_locations__rank combines both.
 */
#ifndef HOST_CODE_LOCATIONS_H
#define HOST_CODE_LOCATIONS_H

#include "model/host.h"
#include "model/site.h"

#define LOCATIONS_MAX 512 /* per thread; further time has no line */

/* The memory that the stacks of all threads may still take, in bytes. */
struct code_locations_budget {
	size_t left;
};

struct code_locations;

/* The key of a location, besides its line. */
struct location_key {
	enum host_activity activity;
	enum host_class class;
	uint32_t call; /* for ACTIVITY_OTHER, else ~0 */
};

/* Returns NULL if out of memory. `budget` must outlive it. */
struct code_locations *code_locations__new(struct code_locations_budget *budget);
void code_locations__free(struct code_locations *locations);

/*
 * `times` samples or sleeps of total weight `amount` (samples, or nanoseconds). `marks_made` is
 * what code_locations__marks_made returned when they were counted: their stack may get its names
 * later.
 */
struct location_count {
	uint64_t amount, times;
	uint32_t marks_made;
};

/*
 * Counts at a stack, and may keep a copy of it. `stack` is NULL if unknown. Without memory or room
 * they are counted without a line. A mark that was made after they were counted includes them.
 */
void code_locations__add(struct code_locations *locations, const struct location_key *key,
			 const struct stack *stack, const struct location_count *count);

/* How often code_locations__mark was called. */
uint32_t code_locations__marks_made(const struct code_locations *locations);

/* Stores the current counts as mark number `mark`, below SITE_MARKS. `none`: stores zeros. */
void code_locations__mark(struct code_locations *locations, int mark, bool none);

/*
 * Returns the locations for ns[activity][class], most time first, without those that have no time.
 * Uses the counts since mark number `mark`; -1: all counts. The classes of waiting for a CPU are
 * joined, except for waits for the GPU. The counts of an activity and class share all its time; if
 * there are none, its location has no stack. *out is malloc; the locations own its stacks.
 * Returns the number of locations, or a negative errno.
 */
long code_locations__rank(const struct code_locations *locations, int mark,
			  const uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES],
			  struct host_location **out);

#endif
