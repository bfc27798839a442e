// SPDX-License-Identifier: BSD-2-Clause
// Goes through the readings of a recording, see top_player.h.
#include "cli/commands/top_player.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "model/growth.h"

/* Findings and rates look back so far: where top jumps to, it reads this much before. */
#define LOOK_BACK_NS GROWTH_WINDOW_NS

struct top_player {
	struct replay *replay;
	struct top_watch *watch;
	uint64_t interval_ns;
	const uint64_t *times;
	size_t count;
	size_t shown;	   /* index; SIZE_MAX: none yet */
	uint64_t rated_ns; /* end of the latest interval of rates */
	double interval;   /* its length in seconds */
};

struct top_player *top_player__new(struct replay *replay, struct top_watch *watch, double interval)
{
	struct top_player *player = calloc(1, sizeof(*player));

	if (!player)
		return NULL;
	player->replay = replay;
	player->watch = watch;
	player->interval_ns = (uint64_t)(interval * (double)NS_PER_S);
	player->shown = SIZE_MAX;
	return player;
}

int top_player__begin(struct top_player *player, struct error *err)
{
	int ret = replay__list(player->replay, err);

	if (ret)
		return ret;
	player->times = replay__times(player->replay, &player->count);
	return top_player__move(player, TOP_FIRST_READING, err);
}

void top_player__free(struct top_player *player)
{
	free(player);
}

struct model *top_player__model(const struct top_player *player)
{
	return (struct model *)replay__reading(player->replay)->model;
}

/* --- where to --- */

/* The first reading that is not before that time, up to `end`. */
static size_t index_at(const struct top_player *player, uint64_t time_ns, size_t end)
{
	size_t low = 0;

	while (low < end) {
		size_t middle = low + (end - low) / 2;

		if (player->times[middle] < time_ns)
			low = middle + 1;
		else
			end = middle;
	}
	return low;
}

static size_t next_of(const struct top_player *player)
{
	size_t at = player->shown + 1;
	uint64_t due_ns = player->times[player->shown] + player->interval_ns;

	if (at < player->count && player->times[at] < due_ns)
		at = index_at(player, due_ns, player->count);
	return at < player->count ? at : player->count - 1;
}

static size_t previous_of(const struct top_player *player)
{
	uint64_t now_ns = player->times[player->shown];
	size_t at = player->shown ? player->shown - 1 : 0;

	/* The latest one that is an interval earlier. */
	while (at && player->times[at] + player->interval_ns > now_ns)
		at--;
	return at;
}

static size_t target_of(const struct top_player *player, enum top_action move)
{
	switch (move) {
	case TOP_LAST_READING: return player->count - 1;
	case TOP_NEXT_READING: return next_of(player);
	case TOP_PREVIOUS_READING: return previous_of(player);
	default: return 0;
	}
}

/* --- what is learnt over time --- */

/* Forgets what was learnt: time goes on at another reading. */
static int begin_anew(struct top_player *player)
{
	int ret = top_watch__begin(player->watch, replay__reading(player->replay)->began_ns);

	player->rated_ns = replay__reading(player->replay)->began_ns;
	return ret;
}

/* Takes in the reading at which the replay is. Rates are over intervals that end at shown ones. */
static int take_in(struct top_player *player, bool is_shown)
{
	const struct model *model = top_player__model(player);
	int ret = findings__sample(player->watch->findings, model);

	/* One that cannot be read is the one before again. */
	if (ret || model->now_ns <= player->rated_ns ||
	    (!is_shown && model->now_ns < player->rated_ns + player->interval_ns))
		return ret;
	player->interval = (double)(model->now_ns - player->rated_ns) / (double)NS_PER_S;
	player->rated_ns = model->now_ns;
	return process_rates__sample(player->watch->rates, model);
}

/* Where to begin to read for a reading: as far before it as findings and rates look back. */
static size_t begin_for(const struct top_player *player, size_t target)
{
	uint64_t time_ns = player->times[target], back_ns = LOOK_BACK_NS + 2 * player->interval_ns;
	size_t at = index_at(player, time_ns > back_ns ? time_ns - back_ns : 0, target);

	return at == target && at ? at - 1 : at;
}

static int go(struct top_player *player, size_t target, struct error *err)
{
	size_t begin = begin_for(player, target), at;
	bool goes_on =
		player->shown != SIZE_MAX && player->shown <= target && player->shown + 1 >= begin;
	int ret = 0;

	for (at = goes_on ? player->shown + 1 : begin; !ret && at <= target; at++) {
		ret = replay__go(player->replay, at, err);
		if (ret)
			return ret;
		if (!goes_on && at == begin)
			ret = begin_anew(player);
		if (!ret)
			ret = take_in(player, at == target);
	}
	player->shown = target;
	return ret ? error__set(err, ret, "out of memory") : 0;
}

int top_player__move(struct top_player *player, enum top_action move, struct error *err)
{
	size_t target = target_of(player, move);

	return target == player->shown ? 0 : go(player, target, err);
}

/* --- which one it is --- */

bool top_player__is_last(const struct top_player *player)
{
	return player->shown + 1 >= player->count;
}

double top_player__interval(const struct top_player *player)
{
	return player->interval;
}

void top_player__describe(const struct top_player *player, char *text, size_t size)
{
	const struct recorded_reading *reading = replay__reading(player->replay);

	bool is_it = reading->model->now_ns == player->times[player->shown];

	snprintf(text, size, "reading %zu of %zu%s, %s", player->shown + 1, player->count,
		 is_it ? "" : " is damaged, this is an earlier one",
		 quantity__time((double)(reading->model->now_ns - reading->began_ns)).text);
}
