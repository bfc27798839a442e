/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where one thread spends its time: samples and sleeps by kind, class of CUDA call and the user's line. What was counted
 * is shares of exact times, which are known otherwise: places__rank gives the times.
 */
#ifndef HOST_PLACES_H
#define HOST_PLACES_H

#include "model/host.h"

#define PLACES_MAX 512 /* of a thread; beyond, time has no line */

/* How much memory the stacks of all threads may take still, in bytes. */
struct places_budget {
	size_t left;
};

struct places;

/* What was counted alike. */
struct place_key {
	enum host_kind kind;
	enum host_class class;
	uint32_t call; /* of HOST_OTHER, else ~0 */
};

/* NULL without memory. `budget` must outlive it. */
struct places *places__new(struct places_budget *budget);
void places__free(struct places *places);

/* Forgets all. Reasons that were ranked before are not valid any more. */
void places__clear(struct places *places);

/*
 * Counts `amount` (samples, or nanoseconds) at a stack, of which a copy may be kept; NULL: it is not known. `program` as
 * user_line__find. Without memory, or room, it has no line.
 */
void places__add(struct places *places, const struct place_key *key, const struct stack *stack, const char *program,
		 uint64_t amount);

/*
 * The reasons for times[kind][class], those with most time first; reasons of no time are left out. To have no CPU
 * is one reason in all calls but waits for the GPU. What was counted
 * of a kind and class shares out all its time; where nothing was, the reason has no line. *out is malloc, its texts and
 * stacks are the places'. Returns how many, or a negative errno.
 */
long places__rank(const struct places *places, const uint64_t times[HOST_KINDS][HOST_CLASSES], struct host_reason **out);

/* Whether two reasons are one: the same kind, class, call and line. */
bool places__is_same(const struct host_reason *a, const struct host_reason *b);

/* Sorts by falling time. */
void places__sort(struct host_reason *reasons, size_t count);

#endif
