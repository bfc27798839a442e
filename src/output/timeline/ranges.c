// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges over time, see ranges.h.
#include "output/timeline/ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/function.h"

#define CATEGORY "nvtx"

/* Of a thread and a domain, or of a process and a lane: then `tid` is 0. */
struct track_key {
	pid_t pid, tid;
	uint64_t which; /* the domain's hash, or the lane */
};

struct range_track {
	struct track_key key;
	struct timeline_track track;
	bool busy; /* a lane: its range has not ended */
	UT_hash_handle hh;
};

/* By the thread and the time of the beginning, or by the process and the id. */
struct open_key {
	pid_t pid, tid;
	uint64_t which;
};

struct open_range {
	struct open_key key;
	uint64_t begin_ns;
	struct track_key track;
	char name[NVTX_NAME_SIZE], payload[NVTX_PAYLOAD_SIZE];
	UT_hash_handle hh;
};

struct timeline_ranges {
	struct timeline_tracks *tracks;
	struct timeline_form *form;
	struct range_track *drawn; /* tables */
	struct open_range *open;
	uint64_t latest_ns, left_out;
};

struct timeline_ranges *timeline_ranges__new(struct timeline_tracks *tracks,
					     struct timeline_form *form)
{
	struct timeline_ranges *ranges = calloc(1, sizeof(*ranges));

	if (ranges) {
		ranges->tracks = tracks;
		ranges->form = form;
	}
	return ranges;
}

void timeline_ranges__free(struct timeline_ranges *ranges)
{
	if (!ranges)
		return;
	TABLE_CLEAR(ranges->drawn, free);
	TABLE_CLEAR(ranges->open, free);
	free(ranges);
}

/* --- what a line says --- */

static const struct trace_field *field_of(const struct trace_line *line, const char *name)
{
	for (size_t i = 0; i < line->field_count; i++)
		if (!strcmp(line->fields[i].name, name))
			return &line->fields[i];
	return NULL;
}

/* Empty if the line has no such text. */
static void copy_text(const struct trace_line *line, const char *name, char text[NVTX_NAME_SIZE])
{
	const struct trace_field *field = field_of(line, name);
	size_t length = field && field->form == FORM_TEXT ? field->length : 0;

	if (length >= NVTX_NAME_SIZE)
		length = NVTX_NAME_SIZE - 1;
	if (length)
		memcpy(text, field->text, length);
	text[length] = '\0';
}

_Static_assert(NVTX_NAME_SIZE == NVTX_PAYLOAD_SIZE && NVTX_PAYLOAD_SIZE <= NOTE_MAX,
	       "one function copies both texts, and a span has room for them");

static bool is(const struct trace_line *line, const char *symbol)
{
	return !strcmp(trace_function__symbol(line->function), symbol);
}

static uint64_t id_of(const struct trace_line *line)
{
	const struct trace_field *field = field_of(line, "id");

	return field && field->form == FORM_UNSIGNED ? field->number : 0;
}

/* --- tracks --- */

/* NULL: there is no room. `parent` is the track of the thread or process. */
static struct range_track *take_track(struct timeline_ranges *ranges, const struct track_key *key,
				      const struct timeline_track *parent, const char *domain)
{
	struct range_track *track = TABLE_FIND(ranges->drawn, key, key);
	char name[TRACK_NAME_SIZE];

	if (track || HASH_COUNT(ranges->drawn) >= RANGES_TRACKS_MAX)
		return track;
	track = TABLE_ADD_NEW(ranges->drawn, key, key);
	if (!track)
		return NULL;
	if (!key->tid)
		snprintf(name, sizeof(name), "NVTX ranges with ids");
	else if (*domain)
		snprintf(name, sizeof(name), "NVTX %.60s (thread %d)", domain, key->tid);
	else
		snprintf(name, sizeof(name), "NVTX (thread %d)", key->tid);
	timeline_tracks__add_ranges(ranges->tracks, parent, name, &track->track);
	return track;
}

static struct range_track *domain_track(struct timeline_ranges *ranges,
					const struct timeline_thread *thread,
					const struct trace_line *line)
{
	struct track_key key = {.pid = thread->key.pid, .tid = thread->key.tid};
	char domain[NVTX_NAME_SIZE];

	copy_text(line, "domain", domain);
	key.which = hash__of(domain, strlen(domain));
	return take_track(ranges, &key, &thread->track, domain);
}

/* NULL: too many are busy. */
static struct range_track *free_lane(struct timeline_ranges *ranges,
				     const struct timeline_process *process)
{
	struct track_key key = {.pid = process->pid};

	for (key.which = 0; key.which < RANGES_LANES; key.which++) {
		struct range_track *lane = take_track(ranges, &key, &process->track, "");

		if (!lane || !lane->busy)
			return lane;
	}
	return NULL;
}

/* --- ranges --- */

static void draw(struct timeline_ranges *ranges, const struct range_track *track, const char *name,
		 const char *payload, uint64_t begin_ns, uint64_t end_ns, bool is_unfinished)
{
	const struct timeline_span span = {
		.track = &track->track,
		.begin_ns = begin_ns,
		.end_ns = end_ns > begin_ns ? end_ns : begin_ns,
		.category = CATEGORY,
		.name = name,
		.is_range = true,
		.is_unfinished = is_unfinished,
		.payload = *payload ? payload : NULL,
	};

	ranges->form->ops->span(ranges->form, &span);
}

/* Awaits its end. */
static struct open_range *open_range(struct timeline_ranges *ranges, const struct open_key *key,
				     const struct range_track *track, const struct trace_line *line)
{
	struct open_range *range = TABLE_FIND(ranges->open, key, key);

	if (!track || (!range && HASH_COUNT(ranges->open) >= RANGES_OPEN_MAX))
		return NULL;
	if (!range)
		range = TABLE_ADD_NEW(ranges->open, key, key);
	if (!range)
		return NULL;
	range->begin_ns = line->start_ns;
	range->track = track->key;
	copy_text(line, "name", range->name);
	copy_text(line, "payload", range->payload);
	return range;
}

static void forget(struct timeline_ranges *ranges, struct open_range *range)
{
	HASH_DEL(ranges->open, range);
	free(range);
}

/* Without room for it the range is drawn all the same when it ends. */
static void push(struct timeline_ranges *ranges, const struct timeline_thread *thread,
		 const struct trace_line *line)
{
	const struct open_key key = {thread->key.pid, thread->key.tid, line->start_ns};

	open_range(ranges, &key, domain_track(ranges, thread, line), line);
}

static void pop(struct timeline_ranges *ranges, const struct timeline_thread *thread,
		const struct trace_line *line)
{
	const struct open_key key = {thread->key.pid, thread->key.tid,
				     line->start_ns - line->duration_ns};
	struct open_range *range = TABLE_FIND(ranges->open, key, &key);
	struct range_track *track = domain_track(ranges, thread, line);
	char name[NVTX_NAME_SIZE], payload[NVTX_PAYLOAD_SIZE];

	copy_text(line, "name", name);
	copy_text(line, "payload", payload);
	if (track)
		draw(ranges, track, name, payload, key.which, line->start_ns, false);
	else
		ranges->left_out++;
	if (range)
		forget(ranges, range);
}

static void start(struct timeline_ranges *ranges, const struct timeline_process *process,
		  const struct trace_line *line)
{
	const struct open_key key = {.pid = process->pid, .which = id_of(line)};
	struct range_track *lane = free_lane(ranges, process);

	if (!TABLE_FIND(ranges->open, key, &key) && open_range(ranges, &key, lane, line))
		lane->busy = true;
	else
		ranges->left_out++;
}

static void end(struct timeline_ranges *ranges, const struct timeline_process *process,
		const struct trace_line *line)
{
	const struct open_key key = {.pid = process->pid, .which = id_of(line)};
	struct open_range *range = TABLE_FIND(ranges->open, key, &key);
	struct range_track *lane = range ? TABLE_FIND(ranges->drawn, key, &range->track) : NULL;

	if (!lane)
		return;
	copy_text(line, "payload", range->payload);
	draw(ranges, lane, range->name, range->payload, range->begin_ns, line->start_ns, false);
	lane->busy = false;
	forget(ranges, range);
}

static void mark(struct timeline_ranges *ranges, const struct timeline_thread *thread,
		 const struct trace_line *line)
{
	char name[NVTX_NAME_SIZE], domain[NVTX_NAME_SIZE];
	const struct timeline_mark moment = {
		.track = &thread->track,
		.time_ns = line->start_ns,
		.category = CATEGORY,
		.name = name,
		.note = field_of(line, "domain") ? domain : NULL,
	};

	copy_text(line, "name", name);
	copy_text(line, "domain", domain);
	ranges->form->ops->mark(ranges->form, &moment);
}

void timeline_ranges__take(struct timeline_ranges *ranges, const struct timeline_process *process,
			   const struct timeline_thread *thread, const struct trace_line *line)
{
	if (line->start_ns > ranges->latest_ns)
		ranges->latest_ns = line->start_ns;
	if (is(line, "nvtxRangePush"))
		push(ranges, thread, line);
	else if (is(line, "nvtxRangePop"))
		pop(ranges, thread, line);
	else if (is(line, "nvtxRangeStart"))
		start(ranges, process, line);
	else if (is(line, "nvtxRangeEnd"))
		end(ranges, process, line);
	else
		mark(ranges, thread, line);
}

void timeline_ranges__advance(struct timeline_ranges *ranges, uint64_t time_ns)
{
	if (time_ns > ranges->latest_ns)
		ranges->latest_ns = time_ns;
}

static int by_begin(const struct open_range *a, const struct open_range *b)
{
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

void timeline_ranges__finish(struct timeline_ranges *ranges)
{
	const struct open_range *range, *next;

	HASH_SORT(ranges->open, by_begin);
	HASH_ITER (hh, ranges->open, range, next) {
		const struct range_track *track = TABLE_FIND(ranges->drawn, key, &range->track);

		if (track)
			draw(ranges, track, range->name, range->payload, range->begin_ns,
			     ranges->latest_ns, true);
	}
}

uint64_t timeline_ranges__left_out(const struct timeline_ranges *ranges)
{
	return ranges->left_out;
}
