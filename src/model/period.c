// SPDX-License-Identifier: BSD-2-Clause
// Finds the period of a thread's submissions, see period.h.
#include "model/period.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_ANCHORS 3
#define FEW_ANCHORS 16
/* with few anchors: minimum part of a round that equals the next one; by chance it is 1 % */
#define ALIKE_LEAST 0.25
/* minimum share of all launches that lies between the first and the latest anchor */
#define LEAST_COVER 0.4
/* a period has ended when its latest anchor is more than this many rounds ago */
#define LATEST_ROUNDS 3
#define OUTSIDE_NOTHING 0.005
/* less than a step does outside its equal layers: 5 % in GPT-2 with 12 layers */
#define OUTSIDE_LITTLE 0.03
#define OUTSIDE_SOME 0.1
#define OUTSIDE_MOST 0.25
#define NEARLY_ALL 0.9 /* of rounds */
#define SHORT_ROUND 4  /* shorter rounds without copies and waits may not be steps */

/*
 * Masks of an anchor's context, the preferred ones first. With mask 0 any submissions may precede
 * the anchor.
 */
static const uint64_t masks[] = {0, 0xffff, UINT64_MAX};

/* A submission. */
struct submission {
	uint64_t code;
	uint64_t context; /* with the mask applied */
	uint32_t at;
};

/* Counts of submissions before each index, and before the end. */
struct sums {
	/* others: copies, including those to the device, and waits; no sets */
	uint32_t launches, copies, others;
};

/* A possible anchor. */
struct candidate {
	struct period period;
	bool copies, acts; /* nearly all rounds copy to the device; nearly all copy or wait */
	bool known;
};

struct search {
	const uint64_t *codes;
	size_t count;
	uint64_t *contexts;
	struct sums *sums;
	struct submission *submissions;
	uint32_t *rounds; /* launches of each round of an anchor */
	const struct step_anchor *known;
	size_t known_count;
	struct candidate best;
	struct candidate copying; /* the best of those whose rounds copy to the device */
	struct candidate longest; /* among those that do not qualify for `best` */
};

int step_anchor__is_at(const struct step_anchor *anchor, uint64_t code, uint64_t context)
{
	return code == anchor->code && !((context ^ anchor->before) & anchor->mask);
}

static bool is_launch(uint64_t code)
{
	return !(code & STEP_CODE_OTHER);
}

static uint8_t operation_of(uint64_t code)
{
	return is_launch(code) ? OP_LAUNCH : (uint8_t)(code >> STEP_CODE_OPERATION_SHIFT);
}

static void sum_up(struct search *search)
{
	struct sums sums = {0};
	uint64_t context = 0;

	for (size_t i = 0; i < search->count; i++) {
		uint64_t code = search->codes[i];

		search->sums[i] = sums;
		search->contexts[i] = context;
		context = step_context(context, code);
		sums.launches += is_launch(code);
		sums.copies += code == step_code(OP_COPY, COPY_H2D);
		sums.others += operation_of(code) == OP_COPY || operation_of(code) == OP_WAIT;
	}
	search->sums[search->count] = sums;
}

static int by_code(const void *a, const void *b)
{
	const struct submission *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* --- one anchor --- */

static uint32_t launches_between(const struct search *search, const struct submission *from)
{
	return search->sums[from[1].at].launches - search->sums[from[0].at].launches;
}

static uint32_t median_round(const struct search *search, const struct submission *submissions,
			     size_t count)
{
	uint32_t *rounds = search->rounds;

	for (size_t i = 0; i + 1 < count; i++)
		rounds[i] = launches_between(search, &submissions[i]);
	qsort(rounds, count - 1, sizeof(*rounds), by_size);
	return rounds[(count - 1) / 2];
}

static bool is_known(const struct search *search, const struct step_anchor *anchor)
{
	for (size_t i = 0; i < search->known_count; i++)
		if (search->known[i].code == anchor->code &&
		    search->known[i].before == anchor->before &&
		    search->known[i].mask == anchor->mask)
			return true;
	return false;
}

static void judge_rounds(const struct search *search, const struct submission *submissions,
			 size_t count, struct candidate *candidate)
{
	uint64_t outside = 0, copying = 0, acting = 0, usual = candidate->period.launches;
	uint32_t all = search->sums[submissions[count - 1].at].launches -
		       search->sums[submissions[0].at].launches;

	for (size_t i = 0; i + 1 < count; i++) {
		const struct sums *from = &search->sums[submissions[i].at],
				  *to = &search->sums[submissions[i + 1].at];
		uint64_t launches = to->launches - from->launches;

		outside += launches > usual ? launches - usual : usual - launches;
		copying += to->copies > from->copies;
		acting += to->others > from->others;
	}
	candidate->period.outside = (double)outside / (double)all;
	candidate->copies = (double)copying >= NEARLY_ALL * (double)(count - 1);
	candidate->acts = (double)acting >= NEARLY_ALL * (double)(count - 1);
}

/*
 * The part of two successive rounds that is the same, from their beginnings and before their ends.
 */
static double alike(const struct search *search, const struct submission *from)
{
	size_t first = from[1].at - from[0].at, second = from[2].at - from[1].at;
	size_t shorter = first < second ? first : second, begin = 0, end = 0;
	const uint64_t *a = &search->codes[from[0].at], *b = &search->codes[from[1].at];

	while (begin < shorter && a[begin] == b[begin])
		begin++;
	while (begin + end < shorter && a[first - 1 - end] == b[second - 1 - end])
		end++;
	return (double)(begin + end) / (double)shorter;
}

/* Among many thousand random submissions, some recur three times at about equal distances. */
static bool is_chance(const struct search *search, const struct submission *submissions,
		      size_t count)
{
	double most = 0;

	if (count > FEW_ANCHORS)
		return false;
	for (size_t i = 0; i + 2 < count; i++) {
		double part = alike(search, &submissions[i]);

		most = part > most ? part : most;
	}
	return most < ALIKE_LEAST;
}

/* Whether these submissions, all the same, may be an anchor. */
static bool consider(const struct search *search, const struct submission *submissions,
		     size_t count, uint64_t mask, struct candidate *candidate)
{
	uint32_t all = search->sums[search->count].launches, first, last;

	if (count < LEAST_ANCHORS)
		return false;
	first = search->sums[submissions[0].at].launches;
	last = search->sums[submissions[count - 1].at].launches;
	if ((double)(last - first) < LEAST_COVER * (double)all)
		return false;
	*candidate = (struct candidate){.period = {
						.anchor = {.code = submissions[0].code,
							   .before = submissions[0].context,
							   .mask = mask},
						.first = submissions[0].at,
						.last = submissions[count - 1].at,
						.count = count,
					}};
	candidate->period.launches = candidate->period.anchor.launches =
		median_round(search, submissions, count);
	if (!candidate->period.launches || all - last > LATEST_ROUNDS * candidate->period.launches)
		return false;
	judge_rounds(search, submissions, count, candidate);
	candidate->known = is_known(search, &candidate->period.anchor);
	return candidate->period.outside <= OUTSIDE_MOST && !is_chance(search, submissions, count);
}

/* --- choosing an anchor --- */

static bool is_step(const struct candidate *candidate)
{
	if (candidate->copies)
		return candidate->period.outside <= OUTSIDE_SOME;
	if (candidate->acts)
		return candidate->period.outside <= OUTSIDE_LITTLE;
	return candidate->period.outside <= OUTSIDE_NOTHING &&
	       candidate->period.launches >= SHORT_ROUND;
}

/*
 * Of two anchors with the same period: prefers the known one, then the more regular one, then the
 * one that needs less context, then the one that came first.
 */
static bool is_better_anchor(const struct candidate *candidate, const struct candidate *other)
{
	const struct period *a = &candidate->period, *b = &other->period;

	if (candidate->known != other->known)
		return candidate->known;
	if (a->outside + OUTSIDE_NOTHING < b->outside || b->outside + OUTSIDE_NOTHING < a->outside)
		return a->outside < b->outside;
	if (a->anchor.mask != b->anchor.mask)
		return a->anchor.mask < b->anchor.mask;
	return a->first < b->first;
}

static void keep_shortest(struct candidate *best, const struct candidate *candidate)
{
	if (!best->period.launches || candidate->period.launches < best->period.launches ||
	    (candidate->period.launches == best->period.launches &&
	     is_better_anchor(candidate, best)))
		*best = *candidate;
}

static void keep_longest(struct candidate *best, const struct candidate *candidate)
{
	if (candidate->period.launches > best->period.launches ||
	    (candidate->period.launches == best->period.launches &&
	     is_better_anchor(candidate, best)))
		*best = *candidate;
}

static void look_at(struct search *search, const struct submission *submissions, size_t count,
		    uint64_t mask)
{
	struct candidate candidate;

	if (!consider(search, submissions, count, mask, &candidate))
		return;
	if (!is_step(&candidate)) {
		keep_longest(&search->longest, &candidate);
		return;
	}
	keep_shortest(&search->best, &candidate);
	if (candidate.copies)
		keep_shortest(&search->copying, &candidate);
}

/*
 * Equal layers in succession repeat, too. They are parts of a step if a copy to the device, its
 * input, begins each so many of them. A wait after so many does not tell: it may as well be a log
 * line every ten steps.
 */
static const struct candidate *choose(const struct search *search)
{
	const struct candidate *best = &search->best, *copying = &search->copying;

	if (!best->period.launches)
		return &search->longest;
	return !best->copies && !best->acts && copying->period.launches &&
			       copying->period.outside <= OUTSIDE_NOTHING ?
		       copying :
		       best;
}

static void look_at_all(struct search *search, uint64_t mask)
{
	size_t begin = 0;

	for (size_t i = 0; i < search->count; i++)
		search->submissions[i] = (struct submission){
			search->codes[i], search->contexts[i] & mask, (uint32_t)i};
	qsort(search->submissions, search->count, sizeof(*search->submissions), by_code);
	for (size_t i = 1; i <= search->count; i++) {
		const struct submission *a = &search->submissions[begin],
					*b = &search->submissions[i];

		if (i < search->count && a->code == b->code && a->context == b->context)
			continue;
		look_at(search, a, i - begin, mask);
		begin = i;
	}
}

int period__find(const uint64_t *codes, size_t count, const struct step_anchor *known,
		 size_t known_count, struct period *out)
{
	struct search search = {
		.codes = codes, .count = count, .known = known, .known_count = known_count};
	int ret = -ENOMEM;

	*out = (struct period){0};
	search.contexts = malloc((count + 1) * sizeof(*search.contexts));
	search.sums = malloc((count + 1) * sizeof(*search.sums));
	search.submissions = malloc((count + 1) * sizeof(*search.submissions));
	search.rounds = malloc((count + 1) * sizeof(*search.rounds));
	if (!search.contexts || !search.sums || !search.submissions || !search.rounds)
		goto out;
	sum_up(&search);
	for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++)
		look_at_all(&search, masks[i]);
	*out = choose(&search)->period;
	ret = 0;
out:
	free(search.contexts);
	free(search.sums);
	free(search.submissions);
	free(search.rounds);
	return ret;
}

uint64_t *period__latest_round(const uint64_t *codes, size_t count, const struct period *period,
			       size_t *length)
{
	uint64_t context = 0, *round;
	size_t from = 0, to = 0;

	*length = 0;
	for (size_t i = 0; i < count && i <= period->last; i++) {
		if (step_anchor__is_at(&period->anchor, codes[i], context)) {
			from = to;
			to = i;
		}
		context = step_context(context, codes[i]);
	}
	round = malloc((to - from + 1) * sizeof(*round));
	for (size_t i = from + 1; round && i <= to; i++)
		if (is_launch(codes[i]))
			round[(*length)++] = codes[i];
	return round;
}
