// SPDX-License-Identifier: BSD-2-Clause
// Time by places in the code; see code_locations.h.
#include "host/code_locations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dump/system_call.h"
#include "host/kept_stack.h"
#include "model/user_line.h"

struct place_sum {
	uint64_t amount, times;
};

struct place {
	struct place_key key;
	struct stack *stack; /* an example; NULL for the place of all without a stack */
	struct place_sum sum;
	struct place_sum marks[SITE_MARKS]; /* the sum at each mark */
};

struct code_locations {
	struct code_locations_budget *budget;
	struct place *list;
	size_t count;
};

struct code_locations *code_locations__new(struct code_locations_budget *budget)
{
	struct code_locations *places = calloc(1, sizeof(*places));

	if (places)
		places->budget = budget;
	return places;
}

static void free_stack(struct code_locations *places, struct stack *stack)
{
	if (stack)
		places->budget->left += kept_stack__bytes(stack);
	free(stack);
}

void code_locations__free(struct code_locations *places)
{
	if (!places)
		return;
	for (size_t i = 0; i < places->count; i++)
		free_stack(places, places->list[i].stack);
	free(places->list);
	free(places);
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Frames without a line are compared by function, frames without a function by object. */
static bool is_same_line(const struct stack_frame *a, const struct stack_frame *b)
{
	return a->kind == b->kind && a->line == b->line && is_same_text(a->function, b->function) &&
	       is_same_text(a->file, b->file) && is_same_text(a->object, b->object);
}

static bool is_same_key(const struct place_key *a, const struct place_key *b)
{
	return a->activity == b->activity && a->class == b->class && a->call == b->call;
}

/* The frame that identifies the place; NULL if the stack is empty. */
static const struct stack_frame *line_of(const struct stack *stack)
{
	const struct stack_frame *own = user_line__find(stack);

	return own || !stack || !stack->count ? own : &stack->frames[0];
}

static struct place *find(const struct code_locations *places, const struct place_key *key,
			  const struct stack_frame *line)
{
	for (size_t i = 0; i < places->count; i++) {
		struct place *place = &places->list[i];

		if (!is_same_key(&place->key, key) || !place->stack != !line)
			continue;
		if (!line || is_same_line(line_of(place->stack), line))
			return place;
	}
	return NULL;
}

/* There is always room for a key's place without a stack. */
static struct place *append(struct code_locations *places, const struct place_key *key,
			    struct stack *stack)
{
	if (stack && places->count >= PLACES_MAX)
		return NULL;
	if (ARRAY_APPEND(places->list, places->count, (struct place){.key = *key, .stack = stack}))
		return NULL;
	return &places->list[places->count - 1];
}

static struct stack *keep_stack(struct code_locations *places, const struct stack *stack)
{
	size_t bytes = kept_stack__bytes(stack);
	struct stack *kept = bytes <= places->budget->left ? kept_stack__new(stack) : NULL;

	if (kept)
		places->budget->left -= bytes;
	return kept;
}

/* Keeps the line separately if it is beyond the part of the stack that is kept. */
static struct place *make(struct code_locations *places, const struct place_key *key,
			  const struct stack *stack, const struct stack_frame *line)
{
	struct stack *kept = keep_stack(places, stack);
	bool whole = kept && kept->count && is_same_line(line_of(kept), line);
	struct place *place = whole ? append(places, key, kept) : NULL;

	if (!place)
		free_stack(places, kept);
	return place;
}

/* Waiting for a CPU is one class whatever the call, except in a wait for the GPU. */
static enum host_class joined_class(enum host_activity activity, enum host_class class)
{
	bool joins = activity == ACTIVITY_READY || activity == ACTIVITY_THROTTLED;

	return joins && class != HOST_WAITS ? HOST_OUTSIDE : class;
}

void code_locations__add(struct code_locations *places, const struct place_key *key,
			 const struct stack *stack, uint64_t amount, uint64_t times)
{
	const struct place_key own = {key->activity, joined_class(key->activity, key->class),
				      key->call};
	const struct stack_frame *line = line_of(stack);
	struct place *place = NULL;

	if (line) {
		place = find(places, &own, line);
		if (!place)
			place = make(places, &own, stack, line);
	}
	if (!place)
		place = find(places, &own, NULL);
	if (!place)
		place = append(places, &own, NULL);
	if (!place)
		return;
	place->sum.amount += amount;
	place->sum.times += times;
}

void code_locations__mark(struct code_locations *places, int mark, bool none)
{
	const struct place_sum nothing = {0};

	for (size_t i = 0; i < places->count; i++)
		places->list[i].marks[mark] = none ? nothing : places->list[i].sum;
}

/* --- ranking --- */

static int compare(const void *a, const void *b)
{
	const struct host_place *one = a, *other = b;

	return (one->ns < other->ns) - (one->ns > other->ns);
}

static struct place_sum sum_since(const struct place *place, int mark)
{
	const struct place_sum nothing = {0}, before = mark < 0 ? nothing : place->marks[mark];

	return (struct place_sum){place->sum.amount - before.amount,
				  place->sum.times - before.times};
}

static void sum_up(const struct code_locations *places, int mark,
		   double sums[HOST_ACTIVITIES][HOST_CLASSES])
{
	memset(sums, 0, HOST_ACTIVITIES * sizeof(*sums));
	for (size_t i = 0; i < places->count; i++)
		sums[places->list[i].key.activity][places->list[i].key.class] +=
			(double)sum_since(&places->list[i], mark).amount;
}

static struct host_place place_of(const struct place *place, uint64_t ns, uint64_t times)
{
	return (struct host_place){
		.activity = place->key.activity,
		.class = place->key.class,
		.call_name = place->key.call == ~0u ? NULL : system_call__of(place->key.call).name,
		.ns = ns,
		.times = times,
		.stack = place->stack,
	};
}

static uint64_t part_of(uint64_t amount, uint64_t ns, double sum)
{
	return amount ? (uint64_t)((double)ns * ((double)amount / sum)) : 0;
}

static void join_calls(uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES])
{
	for (int activity = ACTIVITY_READY; activity <= ACTIVITY_THROTTLED; activity++)
		for (int class = 0; class < HOST_CLASSES; class ++) {
			enum host_class to =
				joined_class((enum host_activity)activity, (enum host_class) class);
			uint64_t moved = ns[activity][class];

			ns[activity][class] = 0;
			ns[activity][to] += moved;
		}
}

/*
 * Distributes the time of each activity and class by its counts. If it has no counts, it becomes a
 * place without a stack.
 */
static size_t share_out(const struct code_locations *places, int mark,
			uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES], struct host_place *out)
{
	double sums[HOST_ACTIVITIES][HOST_CLASSES];
	size_t count = 0;

	sum_up(places, mark, sums);
	for (size_t i = 0; i < places->count; i++) {
		const struct place_key *key = &places->list[i].key;
		const struct place_sum sum = sum_since(&places->list[i], mark);
		uint64_t part = part_of(sum.amount, ns[key->activity][key->class],
					sums[key->activity][key->class]);

		if (part)
			out[count++] = place_of(&places->list[i], part, sum.times);
	}
	for (int activity = 0; activity < HOST_ACTIVITIES; activity++)
		for (int class = 0; class < HOST_CLASSES; class ++) {
			const struct place bare = {.key = {(enum host_activity)activity,
							   (enum host_class) class, ~0u}};

			if (ns[activity][class] && sums[activity][class] <= 0)
				out[count++] = place_of(&bare, ns[activity][class], 0);
		}
	return count;
}

long code_locations__rank(const struct code_locations *places, int mark,
			  const uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES], struct host_place **out)
{
	size_t room = places->count + (size_t)HOST_ACTIVITIES * HOST_CLASSES, count;
	struct host_place *list = calloc(room, sizeof(*list));
	uint64_t joined[HOST_ACTIVITIES][HOST_CLASSES];

	if (!list)
		return -ENOMEM;
	memcpy(joined, ns, sizeof(joined));
	join_calls(joined);
	count = share_out(places, mark, joined, list);
	if (count)
		qsort(list, count, sizeof(*list), compare);
	*out = list;
	return (long)count;
}
