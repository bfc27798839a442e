// SPDX-License-Identifier: BSD-2-Clause
// Time by locations in the code; see code_locations.h.
#include "host/code_locations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dump/system_call.h"
#include "host/kept_stack.h"
#include "model/user_line.h"

struct location_sum {
	uint64_t amount, times;
};

struct location {
	struct location_key key;
	struct stack *stack; /* an example; NULL for the location of all without a stack */
	struct location_sum sum;
	struct location_sum marks[SITE_MARKS]; /* the sum at each mark */
};

struct code_locations {
	struct code_locations_budget *budget;
	struct location *list;
	size_t count;
	uint32_t marks_made;
	uint32_t made
		[SITE_MARKS]; /* the number of each mark, in their order; 0: nothing is before it */
};

struct code_locations *code_locations__new(struct code_locations_budget *budget)
{
	struct code_locations *locations = calloc(1, sizeof(*locations));

	if (locations)
		locations->budget = budget;
	return locations;
}

static void free_stack(struct code_locations *locations, struct stack *stack)
{
	if (stack)
		locations->budget->left += kept_stack__bytes(stack);
	free(stack);
}

void code_locations__free(struct code_locations *locations)
{
	if (!locations)
		return;
	for (size_t i = 0; i < locations->count; i++)
		free_stack(locations, locations->list[i].stack);
	free(locations->list);
	free(locations);
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

static bool is_same_key(const struct location_key *a, const struct location_key *b)
{
	return a->activity == b->activity && a->class == b->class && a->call == b->call;
}

/* The frame that identifies the location; NULL if the stack is empty. */
static const struct stack_frame *line_of(const struct stack *stack)
{
	const struct stack_frame *own = user_line__find(stack);

	return own || !stack || !stack->count ? own : &stack->frames[0];
}

static struct location *find(const struct code_locations *locations, const struct location_key *key,
			     const struct stack_frame *line)
{
	for (size_t i = 0; i < locations->count; i++) {
		struct location *location = &locations->list[i];

		if (!is_same_key(&location->key, key) || !location->stack != !line)
			continue;
		if (!line || is_same_line(line_of(location->stack), line))
			return location;
	}
	return NULL;
}

/* There is always room for a key's location without a stack. */
static struct location *append(struct code_locations *locations, const struct location_key *key,
			       struct stack *stack)
{
	if (stack && locations->count >= LOCATIONS_MAX)
		return NULL;
	if (ARRAY_APPEND(locations->list, locations->count,
			 (struct location){.key = *key, .stack = stack}))
		return NULL;
	return &locations->list[locations->count - 1];
}

static struct stack *keep_stack(struct code_locations *locations, const struct stack *stack)
{
	size_t bytes = kept_stack__bytes(stack);
	struct stack *kept = bytes <= locations->budget->left ? kept_stack__new(stack) : NULL;

	if (kept)
		locations->budget->left -= bytes;
	return kept;
}

/* Keeps the line separately if it is beyond the part of the stack that is kept. */
static struct location *make(struct code_locations *locations, const struct location_key *key,
			     const struct stack *stack, const struct stack_frame *line)
{
	struct stack *kept = keep_stack(locations, stack);
	bool whole = kept && kept->count && is_same_line(line_of(kept), line);
	struct location *location = whole ? append(locations, key, kept) : NULL;

	if (!location)
		free_stack(locations, kept);
	return location;
}

/* Waiting for a CPU is one class whatever the call, except in a wait for the GPU. */
static enum host_class joined_class(enum host_activity activity, enum host_class class)
{
	bool joins = activity == ACTIVITY_READY || activity == ACTIVITY_THROTTLED;

	return joins && class != HOST_WAITS ? HOST_OUTSIDE : class;
}

static void add_to(struct location_sum *sum, const struct location_count *count)
{
	sum->amount += count->amount;
	sum->times += count->times;
}

void code_locations__add(struct code_locations *locations, const struct location_key *key,
			 const struct stack *stack, const struct location_count *count)
{
	const struct location_key own = {key->activity, joined_class(key->activity, key->class),
					 key->call};
	const struct stack_frame *line = line_of(stack);
	struct location *location = NULL;

	if (line) {
		location = find(locations, &own, line);
		if (!location)
			location = make(locations, &own, stack, line);
	}
	if (!location)
		location = find(locations, &own, NULL);
	if (!location)
		location = append(locations, &own, NULL);
	if (!location)
		return;
	add_to(&location->sum, count);
	for (int mark = 0; mark < SITE_MARKS; mark++)
		if (locations->made[mark] > count->marks_made)
			add_to(&location->marks[mark], count);
}

uint32_t code_locations__marks_made(const struct code_locations *locations)
{
	return locations->marks_made;
}

void code_locations__mark(struct code_locations *locations, int mark, bool none)
{
	const struct location_sum nothing = {0};

	locations->marks_made++;
	locations->made[mark] = none ? 0 : locations->marks_made;
	for (size_t i = 0; i < locations->count; i++)
		locations->list[i].marks[mark] = none ? nothing : locations->list[i].sum;
}

/* --- ranking --- */

static int compare(const void *a, const void *b)
{
	const struct host_location *one = a, *other = b;

	return (one->ns < other->ns) - (one->ns > other->ns);
}

static struct location_sum sum_since(const struct location *location, int mark)
{
	const struct location_sum nothing = {0},
				  before = mark < 0 ? nothing : location->marks[mark];

	return (struct location_sum){location->sum.amount - before.amount,
				     location->sum.times - before.times};
}

static void sum_up(const struct code_locations *locations, int mark,
		   double sums[HOST_ACTIVITIES][HOST_CLASSES])
{
	memset(sums, 0, HOST_ACTIVITIES * sizeof(*sums));
	for (size_t i = 0; i < locations->count; i++)
		sums[locations->list[i].key.activity][locations->list[i].key.class] +=
			(double)sum_since(&locations->list[i], mark).amount;
}

static struct host_location location_of(const struct location *location, uint64_t ns,
					uint64_t times)
{
	return (struct host_location){
		.activity = location->key.activity,
		.class = location->key.class,
		.call_name =
			location->key.call == ~0u ? NULL : system_call__of(location->key.call).name,
		.ns = ns,
		.times = times,
		.stack = location->stack,
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
 * location without a stack.
 */
static size_t share_out(const struct code_locations *locations, int mark,
			uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES], struct host_location *out)
{
	double sums[HOST_ACTIVITIES][HOST_CLASSES];
	size_t count = 0;

	sum_up(locations, mark, sums);
	for (size_t i = 0; i < locations->count; i++) {
		const struct location_key *key = &locations->list[i].key;
		const struct location_sum sum = sum_since(&locations->list[i], mark);
		uint64_t part = part_of(sum.amount, ns[key->activity][key->class],
					sums[key->activity][key->class]);

		if (part)
			out[count++] = location_of(&locations->list[i], part, sum.times);
	}
	for (int activity = 0; activity < HOST_ACTIVITIES; activity++)
		for (int class = 0; class < HOST_CLASSES; class ++) {
			const struct location bare = {.key = {(enum host_activity)activity,
							      (enum host_class) class, ~0u}};

			if (ns[activity][class] && sums[activity][class] <= 0)
				out[count++] = location_of(&bare, ns[activity][class], 0);
		}
	return count;
}

long code_locations__rank(const struct code_locations *locations, int mark,
			  const uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES],
			  struct host_location **out)
{
	size_t room = locations->count + (size_t)HOST_ACTIVITIES * HOST_CLASSES, count;
	struct host_location *list = calloc(room, sizeof(*list));
	uint64_t joined[HOST_ACTIVITIES][HOST_CLASSES];

	if (!list)
		return -ENOMEM;
	memcpy(joined, ns, sizeof(joined));
	join_calls(joined);
	count = share_out(locations, mark, joined, list);
	if (count)
		qsort(list, count, sizeof(*list), compare);
	*out = list;
	return (long)count;
}
