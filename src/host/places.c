// SPDX-License-Identifier: BSD-2-Clause
// Time by places in the code, see places.h.
#include "host/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump/system_call.h"
#include "host/kept_stack.h"
#include "model/user_line.h"

struct place {
	struct place_key key;
	struct stack *stack; /* an example; NULL: of all that have no line */
	uint32_t line;	     /* in stack->frames */
	uint64_t amount;
};

struct places {
	struct places_budget *budget;
	struct place *list;
	size_t count;
};

struct places *places__new(struct places_budget *budget)
{
	struct places *places = calloc(1, sizeof(*places));

	if (places)
		places->budget = budget;
	return places;
}

static void free_stack(struct places *places, struct stack *stack)
{
	if (stack)
		places->budget->left += kept_stack__bytes(stack);
	free(stack);
}

void places__clear(struct places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free_stack(places, places->list[i].stack);
	free(places->list);
	places->list = NULL;
	places->count = 0;
}

void places__free(struct places *places)
{
	if (!places)
		return;
	places__clear(places);
	free(places);
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Of code without lines the function tells, of code without functions the object. */
static bool is_same_line(const struct stack_frame *a, const struct stack_frame *b)
{
	return a->kind == b->kind && a->line == b->line && is_same_text(a->function, b->function) &&
	       is_same_text(a->file, b->file) && is_same_text(a->object, b->object);
}

static bool is_same_key(const struct place_key *a, const struct place_key *b)
{
	return a->kind == b->kind && a->class == b->class && a->call == b->call;
}

static struct place *find(const struct places *places, const struct place_key *key, const struct stack_frame *line)
{
	for (size_t i = 0; i < places->count; i++) {
		struct place *place = &places->list[i];

		if (!is_same_key(&place->key, key) || !place->stack != !line)
			continue;
		if (!line || is_same_line(&place->stack->frames[place->line], line))
			return place;
	}
	return NULL;
}

/* Of each key there is room for the one without a line. */
static struct place *append(struct places *places, const struct place_key *key, struct stack *stack, uint32_t line)
{
	struct place *list;

	if (stack && places->count >= PLACES_MAX)
		return NULL;
	list = reallocarray(places->list, places->count + 1, sizeof(*list));
	if (!list)
		return NULL;
	places->list = list;
	list[places->count] = (struct place){.key = *key, .stack = stack, .line = line};
	return &list[places->count++];
}

static struct stack *keep_stack(struct places *places, const struct stack *stack)
{
	size_t bytes = kept_stack__bytes(stack);
	struct stack *kept = bytes <= places->budget->left ? kept_stack__new(stack) : NULL;

	if (kept)
		places->budget->left -= bytes;
	return kept;
}

static struct place *make(struct places *places, const struct place_key *key, const struct stack *stack, uint32_t line)
{
	struct stack *kept = keep_stack(places, stack);
	struct place *place = kept && line < kept->count ? append(places, key, kept, line) : NULL;

	if (!place)
		free_stack(places, kept);
	return place;
}

void places__add(struct places *places, const struct place_key *key, const struct stack *stack, const char *program,
		 uint64_t amount)
{
	uint32_t line = stack ? user_line__find(stack, program) : 0;
	struct place *place = NULL;

	if (stack && line < stack->count) {
		place = find(places, key, &stack->frames[line]);
		if (!place)
			place = make(places, key, stack, line);
	}
	if (!place)
		place = find(places, key, NULL);
	if (!place)
		place = append(places, key, NULL, 0);
	if (place)
		place->amount += amount;
}

/* --- ranking --- */

static bool is_nothing(const struct stack_frame *line)
{
	return !line->function && !line->object;
}

bool places__is_same(const struct host_reason *a, const struct host_reason *b)
{
	if (a->kind != b->kind || a->class != b->class || a->call != b->call)
		return false;
	return is_nothing(&a->line) == is_nothing(&b->line) && (is_nothing(&a->line) || is_same_line(&a->line, &b->line));
}

static int compare(const void *a, const void *b)
{
	const struct host_reason *one = a, *other = b;

	return (one->ns < other->ns) - (one->ns > other->ns);
}

void places__sort(struct host_reason *reasons, size_t count)
{
	if (count)
		qsort(reasons, count, sizeof(*reasons), compare);
}

static void sum_up(const struct places *places, double sums[HOST_KINDS][HOST_CLASSES])
{
	memset(sums, 0, HOST_KINDS * sizeof(*sums));
	for (size_t i = 0; i < places->count; i++)
		sums[places->list[i].key.kind][places->list[i].key.class] += (double)places->list[i].amount;
}

static struct host_reason reason_of(const struct place *place, uint64_t ns)
{
	struct host_reason reason = {
		.kind = place->key.kind,
		.class = place->key.class,
		.call = place->key.call,
		.call_name = place->key.call == ~0u ? NULL : system_call__of(place->key.call).name,
		.ns = ns,
		.stack = place->stack,
		.thread = HOST_NO_THREAD,
	};

	if (place->stack) {
		reason.frame = place->line;
		reason.line = place->stack->frames[place->line];
	}
	return reason;
}

static uint64_t part_of(const struct place *place, uint64_t ns, double sum)
{
	return place->amount ? (uint64_t)((double)ns * ((double)place->amount / sum)) : 0;
}

/* To have no CPU is one reason, in whatever call that was, but for one that waits for the GPU. */
static void join_calls(uint64_t ns[HOST_CLASSES])
{
	for (int class = 0; class < HOST_CLASSES; class ++) {
		if (class == HOST_OUTSIDE || class == HOST_WAITS)
			continue;
		ns[HOST_OUTSIDE] += ns[class];
		ns[class] = 0;
	}
}

long places__rank(const struct places *places, const uint64_t times[HOST_KINDS][HOST_CLASSES], struct host_reason **out)
{
	struct host_reason *reasons = calloc(places->count + HOST_KINDS * HOST_CLASSES, sizeof(*reasons));
	double sums[HOST_KINDS][HOST_CLASSES];
	uint64_t ns[HOST_KINDS][HOST_CLASSES];
	size_t count = 0;

	if (!reasons)
		return -ENOMEM;
	memcpy(ns, times, sizeof(ns));
	join_calls(ns[HOST_READY]);
	join_calls(ns[HOST_THROTTLED]);
	sum_up(places, sums);
	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->list[i];
		uint64_t part = part_of(place, ns[place->key.kind][place->key.class],
					sums[place->key.kind][place->key.class]);

		if (part)
			reasons[count++] = reason_of(place, part);
	}
	for (int kind = 0; kind < HOST_KINDS; kind++)
		for (int class = 0; class < HOST_CLASSES; class ++) {
			const struct place bare = {.key = {(enum host_kind)kind, (enum host_class) class, ~0u}};

			if (ns[kind][class] && sums[kind][class] <= 0)
				reasons[count++] = reason_of(&bare, ns[kind][class]);
		}
	places__sort(reasons, count);
	*out = reasons;
	return (long)count;
}
