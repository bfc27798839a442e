// SPDX-License-Identifier: BSD-2-Clause
// A site's bytes over time, and whether they grow, see growth_history.h.
#include "model/growth_history.h"

#include <stdbool.h>

#include "base/clock.h"
#include "base/saturate.h"

/*
 * Each time is divided into ten stretches, the latest one also into five. Ten lows have 45
 * pairs; three of them may fail to rise, which noise achieves once in 17,000 times. Five
 * stretches can bridge longer batches, but there each low must rise, evenly, and by more than
 * sampling in the middle of a batch could cause.
 */
#define STRETCHES 10
#define INVERSIONS_MAX 3
#define FEW_STRETCHES 5
#define FEW_FIT 0.97 /* r squared of the line through the lows */
/* A time needs at least this many points or samples. */
#define LEAST_POINTS (2 * STRETCHES)

/* --- adding samples --- */

static const struct growth_sample *recent_at(const struct growth_history *history, size_t i)
{
	return &history->recent[(history->recent_next + GROWTH_RECENT - history->recent_count + i) %
				GROWTH_RECENT];
}

/* The level that none of the latest samples was below; 0 while there are too few. */
static uint64_t floor_of_latest(const struct growth_history *history)
{
	uint64_t least = UINT64_MAX;

	if (history->recent_count < GROWTH_STRETCH)
		return 0;
	for (size_t i = history->recent_count - GROWTH_STRETCH; i < history->recent_count; i++)
		if (recent_at(history, i)->bytes < least)
			least = recent_at(history, i)->bytes;
	return least;
}

static void join_points(struct growth_point *point, const struct growth_point *next)
{
	if (next->low.bytes < point->low.bytes)
		point->low = next->low;
	if (next->floor > point->floor)
		point->floor = next->floor;
	point->last_ns = next->last_ns;
	point->samples += next->samples;
}

static void halve_points(struct growth_history *history)
{
	for (size_t i = 0; i < GROWTH_POINTS / 2; i++) {
		history->points[i] = history->points[2 * i];
		join_points(&history->points[i], &history->points[2 * i + 1]);
	}
	history->point_count = GROWTH_POINTS / 2;
	history->stride *= 2;
}

static void add_to_points(struct growth_history *history, const struct growth_point *point)
{
	if (!history->stride)
		history->stride = 1;
	if (history->point_count &&
	    history->points[history->point_count - 1].samples < history->stride) {
		join_points(&history->points[history->point_count - 1], point);
		return;
	}
	if (history->point_count == GROWTH_POINTS)
		halve_points(history);
	history->points[history->point_count++] = *point;
}

void growth_history__add(struct growth_history *history, uint64_t time_ns, uint64_t bytes)
{
	struct growth_point point = {.low = {.time_ns = time_ns, .bytes = bytes},
				     .first_ns = time_ns,
				     .last_ns = time_ns,
				     .samples = 1};

	if (!history->first_ns)
		history->first_ns = time_ns;
	if (time_ns - history->first_ns < history->window_ns / 6)
		return;
	history->recent[history->recent_next] = point.low;
	history->recent_next = (history->recent_next + 1) % GROWTH_RECENT;
	if (history->recent_count < GROWTH_RECENT)
		history->recent_count++;
	point.floor = floor_of_latest(history);
	add_to_points(history, &point);
}

/* --- judging --- */

/* The lows of the examined time, in order. */
struct stretch_lows {
	struct growth_sample low[STRETCHES];
	size_t count; /* STRETCHES or FEW_STRETCHES */
	uint64_t first_ns, last_ns, samples;
	uint64_t jump; /* with FEW_STRETCHES: the largest step from one sample to the next */
};

/* Bytes per second; *fit: the share of the lows' variance that the line explains, 0 to 1. */
static double slope_of(const struct stretch_lows *lows, double *fit)
{
	double mean_time = 0, mean_bytes = 0, sum = 0, times = 0, heights = 0;

	/* Relative to the first low, so that large numbers do not cost precision. */
	for (size_t i = 0; i < lows->count; i++) {
		mean_time += (double)(lows->low[i].time_ns - lows->first_ns) / (double)lows->count;
		mean_bytes += ((double)lows->low[i].bytes - (double)lows->low[0].bytes) /
			      (double)lows->count;
	}
	for (size_t i = 0; i < lows->count; i++) {
		double time = (double)(lows->low[i].time_ns - lows->first_ns) - mean_time;
		double height =
			(double)lows->low[i].bytes - (double)lows->low[0].bytes - mean_bytes;

		sum += time * height;
		times += time * time;
		heights += height * height;
	}
	*fit = times > 0 && heights > 0 ? sum * sum / times / heights : 0;
	return times > 0 ? sum / times * (double)NS_PER_S : 0;
}

static unsigned int count_inversions(const struct stretch_lows *lows)
{
	unsigned int inversions = 0;

	for (size_t i = 0; i < lows->count; i++)
		for (size_t k = i + 1; k < lows->count; k++)
			inversions += lows->low[k].bytes <= lows->low[i].bytes;
	return inversions;
}

/* `before`: the level reached earlier. */
static bool rises(const struct stretch_lows *lows, double fit, uint64_t before)
{
	const struct growth_sample *last = &lows->low[lows->count - 1];

	if (last->bytes <= before)
		return false;
	if (lows->count == FEW_STRETCHES)
		return fit >= FEW_FIT && !count_inversions(lows) &&
		       last->bytes - lows->low[0].bytes > saturate__product(2, lows->jump);
	/* It must still be rising: growth that has ended is flat at the end. */
	return count_inversions(lows) <= INVERSIONS_MAX && last->bytes > last[-2].bytes;
}

static void lows_of_recent(const struct growth_history *history, struct stretch_lows *lows)
{
	size_t samples = history->recent_count;

	for (size_t i = 0; i < lows->count; i++) {
		lows->low[i] = *recent_at(history, i * samples / lows->count);
		for (size_t k = i * samples / lows->count; k < (i + 1) * samples / lows->count; k++)
			if (recent_at(history, k)->bytes < lows->low[i].bytes)
				lows->low[i] = *recent_at(history, k);
	}
	for (size_t i = 1; i < samples; i++) {
		uint64_t before = recent_at(history, i - 1)->bytes,
			 bytes = recent_at(history, i)->bytes;

		if (bytes > before && bytes - before > lows->jump)
			lows->jump = bytes - before;
	}
	lows->first_ns = recent_at(history, 0)->time_ns;
	lows->last_ns = recent_at(history, samples - 1)->time_ns;
	lows->samples = samples;
}

static void lows_of_points(const struct growth_point *points, size_t count,
			   struct stretch_lows *lows)
{
	lows->samples = 0;
	for (size_t i = 0; i < lows->count; i++) {
		lows->low[i] = points[i * count / lows->count].low;
		for (size_t k = i * count / lows->count; k < (i + 1) * count / lows->count; k++) {
			lows->samples += points[k].samples;
			if (points[k].low.bytes < lows->low[i].bytes)
				lows->low[i] = points[k].low;
		}
	}
	lows->first_ns = points[0].first_ns;
	lows->last_ns = points[count - 1].last_ns;
}

/* The highest floor of points that ended before this time. */
static uint64_t floor_before(const struct growth_history *history, uint64_t time_ns)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < history->point_count && history->points[i].last_ns < time_ns; i++)
		if (history->points[i].floor > highest)
			highest = history->points[i].floor;
	return highest;
}

/* Examines the last `points` full points, or the latest samples if `points` is 0. */
static void judge_time(const struct growth_history *history, size_t points, size_t stretches,
		       struct growth_evidence *evidence)
{
	struct stretch_lows lows = {.count = stretches};
	double fit, slope;
	bool grows;

	if (points)
		lows_of_points(&history->points[history->point_count - 1 - points], points, &lows);
	else
		lows_of_recent(history, &lows);
	slope = slope_of(&lows, &fit);
	grows = rises(&lows, fit, floor_before(history, lows.first_ns));
	if (!grows && evidence->verdict != GROWTH_UNKNOWN)
		return;
	evidence->verdict = grows ? GROWTH_GROWING : GROWTH_STABLE;
	evidence->slope = slope;
	evidence->span_ns = lows.last_ns - lows.first_ns;
	evidence->samples = lows.samples;
	if (!grows)
		return;
	evidence->grown = saturate__difference(lows.low[lows.count - 1].bytes, lows.low[0].bytes);
	evidence->grown_ns = lows.low[lows.count - 1].time_ns - lows.low[0].time_ns;
}

/* Whether the last `count` full points span enough to be examined: more than the window. */
static bool is_longer(const struct growth_history *history, size_t full, size_t count)
{
	return count >= LEAST_POINTS &&
	       history->points[full - 1].last_ns - history->points[full - count].first_ns >
		       history->window_ns;
}

/* How long the latest samples have not been below the last one. */
static uint64_t still_ns(const struct growth_history *history)
{
	const struct growth_sample *last = recent_at(history, history->recent_count - 1),
				   *first = last;

	for (size_t i = history->recent_count;
	     i > 0 && recent_at(history, i - 1)->bytes >= last->bytes; i--)
		first = recent_at(history, i - 1);
	return last->time_ns - first->time_ns;
}

void growth_history__judge(const struct growth_history *history, struct growth_evidence *evidence)
{
	/* The last point may have few samples so far, so its low is not meaningful. */
	size_t full = history->point_count ? history->point_count - 1 : 0;
	const size_t times[] = {0, full / 2, full};

	*evidence = (struct growth_evidence){.verdict = GROWTH_UNKNOWN,
					     .samples = history->recent_count};
	evidence->first_ns = history->first_ns;
	if (!history->recent_count)
		return;
	evidence->still_ns = still_ns(history);
	evidence->span_ns = recent_at(history, history->recent_count - 1)->time_ns -
			    recent_at(history, 0)->time_ns;
	if (history->recent_count < LEAST_POINTS || evidence->span_ns < history->window_ns / 3 * 2)
		return;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (i && !is_longer(history, full, times[i]))
			continue;
		judge_time(history, times[i], STRETCHES, evidence);
		if (!i && evidence->verdict != GROWTH_GROWING)
			judge_time(history, times[i], FEW_STRETCHES, evidence);
		if (evidence->verdict == GROWTH_GROWING)
			return;
	}
}
