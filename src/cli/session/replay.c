// SPDX-License-Identifier: BSD-2-Clause
// Readings of the model from a recording, see replay.h.
#include "cli/session/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/session/damage_report.h"
#include "finding/finding.h"
#include "record/model_codec.h"

struct replay {
	const struct recording_choice *choice;
	const struct log *log;
	struct recording *recording;
	struct model_reader *reader;
	const struct recorded_reading *reading;
	/* the record after it: it is read when the owner has finished with `reading` */
	struct recorded next;
	bool has_next;
	uint64_t began_ns;     /* of the first reading */
	bool is_difference;    /* readings are, to one that was earlier */
	unsigned int sections; /* shown ones */
	uint64_t unreadable;
	uint64_t *times; /* of replay__list; NULL: none */
	size_t time_count;
};

/* The model is the reader's: it is made anew for each reading. */
static void select_sections(const struct replay *replay)
{
	struct model *model = (struct model *)replay->reading->model;

	model->sections &= replay->sections;
}

void replay__select(struct replay *replay, unsigned int sections)
{
	replay->sections = sections;
	select_sections(replay);
}

/* Finds the next record with a reading. Returns 0 or a negative errno with a message. */
static int look_ahead(struct replay *replay, struct error *err)
{
	uint64_t limit_ns = replay->choice->to_ns;
	bool gap = false;
	int ret;

	while ((ret = recording__next(replay->recording, &replay->next)) == 1) {
		gap = gap || replay->next.gap;
		if (replay->next.kind == RECORDED_MODEL)
			break;
	}
	if (ret < 0)
		return error__set(err, ret, "cannot read %s: %s", replay->choice->path,
				  strerror(-ret));
	replay->next.gap = gap;
	/* Times are counted from where the reports' begin, which the first reading tells. */
	replay->has_next = ret && (!limit_ns || !replay->reading ||
				   replay->next.time_ns <= replay->began_ns + limit_ns);
	return 0;
}

static int read_next(struct replay *replay, bool *is_read, struct error *err)
{
	const struct recorded *next = &replay->next;
	uint64_t before_ns = replay->reading ? replay->reading->model->now_ns : 0;
	const struct recorded_reading *reading;
	int ret =
		model_reader__read(replay->reader, next->bytes, next->length, next->gap, &reading);

	if (ret == -ENOMEM)
		return error__set(err, ret, "out of memory");
	replay->unreadable += ret == -EINVAL;
	if (!reading)
		recording__lose(replay->recording,
				replay->reading ? replay->reading->model->now_ns : 0);
	if (reading) {
		if (!replay->reading)
			replay->began_ns = reading->began_ns;
		replay->reading = reading;
		select_sections(replay);
	}
	/* A keyframe may repeat the reading before it. */
	*is_read = reading && reading->model->now_ns != before_ns;
	return look_ahead(replay, err);
}

int replay__next(struct replay *replay, struct error *err)
{
	bool is_read = false;
	int ret = 0;

	while (!ret && !is_read && replay->has_next)
		ret = read_next(replay, &is_read, err);
	return ret;
}

static bool has_readings(const struct recording_header *header)
{
	return header->level == RECORDING_SUMMARY || header->flags & RECORDING_READINGS;
}

/* Why there is no reading. */
static int refuse(const struct replay *replay, struct error *err)
{
	const struct recording_damage *damage = recording__damage(replay->recording);
	const char *path = replay->choice->path;

	if (!has_readings(recording__header(replay->recording)))
		return error__set(err, -EINVAL,
				  "%s has no readings: it is from gpuprobe record --no-readings, "
				  "or from an older gpuprobe",
				  path);
	if (replay->unreadable || damage->chunks || damage->bytes || damage->records)
		return error__set(err, -EINVAL, "%s is damaged: no reading can be read", path);
	return error__set(err, -EINVAL, "%s has no readings: gpuprobe %s", path,
			  damage->unclosed ? "has not made the first one, or was killed before" :
					     "made none");
}

/*
 * Goes to the latest reading that is no later than choice->from_ns, and makes those after it
 * differences to it. The keyframe before that time is enough to begin with.
 */
static int skip_to(struct replay *replay, uint64_t from_ns, struct error *err)
{
	const struct recorded_reading *first;
	bool is_read;
	int ret = 0;

	if (replay->reading->model->now_ns > from_ns)
		return 0;
	ret = recording__seek(replay->recording, from_ns);
	if (ret)
		return error__set(err, ret, "cannot read %s: %s", replay->choice->path,
				  strerror(-ret));
	ret = look_ahead(replay, err);
	while (!ret && replay->has_next && replay->next.time_ns <= from_ns)
		ret = read_next(replay, &is_read, err);
	if (ret)
		return ret;
	first = model_reader__begin_here(replay->reader);
	replay->is_difference = true;
	ret = replay__next(replay, err);
	if (!ret && replay->reading == first)
		return error__set(err, -EINVAL, "%s has no reading after --from",
				  replay->choice->path);
	return ret;
}

/* Options that ask for what was not recorded would show nothing, as if there had been nothing. */
static int check_needs(const struct replay *replay, struct error *err)
{
	unsigned int missing = replay->choice->needs & ~replay->reading->needs;

	if (missing & NEEDS_TENSORS)
		return error__set(err, -ENODATA,
				  "%s has no tensors: they are recorded by gpuprobe record "
				  "--tensors",
				  replay->choice->path);
	if (missing & NEEDS_NCCL)
		return error__set(err, -ENODATA,
				  "%s has nothing of NCCL: it is from an older gpuprobe",
				  replay->choice->path);
	if (missing & NEEDS_GETTERS)
		return error__set(err, -ENODATA,
				  "%s has no calls of getters: gpuprobe record does not count "
				  "them, --getters watches them without -i",
				  replay->choice->path);
	return 0;
}

/* Reads the first one, which tells what the run was like. */
static int begin(struct replay *replay, struct error *err)
{
	int ret = look_ahead(replay, err);

	if (!ret && replay->has_next)
		ret = replay__next(replay, err);
	if (!ret && !replay->reading)
		return refuse(replay, err);
	if (!ret)
		ret = check_needs(replay, err);
	return ret || !replay->choice->from_ns ?
		       ret :
		       skip_to(replay, replay->began_ns + replay->choice->from_ns, err);
}

int replay__new(const struct recording_choice *choice, const struct log *log, struct replay **out,
		struct error *err)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int ret;

	if (!replay)
		return error__set(err, -ENOMEM, "out of memory");
	*replay = (struct replay){.choice = choice, .log = log, .sections = UINT_MAX};
	ret = recording_choice__open(choice, RECORDING_SUMMARY, &replay->recording, err);
	if (!ret)
		recording__leave_out_calls(replay->recording);
	if (!ret && model_reader__new(&replay->reader))
		ret = error__set(err, -ENOMEM, "out of memory");
	if (!ret)
		ret = begin(replay, err);
	if (ret) {
		replay__free(replay);
		return ret;
	}
	*out = replay;
	return 0;
}

void replay__free(struct replay *replay)
{
	if (!replay)
		return;
	free(replay->times);
	model_reader__free(replay->reader);
	recording__free(replay->recording);
	free(replay);
}

const struct recorded_reading *replay__reading(const struct replay *replay)
{
	return replay->reading;
}

const struct recording_header *replay__header(const struct replay *replay)
{
	return recording__header(replay->recording);
}

bool replay__is_last(const struct replay *replay)
{
	return !replay->has_next;
}

/* --- any of the readings --- */

/* Goes to the latest reading that is no later than the time. */
static int seek(struct replay *replay, uint64_t time_ns, struct error *err)
{
	int ret = recording__seek(replay->recording, time_ns);
	bool is_read;

	if (ret)
		return error__set(err, ret, "cannot read %s: %s", replay->choice->path,
				  strerror(-ret));
	ret = look_ahead(replay, err);
	while (!ret && replay->has_next && replay->next.time_ns <= time_ns)
		ret = read_next(replay, &is_read, err);
	return ret;
}

int replay__list(struct replay *replay, struct error *err)
{
	uint64_t now_ns = replay->reading->model->now_ns;
	int ret = ARRAY_APPEND(replay->times, replay->time_count, now_ns);
	bool is_lost = false;

	while (!ret && replay->has_next && replay->time_count < REPLAY_LISTED) {
		/* A reading is a difference to the one before, up to the next keyframe. */
		is_lost = !replay->next.keyframe && (is_lost || replay->next.gap);
		if (is_lost)
			recording__lose(replay->recording, 0);
		else
			ret = ARRAY_APPEND(replay->times, replay->time_count, replay->next.time_ns);
		if (!ret && look_ahead(replay, err))
			return -EIO;
	}
	if (ret)
		return error__set(err, ret, "out of memory");
	if (replay->has_next)
		log__warn(replay->log, "only the first %u readings are shown: use --from and --to",
			  REPLAY_LISTED);
	replay__warn(replay);
	return seek(replay, now_ns, err);
}

const uint64_t *replay__times(const struct replay *replay, size_t *count)
{
	*count = replay->time_count;
	return replay->times;
}

/* Reading on is quicker than beginning at a keyframe. */
#define NEAR_NS (30 * NS_PER_S)

int replay__go(struct replay *replay, size_t index, struct error *err)
{
	uint64_t time_ns = replay->times[index], now_ns = replay->reading->model->now_ns;
	bool is_read;
	int ret = 0;

	if (time_ns < now_ns || time_ns - now_ns > NEAR_NS)
		return seek(replay, time_ns, err);
	while (!ret && replay->has_next && replay->next.time_ns <= time_ns)
		ret = read_next(replay, &is_read, err);
	return ret;
}

void replay__warn(const struct replay *replay)
{
	uint64_t left_out = model_reader__left_out(replay->reader);

	damage_report__warn(replay->recording, replay->began_ns, "readings", replay->unreadable,
			    replay->log);
	if (replay->is_difference)
		log__warn(replay->log,
			  "--from: the difference of two readings lacks the startup, and the "
			  "longest of several times is rounded up");
	if (left_out)
		log__warn(replay->log,
			  "%" PRIu64 " entries are left out: this gpuprobe does not know their "
			  "functions",
			  left_out);
}
