/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where one thread spends its time: samples and sleeps by activity, class of CUDA call and the user's line, or without one
 * the innermost frame. What was counted is shares of exact times, which are known otherwise: code_locations__rank gives the times.
 */
#ifndef HOST_CODE_LOCATIONS_H
#define HOST_CODE_LOCATIONS_H

#include "model/host.h"
#include "model/site.h"

#define PLACES_MAX 512 /* of a thread; beyond, time has no line */

/* How much memory the stacks of all threads may take still, in bytes. */
struct code_locations_budget {
	size_t left;
};

struct code_locations;

/* What was counted alike. */
struct place_key {
	enum host_activity activity;
	enum host_class class;
	uint32_t call; /* of ACTIVITY_OTHER, else ~0 */
};

/* NULL without memory. `budget` must outlive it. */
struct code_locations *code_locations__new(struct code_locations_budget *budget);
void code_locations__free(struct code_locations *places);

/*
 * Counts `times` samples or sleeps, which weigh `amount` (samples, or nanoseconds), at a stack, of which a copy may be kept;
 * NULL: it is not known. Without memory, or room, it has no line.
 */
void code_locations__add(struct code_locations *places, const struct place_key *key, const struct stack *stack, uint64_t amount,
		 uint64_t times);

/* What was counted by now is kept as mark number `mark`, below SITE_MARKS; `none`: nothing was by then. */
void code_locations__mark(struct code_locations *places, int mark, bool none);

/*
 * Of what was counted since mark number `mark`, -1: of all, the places for ns[activity][class], those with most time first; those of no time are left out. To have no CPU
 * is one in all calls but waits for the GPU. What was counted of an activity and class shares out all its time; where
 * nothing was, the place has no stack. *out is malloc, its stacks are the places'. Returns how many, or a negative errno.
 */
long code_locations__rank(const struct code_locations *places, int mark, const uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES], struct host_place **out);

#endif
