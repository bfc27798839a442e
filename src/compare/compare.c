// SPDX-License-Identifier: BSD-2-Clause
// The comparison of two runs, see compare.h.
#include "compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/pairs.h"
#include "compare/parts.h"

/*
 * A count is the same in each step if it is a whole number. Others vary from step to step: by
 * chance, or because something is done at every tenth step.
 */
#define WHOLE 0.01
#define VARYING_SHARE 0.02
#define VARYING_LEAST 0.05

/* What a peak between two readings may differ by although the runs are equal. */
#define MEMORY_SHARE 0.01
#define MEMORY_LEAST (1 << 20)

/* A time without a spread is shown if it differs by this, and is at least this part of a step. */
#define TIME_SHARE 0.1
#define TIME_OF_STEP 0.02

/* By how much steps that are several of others may take longer than as many of these. */
#define MULTIPLE_TIME 0.25

static double number_at(const struct compared_process *process, const char *path)
{
	double value = 0;

	if (path)
		json_value__number(process->json, path, &value);
	return value;
}

static double fewest_steps(const struct comparing *c)
{
	return fmin(c->a->steps, c->b->steps);
}

static enum counted_class class_of(const struct figure_kind *kind)
{
	if (strstr(kind->name, "launches"))
		return COUNTED_LAUNCH;
	if (!strcmp(kind->name, "waits"))
		return COUNTED_WAIT;
	if (strstr(kind->name, "cop"))
		return COUNTED_COPY;
	return !strcmp(kind->name, "allocations") ? COUNTED_ALLOCATION : COUNTED_FREE;
}

/* --- figures --- */

static bool is_whole(double value)
{
	return fabs(value - round(value)) <= WHOLE;
}

/* How much a figure of two equal runs may differ by. */
static double slack_of_figure(const struct comparing *c, const struct figure_kind *kind, double a,
			      double b)
{
	double most = fmax(a, b), event = 1, slack;
	bool whole;

	if (kind->scope == SCOPE_ALL)
		return 0;
	whole = is_whole(a) && is_whole(b);
	if (kind->events) {
		double x = number_at(c->a, kind->events), y = number_at(c->b, kind->events);

		whole = is_whole(x) && is_whole(y);
		event = fmax(x > 0 ? a / x : 0, y > 0 ? b / y : 0);
	}
	slack = 2 * event / fewest_steps(c);
	if (!whole)
		slack = fmax(slack, fmax(VARYING_LEAST * event, VARYING_SHARE * most));
	return slack;
}

/* If only one run has steps, the whole runs may be of different lengths: they prove nothing. */
static int add(struct comparing *c, struct difference *difference)
{
	if (difference->group == GROUP_COUNTS && c->a->has_steps != c->b->has_steps)
		difference->worse = false;
	c->comparison->worse |= difference->worse;
	return ARRAY_APPEND(c->comparison->differences, c->comparison->difference_count,
			    *difference);
}

static int compare_count(struct comparing *c, const struct figure_kind *kind,
			 struct difference *difference)
{
	double a = difference->a, b = difference->b, more, time;

	if (fabs(b - a) <= slack_of_figure(c, kind, a, b))
		return 0;
	difference->worse = b > a;
	more = fabs(number_at(c->b, kind->time) - number_at(c->a, kind->time));
	time = number_at(b > a ? c->b : c->a, kind->time);
	/* Its part of the time in such calls, or what these took longer. */
	difference->cost_ns = fmax(more, time * fabs(b - a) / fmax(a, b));
	comparing__explain(c, difference, class_of(kind));
	return add(c, difference);
}

static int compare_memory(struct comparing *c, struct difference *difference)
{
	double slack = fmax(MEMORY_SHARE * difference->a, MEMORY_LEAST);

	if (fabs(difference->b - difference->a) <= slack)
		return 0;
	difference->worse = difference->b > difference->a;
	return add(c, difference);
}

/* Beyond the spread: the middle halves of the steps' times do not overlap. */
static bool takes_longer(const struct comparing *c, const struct compared_process *a,
			 const struct compared_process *b)
{
	double factor = 1 + (c->share < 0 ? SHOWN_SHARE : c->share);

	return a->p75_ns > 0 && b->p25_ns > a->p75_ns &&
	       number_at(b, "steps.mean_ns") > factor * number_at(a, "steps.mean_ns") &&
	       number_at(b, "steps.p50_ns") > factor * number_at(a, "steps.p50_ns");
}

static int compare_step_time(struct comparing *c, struct difference *difference)
{
	bool longer = takes_longer(c, c->a, c->b);

	if (!longer && !takes_longer(c, c->b, c->a))
		return 0;
	difference->worse = longer && c->share >= 0;
	difference->cost_ns = fabs(difference->b - difference->a);
	return add(c, difference);
}

static int compare_time(struct comparing *c, struct difference *difference)
{
	double more = fabs(difference->b - difference->a);

	if (more < TIME_SHARE * fmax(difference->a, difference->b) ||
	    more < TIME_OF_STEP * number_at(c->a, "steps.p50_ns"))
		return 0;
	difference->cost_ns = more;
	return add(c, difference);
}

static int compare_known(struct comparing *c, const struct figure_kind *kind,
			 struct difference *difference)
{
	switch (kind->rule) {
	case RULE_EXACT: return compare_count(c, kind, difference);
	case RULE_MEMORY: return compare_memory(c, difference);
	case RULE_STEP_TIME: return compare_step_time(c, difference);
	case RULE_TIME: return compare_time(c, difference);
	default: return 0;
	}
}

/* Whether the figure belongs to the comparison: of steps, or without them of the whole run. */
static bool applies(const struct comparing *c, const struct figure_kind *kind)
{
	if (kind->rule == RULE_BUDGET)
		return false;
	if (kind->scope == SCOPE_PROCESS)
		return c->by_steps || kind->rule == RULE_MEMORY;
	return kind->scope == (c->by_steps ? SCOPE_STEP : SCOPE_ALL);
}

static bool is_sampled(const struct compared_process *process, const char *family)
{
	return json_value__member(json_value__member(process->json, "sampling"), family);
}

static int refuse_sampled(struct comparing *c, const char *family, bool of_b)
{
	const char *what = !strcmp(family, "copy") ? "copies" :
			   !strcmp(family, "wait") ? "waits" :
						     "launches";

	if (c->by_steps && is_sampled(of_b ? c->b : c->a, "launch"))
		what = "steps, which launches show";
	return comparison__refuse(c->comparison,
				  "%s: %s has a sample of them; record with --max-overhead off",
				  what, of_b ? "B" : "A");
}

static int refuse_figure(struct comparing *c, const struct figure_kind *kind,
			 enum figure_state state, bool of_b)
{
	const char *letter = of_b ? "B" : "A";

	if (state == FIGURE_ESTIMATED)
		return refuse_sampled(c, kind->family ? kind->family : "launch", of_b);
	if (kind->rule == RULE_MEMORY)
		return comparison__refuse(c->comparison,
					  "%s: %s does not have allocations from before attach",
					  figure_kind__name(kind).text, letter);
	if (state == FIGURE_PARTIAL)
		return comparison__refuse(
			c->comparison,
			"counts of the whole run: %s has only a part of it, and no "
			"steps were found",
			letter);
	return 0;
}

static enum difference_group group_of(const struct figure_kind *kind)
{
	return kind->rule == RULE_EXACT	 ? GROUP_COUNTS :
	       kind->rule == RULE_MEMORY ? GROUP_MEMORY :
					   GROUP_TIMES;
}

static int compare_figure(struct comparing *c, size_t index)
{
	const struct figure_kind *kind = &figure_kinds[index];
	enum figure_state a = c->a->states[index], b = c->b->states[index];
	struct difference difference = {
		.pair = c->pair,
		.group = group_of(kind),
		.unit = kind->unit,
		.scope = kind->scope,
		.name = kind->name,
		.a = c->a->figures[index],
		.b = c->b->figures[index],
	};

	if (!applies(c, kind) || a == FIGURE_UNKNOWN || b == FIGURE_UNKNOWN)
		return 0;
	if (a != FIGURE_KNOWN || b != FIGURE_KNOWN)
		return refuse_figure(c, kind, a != FIGURE_KNOWN ? a : b, a == FIGURE_KNOWN);
	return compare_known(c, kind, &difference);
}

/* --- functions --- */

static int note_left_out(struct comparing *c, const struct counted *x, const struct counted *y)
{
	const struct left_out_calls calls = {(y ? y : x)->shown, x ? x->count : 0,
					     y ? y->count : 0};

	return ARRAY_APPEND(c->comparison->left_out, c->comparison->left_out_count, calls);
}

/* The other classes are in the figures already. */
static int compare_function(const struct counted *x, const struct counted *y, void *arg)
{
	struct comparing *c = arg;
	const struct counted *item = y ? y : x;
	struct difference difference = {
		.pair = c->pair,
		.group = GROUP_COUNTS,
		.unit = FIGURE_COUNT,
		.scope = c->by_steps ? SCOPE_STEP : SCOPE_ALL,
		.name = item->shown,
		.of_function = true,
		.a = x ? x->count : 0,
		.b = y ? y->count : 0,
	};

	if (item->class == COUNTED_ASK)
		return note_left_out(c, x, y);
	if (item->class != COUNTED_OTHER ||
	    !comparing__counts_differ(c, &comparing__lists(c, c->a)->functions,
				      &comparing__lists(c, c->b)->functions, difference.a,
				      difference.b))
		return 0;
	difference.worse = difference.b > difference.a;
	difference.cost_ns = fabs(difference.b - difference.a) * item->ns;
	return add(c, &difference);
}

static bool is_partial(const struct comparing *c)
{
	return !c->by_steps && (json_value__is_true(c->a->json, "since_attach") ||
				json_value__is_true(c->b->json, "since_attach") ||
				!json_value__is_true(c->a->json, "ended") ||
				!json_value__is_true(c->b->json, "ended"));
}

/* As many launches, but of other kernels: that is a change, and by itself not a worse one. */
static int compare_kernels(struct comparing *c)
{
	struct difference difference = {
		.pair = c->pair,
		.group = GROUP_COUNTS,
		.unit = FIGURE_COUNT,
		.scope = c->by_steps ? SCOPE_STEP : SCOPE_ALL,
		.name = "launches of other kernels",
	};

	if (c->parted[COUNTED_LAUNCH] || is_partial(c) || is_sampled(c->a, "launch") ||
	    is_sampled(c->b, "launch"))
		return 0;
	comparing__add_kernels(c, &difference);
	for (size_t i = 0; i < difference.part_count; i++) {
		difference.a += difference.parts[i].a;
		difference.b += difference.parts[i].b;
	}
	return difference.part_count ? add(c, &difference) : 0;
}

static int compare_functions(struct comparing *c)
{
	const struct counted_list *a = &comparing__lists(c, c->a)->functions,
				  *b = &comparing__lists(c, c->b)->functions;

	if (is_partial(c))
		return 0;
	if (json_value__member(c->a->json, "sampling") ||
	    json_value__member(c->b->json, "sampling"))
		return comparison__refuse(c->comparison,
					  "calls by function: A or B has a sample of some");
	if (a->known && b->known)
		return counted_lists__each(a, b, compare_function, c);
	return c->by_steps ? comparison__refuse(c->comparison,
						"calls by function: the steady time of %s is too "
						"short (at least 2 s)",
						a->known ? "B" : "A") :
			     0;
}

/* --- steps of another length --- */

/* Whether b is `times` a. */
static bool is_multiple(double a, double b, double times)
{
	return fabs(b - times * a) <= WHOLE * fmax(1, b);
}

/* Whether all that y's steps do, and how long they take, is `times` that of x. */
static bool does_multiple(const struct compared_process *x, const struct compared_process *y,
			  double times)
{
	for (size_t i = 0; i < figure_kind_count; i++)
		if (figure_kinds[i].scope == SCOPE_STEP && figure_kinds[i].rule == RULE_EXACT &&
		    !is_multiple(x->figures[i], y->figures[i], times))
			return false;
	return fabs(number_at(y, "steps.mean_ns") / number_at(x, "steps.mean_ns") / times - 1) <
	       MULTIPLE_TIME;
}

/*
 * If a loop does the same thing twice, gpuprobe may take one round or both for the step. The counts
 * do not tell that from a program that does everything twice.
 */
static int check_length(struct comparing *c, bool *refused)
{
	double a = number_at(c->a, "steps.launches"), b = number_at(c->b, "steps.launches");
	double times = round(fmax(a, b) / fmin(a, b));
	bool longer = b > a;

	*refused = a > 0 && b > 0 && times >= 2 &&
		   does_multiple(longer ? c->a : c->b, longer ? c->b : c->a, times);
	return *refused ?
		       comparison__refuse(c->comparison,
					  "steps: each of %s does %.0f times what one of %s does, "
					  "in everything; they may be as many steps",
					  longer ? "B" : "A", times, longer ? "A" : "B") :
		       0;
}

/* --- steps that are NVTX ranges --- */

static const char *step_range(const struct compared_process *process)
{
	return json_value__string(process->json, "steps.range");
}

static struct refusal what_steps_are(const struct compared_process *process)
{
	const char *range = step_range(process);
	struct refusal text;

	if (range)
		snprintf(text.text, sizeof(text.text), "are NVTX ranges '%.60s'", range);
	else
		snprintf(text.text, sizeof(text.text), "were found by repetition");
	return text;
}

/* Ranges are what their program says, also if they do twice as much. */
static int check_steps(struct comparing *c, bool *refused)
{
	const char *a = step_range(c->a), *b = step_range(c->b);

	if (!a && !b)
		return check_length(c, refused);
	*refused = !a || !b || strcmp(a, b) != 0;
	return *refused ?
		       comparison__refuse(
			       c->comparison,
			       "steps: those of A %s, and those of B %s; use the same --steps-by",
			       what_steps_are(c->a).text, what_steps_are(c->b).text) :
		       0;
}

/* --- all --- */

static int compare_pair(struct comparing *c)
{
	bool refused = false;
	int ret = 0;

	if (c->by_steps)
		ret = check_steps(c, &refused);
	if (ret || refused)
		return ret;

	if (!c->by_steps && c->a->has_steps != c->b->has_steps)
		ret = comparison__refuse(
			c->comparison, "steps: none were found in %s; counts are of the whole runs",
			c->a->has_steps ? "B" : "A");
	for (size_t i = 0; i < figure_kind_count && !ret; i++)
		ret = compare_figure(c, i);
	if (!ret)
		ret = compare_kernels(c);
	return ret ? ret : compare_functions(c);
}

static int by_rank(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	if (x->group != y->group)
		return (int)x->group - (int)y->group;
	if (x->worse != y->worse)
		return x->worse ? -1 : 1;
	if (x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int compare(struct comparison *comparison, double share)
{
	int ret = comparison__check_runs(comparison);

	if (ret || comparison->refused)
		return ret;
	ret = comparison__pair(comparison);
	if (!ret && !comparison->pair_count)
		comparison->refused = true;
	for (size_t i = 0; i < comparison->pair_count && !ret; i++) {
		struct comparing c = {
			.comparison = comparison,
			.pair = i,
			.a = comparison->pairs[i].a,
			.b = comparison->pairs[i].b,
			.by_steps = comparison->pairs[i].by_steps,
			.share = share,
		};

		ret = compare_pair(&c);
	}
	if (ret || comparison->refused)
		return ret;
	if (comparison->difference_count)
		qsort(comparison->differences, comparison->difference_count,
		      sizeof(*comparison->differences), by_rank);
	return comparison__findings(comparison);
}

int comparison__make(struct comparison *comparison, const struct compared_run *a,
		     const struct compared_run *b, double share)
{
	int ret;

	*comparison = (struct comparison){.a = a, .b = b};
	ret = compare(comparison, share);
	if (ret)
		comparison__clear(comparison);
	return ret;
}

void comparison__clear(struct comparison *comparison)
{
	free(comparison->pairs);
	free(comparison->differences);
	free(comparison->findings);
	free(comparison->left_out);
	free(comparison->refusals);
	*comparison = (struct comparison){0};
}
