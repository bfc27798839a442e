// SPDX-License-Identifier: BSD-2-Clause
// The steps of threads, see steps.h.
#include "output/timeline/steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/array.h"
#include "model/period.h"
#include "output/trace/line.h"

#define SEARCH_FIRST 1024u /* submissions before the first search, and before the end */
#define SEARCH_LEAST 12u   /* at the end */
#define WRONG_STEPS 16u	   /* an anchor is wrong with this many more irregular than regular steps */
#define IDLE_NS 1000000000ull /* a thread may be forgotten after that */
#define LOST_ROUNDS 4u	      /* an anchor is lost when so many rounds of launches followed it */

/* What a thread has submitted. */
struct submitted {
	uint64_t code, time_ns;
};

struct stepping_thread {
	struct timeline_thread_key key;
	struct timeline_track thread, track; /* the latter of steps; number 0: none yet */
	uint64_t latest_ns;
	struct submitted *history; /* until its steps are drawn; at most STEP_HISTORY */
	size_t count, searched;
	struct step_anchor anchor; /* launches 0: none is known */
	bool draws;		   /* the anchor was found twice: steps are drawn as they end */
	/* Where the walk over the submissions is: */
	uint64_t context, begin_ns;	    /* begin_ns 0: no step has begun */
	uint64_t launches;		    /* in the step in progress */
	uint64_t steps, regular, irregular; /* drawn so far; the latter by this anchor */
	UT_hash_handle hh;
};

struct timeline_steps {
	struct timeline_tracks *tracks;
	struct timeline_form *form;
	struct stepping_thread *threads;
};

struct timeline_steps *timeline_steps__new(struct timeline_tracks *tracks,
					   struct timeline_form *form)
{
	struct timeline_steps *steps = calloc(1, sizeof(*steps));

	if (steps) {
		steps->tracks = tracks;
		steps->form = form;
	}
	return steps;
}

static void free_thread(struct stepping_thread *thread)
{
	free(thread->history);
	free(thread);
}

void timeline_steps__free(struct timeline_steps *steps)
{
	if (!steps)
		return;
	TABLE_CLEAR(steps->threads, free_thread);
	free(steps);
}

/* --- codes --- */

bool timeline_steps__concerns(const struct api_function *row)
{
	switch ((enum operation)row->desc.operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_COPY:
	case OP_SET:
	case OP_WAIT: return true;
	default: return false;
	}
}

/* Launches of one kernel, or of one graph, have the same code. */
static uint64_t launch_code(const struct timeline_call *call)
{
	const struct trace_line *line = call->line;
	const char *name = line->kernel_full ? line->kernel_full : trace_line__kernel(line);

	for (size_t i = 0; !name && i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];

		if (field->form == FORM_ADDRESS &&
		    (!strcmp(field->name, "graphExec") || !strcmp(field->name, "hGraphExec")))
			return field->number & ~STEP_CODE_OTHER;
	}
	return name ? hash__of(name, strlen(name)) : 0;
}

static uint8_t copy_kind(const struct trace_line *line)
{
	for (size_t i = 0; i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];

		if (field->role != TRACE_KIND || field->form != FORM_WORD)
			continue;
		return !strcmp(field->text, "H2D") ? COPY_H2D :
		       !strcmp(field->text, "D2H") ? COPY_D2H :
						     COPY_D2D;
	}
	return COPY_DEFAULT;
}

static uint64_t code_of(const struct timeline_call *call)
{
	const struct function_desc *desc = &call->row->desc;

	switch ((enum operation)desc->operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH: return launch_code(call);
	case OP_COPY: return step_code(OP_COPY, copy_kind(call->line));
	case OP_WAIT: return step_code(OP_WAIT, desc->kind);
	default: return step_code(desc->operation, 0);
	}
}

/* --- drawing --- */

static bool is_regular(const struct stepping_thread *thread)
{
	uint64_t usual = thread->anchor.launches;

	return 2 * thread->launches >= usual && 2 * thread->launches <= 3 * usual;
}

static void add_track(struct timeline_steps *steps, struct stepping_thread *thread)
{
	char name[TRACK_NAME_SIZE];

	snprintf(name, sizeof(name), "steps of thread %" PRId32, thread->key.tid);
	timeline_tracks__add_steps(steps->tracks, &thread->thread, name, &thread->track);
}

/* Ends it before the next one: some viewers nest slices that touch. */
static void draw(struct timeline_steps *steps, struct stepping_thread *thread, uint64_t next_ns)
{
	bool regular = is_regular(thread);
	struct timeline_span span = {
		.begin_ns = thread->begin_ns,
		.end_ns = next_ns - 1,
		.category = "steps",
		.regular = regular,
		.launches = thread->launches,
	};
	char name[48] = "irregular step";

	if (!thread->track.number)
		add_track(steps, thread);
	thread->regular += regular;
	thread->irregular += !regular;
	if (regular)
		snprintf(name, sizeof(name), "step %" PRIu64, ++thread->steps);
	span.track = &thread->track;
	span.name = name;
	steps->form->ops->span(steps->form, &span);
}

/* A step begins with its anchor. */
static void walk_over(struct timeline_steps *steps, struct stepping_thread *thread,
		      const struct submitted *submitted)
{
	if (step_anchor__is_at(&thread->anchor, submitted->code, thread->context)) {
		if (thread->begin_ns && submitted->time_ns > thread->begin_ns)
			draw(steps, thread, submitted->time_ns);
		thread->begin_ns = submitted->time_ns;
		thread->launches = 0;
	}
	thread->launches += !(submitted->code & STEP_CODE_OTHER);
	thread->context = step_context(thread->context, submitted->code);
}

/* Draws the steps of the history, and from then on each when it ends. */
static void draw_history(struct timeline_steps *steps, struct stepping_thread *thread)
{
	thread->draws = true;
	for (size_t i = 0; i < thread->count; i++)
		walk_over(steps, thread, &thread->history[i]);
	free(thread->history);
	thread->history = NULL;
	thread->count = thread->searched = 0;
}

/* --- searching --- */

static void begin_anew(struct stepping_thread *thread)
{
	thread->anchor.launches = 0;
	thread->draws = false;
	thread->context = thread->begin_ns = thread->launches = 0;
	thread->regular = thread->irregular = 0;
	thread->count = thread->searched = 0;
}

static bool is_same(const struct step_anchor *a, const struct step_anchor *b)
{
	return a->code == b->code && a->mask == b->mask && a->before == b->before;
}

/* Returns 0 or -ENOMEM. *again: the search before has found the same. */
static int search(struct stepping_thread *thread, bool *again)
{
	size_t known = thread->anchor.launches ? 1 : 0;
	uint64_t *codes = malloc(thread->count * sizeof(*codes));
	struct period period;
	int ret;

	if (!codes)
		return -ENOMEM;
	for (size_t i = 0; i < thread->count; i++)
		codes[i] = thread->history[i].code;
	ret = period__find(codes, thread->count, &thread->anchor, known, &period);
	free(codes);
	if (ret)
		return ret;
	thread->searched = thread->count;
	*again = known && period.launches && is_same(&period.anchor, &thread->anchor);
	thread->anchor = period.anchor;
	thread->anchor.launches = period.launches;
	return 0;
}

/* A search costs some milliseconds, so each has twice the submissions of the one before. */
static int look(struct timeline_steps *steps, struct stepping_thread *thread)
{
	bool again = false, full = thread->count == STEP_HISTORY;
	int ret;

	if (thread->count < SEARCH_FIRST || thread->count < 2 * thread->searched)
		return 0;
	ret = search(thread, &again);
	if (ret)
		return ret;
	if (thread->anchor.launches && (again || full))
		draw_history(steps, thread);
	else if (full)
		begin_anew(thread);
	return 0;
}

/* Work goes on in another way. */
static bool is_past(const struct stepping_thread *thread)
{
	return thread->launches > LOST_ROUNDS * thread->anchor.launches ||
	       thread->irregular > thread->regular + WRONG_STEPS;
}

/* Makes room for another thread, if one has submitted nothing for a while. */
static void forget_idle(struct timeline_steps *steps, uint64_t now_ns)
{
	struct stepping_thread *thread, *next, *oldest = steps->threads;

	HASH_ITER (hh, steps->threads, thread, next) {
		if (thread->latest_ns < oldest->latest_ns)
			oldest = thread;
	}
	if (oldest->latest_ns + IDLE_NS > now_ns)
		return;
	HASH_DEL(steps->threads, oldest);
	free_thread(oldest);
}

/* NULL with *ret: 0 if there is no room, or -ENOMEM. */
static struct stepping_thread *take_thread(struct timeline_steps *steps,
					   const struct timeline_call *call, int *ret)
{
	const struct timeline_thread_key key = {call->thread->pid, call->thread->tid};
	struct stepping_thread *thread = TABLE_FIND(steps->threads, key, &key);

	*ret = 0;
	if (!thread && HASH_COUNT(steps->threads) >= STEP_THREADS_MAX)
		forget_idle(steps, call->begin_ns);
	if (!thread && HASH_COUNT(steps->threads) >= STEP_THREADS_MAX)
		return NULL;
	if (!thread) {
		thread = TABLE_ADD_NEW(steps->threads, key, &key);
		*ret = thread ? 0 : -ENOMEM;
	}
	if (thread) {
		thread->thread = *call->thread;
		thread->latest_ns = call->begin_ns;
	}
	return thread;
}

int timeline_steps__take(struct timeline_steps *steps, const struct timeline_call *call)
{
	const struct submitted submitted = {code_of(call), call->begin_ns};
	int ret;
	struct stepping_thread *thread = take_thread(steps, call, &ret);

	if (!thread)
		return ret;
	if (thread->draws) {
		walk_over(steps, thread, &submitted);
		if (is_past(thread))
			begin_anew(thread);
		return 0;
	}
	if (ARRAY_APPEND(thread->history, thread->count, submitted))
		return -ENOMEM;
	return look(steps, thread);
}

void timeline_steps__lose(struct timeline_steps *steps)
{
	struct stepping_thread *thread, *next;

	HASH_ITER (hh, steps->threads, thread, next) {
		thread->begin_ns = 0;
		if (!thread->draws)
			thread->count = thread->searched = 0;
	}
}

int timeline_steps__finish(struct timeline_steps *steps)
{
	struct stepping_thread *thread, *next;
	int ret = 0;

	HASH_ITER (hh, steps->threads, thread, next) {
		bool again;

		if (thread->draws || thread->count < SEARCH_LEAST)
			continue;
		ret = search(thread, &again);
		if (ret)
			break;
		if (thread->anchor.launches)
			draw_history(steps, thread);
	}
	return ret;
}
