// SPDX-License-Identifier: BSD-2-Clause
// The kernels, functions and places that a difference comes from, see parts.h.
#include "compare/parts.h"

#include <math.h>
#include <string.h>

/* Calls that the ends of the steady time may add or lack, beside the list's `edges`. */
#define CALLS_SHARE 0.01
#define CALLS_LEAST 0.1

const struct counted_lists *comparing__lists(const struct comparing *c,
					     const struct compared_process *process)
{
	return &process->lists[c->by_steps ? SCOPE_STEP : SCOPE_ALL];
}

static void add_part(struct difference *difference, const struct difference_part *part)
{
	size_t at = difference->part_count;

	while (at && fabs(difference->parts[at - 1].b - difference->parts[at - 1].a) <
			     fabs(part->b - part->a))
		at--;
	if (at == DIFFERENCE_PARTS) {
		difference->parts_left++;
		return;
	}
	if (difference->part_count == DIFFERENCE_PARTS)
		difference->parts_left++;
	else
		difference->part_count++;
	memmove(&difference->parts[at + 1], &difference->parts[at],
		(difference->part_count - 1 - at) * sizeof(*part));
	difference->parts[at] = *part;
}

static double slack_of(const struct counted_list *a, const struct counted_list *b, bool by_steps,
		       double count)
{
	if (!by_steps)
		return 0;
	return fmax(CALLS_LEAST, (a->edges + b->edges + CALLS_SHARE) * count);
}

bool comparing__counts_differ(const struct comparing *c, const struct counted_list *a,
			      const struct counted_list *b, double x, double y)
{
	return fabs(y - x) > slack_of(a, b, c->by_steps, fmax(x, y));
}

int counted_lists__each(const struct counted_list *a, const struct counted_list *b,
			int (*each)(const struct counted *x, const struct counted *y, void *arg),
			void *arg)
{
	size_t i = 0, j = 0;
	int ret = 0;

	while (!ret) {
		const struct counted *x = i < a->count ? &a->items[i] : NULL;
		const struct counted *y = j < b->count ? &b->items[j] : NULL;
		int order = !x ? 1 : !y ? -1 : strcmp(x->name, y->name);

		if (!x && !y)
			break;
		i += order <= 0;
		j += order >= 0;
		ret = each(order <= 0 ? x : NULL, order >= 0 ? y : NULL, arg);
	}
	return ret;
}

struct parts_search {
	const struct comparing *c;
	const struct counted_list *a, *b;
	enum counted_class class;
	struct difference *difference;
};

static int consider_part(const struct counted *x, const struct counted *y, void *arg)
{
	const struct parts_search *search = arg;
	const struct difference_part part = {
		.shown = y ? y->shown : x->shown,
		.whole = y ? y->whole : x->whole,
		.a = x ? x->count : 0,
		.b = y ? y->count : 0,
	};

	if ((y ? y : x)->class == search->class &&
	    comparing__counts_differ(search->c, search->a, search->b, part.a, part.b))
		add_part(search->difference, &part);
	return 0;
}

static void add_parts(const struct comparing *c, struct difference *difference,
		      enum counted_class class, const struct counted_list *a,
		      const struct counted_list *b)
{
	struct parts_search search = {c, a, b, class, difference};

	if (a->known && b->known)
		counted_lists__each(a, b, consider_part, &search);
}

/* Shorter waits are at no place. */
static bool have_same_places(const struct comparing *c)
{
	double a = 0, b = 0;

	return json_value__number(c->a->json, "call_sites.min_wait_ns", &a) &&
	       json_value__number(c->b->json, "call_sites.min_wait_ns", &b) && a == b;
}

/* Whether what the parts add up to can be the difference. */
static bool is_explained(const struct difference *difference)
{
	double more = difference->b - difference->a, sum = 0;

	for (size_t i = 0; i < difference->part_count; i++)
		sum += difference->parts[i].b - difference->parts[i].a;
	return difference->part_count && sum / more > 0.5 && sum / more < 1.5;
}

void comparing__add_kernels(const struct comparing *c, struct difference *difference)
{
	add_parts(c, difference, COUNTED_LAUNCH, &comparing__lists(c, c->a)->kernels,
		  &comparing__lists(c, c->b)->kernels);
}

/* Places say more than functions, and kernels more than the functions that launch them. */
void comparing__explain(struct comparing *c, struct difference *difference,
			enum counted_class class)
{
	if (c->parted[class])
		return;
	c->parted[class] = true;
	if (class == COUNTED_LAUNCH)
		comparing__add_kernels(c, difference);
	else if (have_same_places(c))
		add_parts(c, difference, class, &comparing__lists(c, c->a)->places,
			  &comparing__lists(c, c->b)->places);
	if (is_explained(difference))
		return;
	difference->part_count = difference->parts_left = 0;
	add_parts(c, difference, class, &comparing__lists(c, c->a)->functions,
		  &comparing__lists(c, c->b)->functions);
}
