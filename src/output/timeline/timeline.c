// SPDX-License-Identifier: BSD-2-Clause
// Makes the parts of a timeline of the tracer's lines, see timeline.h and form.h.
#include "output/timeline/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/quantity.h"
#include "output/timeline/gpu_tracks.h"
#include "output/timeline/live_bytes.h"
#include "output/timeline/queue.h"
#include "output/timeline/ranges.h"
#include "output/timeline/steps.h"
#include "output/timeline/stream_marks.h"
#include "output/trace/line.h"
#include "trace/function.h"

struct timeline {
	struct timeline_options options;
	struct timeline_form *form;
	struct timeline_tracks *tracks;
	struct timeline_queue *queue;
	struct gpu_tracks *gpu;
	struct live_bytes *live;
	struct timeline_ranges *ranges;
	struct timeline_steps *steps; /* NULL: not wanted */
	struct timeline_counts counts;
	uint64_t last_call; /* number */
	uint64_t latest_ns; /* of a line */
	bool memory_ended;
	int error;
};

/* A line with what belongs to it. */
struct scene {
	struct timeline_process *process;
	struct timeline_thread *thread;
	struct timeline_call call;
};

int timeline__new(int fd, const struct timeline_options *options, struct timeline **out,
		  struct error *err)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return error__set(err, -ENOMEM, "no memory for the timeline");
	timeline->options = *options;
	timeline->options.host = timeline->options.kernel = NULL;
	timeline->form = options->format == TIMELINE_PERFETTO ? perfetto_form__new(fd, options) :
								chrome_form__new(fd, options);
	if (timeline->form)
		timeline->tracks = timeline_tracks__new(timeline->form);
	if (timeline->tracks) {
		timeline->queue = timeline_queue__new(timeline->tracks, timeline->form,
						      options->draws_arrows);
		timeline->gpu = gpu_tracks__new(timeline->tracks, timeline->form);
		timeline->live = live_bytes__new(timeline->tracks, timeline->form);
		timeline->ranges = timeline_ranges__new(timeline->tracks, timeline->form);
		if (options->finds_steps)
			timeline->steps = timeline_steps__new(timeline->tracks, timeline->form);
	}
	if (!timeline->queue || !timeline->gpu || !timeline->live || !timeline->ranges ||
	    (options->finds_steps && !timeline->steps)) {
		timeline__free(timeline);
		return error__set(err, -ENOMEM, "no memory for the timeline");
	}
	*out = timeline;
	return 0;
}

void timeline__free(struct timeline *timeline)
{
	if (!timeline)
		return;
	timeline_steps__free(timeline->steps);
	timeline_ranges__free(timeline->ranges);
	live_bytes__free(timeline->live);
	gpu_tracks__free(timeline->gpu);
	timeline_queue__free(timeline->queue);
	timeline_tracks__free(timeline->tracks);
	if (timeline->form)
		timeline->form->ops->free(timeline->form);
	free(timeline);
}

void timeline__stop_by(struct timeline *timeline, int fd)
{
	packed_file__stop_by(timeline->form->file, fd);
}

static const struct api_function *row_of(const struct trace_function *function)
{
	int row = api__find(trace_function__symbol(function), API_NEWEST);

	return row < 0 ? NULL : &api_functions[row];
}

/* --- marks --- */

static void mark(struct timeline *timeline, const struct timeline_mark *mark)
{
	timeline->form->ops->mark(timeline->form, mark);
}

static void mark_loss(struct timeline *timeline, uint64_t time_ns, const char *name,
		      const char *note, uint64_t count)
{
	const struct timeline_mark loss = {
		.track = timeline_tracks__losses(timeline->tracks),
		.time_ns = time_ns,
		.category = "losses",
		.name = name,
		.key = "count",
		.value = count,
		.note = note,
	};

	mark(timeline, &loss);
	timeline->counts.losses++;
}

static void take_loss(struct timeline *timeline, const struct trace_line *line)
{
	bool is_call = line->reason == TRACE_LOST_RING || line->reason == TRACE_LOST_THREAD ||
		       line->reason == TRACE_LOST_DEPTH;
	const char *what = line->reason == TRACE_LOST_RETURN ? "return" :
			   line->reason == TRACE_LOST_RANGE  ? "NVTX line" :
			   is_call			     ? "call" :
							       "stack";
	char name[96];

	snprintf(name, sizeof(name), "lost %s %s%s", quantity__amount((double)line->lost).text,
		 what, line->lost == 1 ? "" : "s");
	mark_loss(timeline, line->start_ns, name, trace_line__reason(line->reason), line->lost);
	if (!is_call)
		return;
	timeline_queue__lose(timeline->queue);
	if (timeline->steps)
		timeline_steps__lose(timeline->steps);
}

/* A call of which only the beginning is known. */
static void mark_call(struct timeline *timeline, const struct scene *scene)
{
	const struct trace_line *line = scene->call.line;
	const struct timeline_mark moment = {
		.track = &scene->thread->track,
		.time_ns = line->start_ns,
		.category = timeline_call__family(&scene->call),
		.name = trace_function__symbol(line->function),
		.note = line->kind == LINE_BEFORE ? "it had begun before gpuprobe watched" :
						    "its return was not watched",
	};

	mark(timeline, &moment);
}

void timeline__finding(struct timeline *timeline, const struct timeline_finding *finding)
{
	const struct timeline_process *process =
		timeline_tracks__find(timeline->tracks, finding->pid);
	char title[NOTE_MAX + 1];
	const struct timeline_mark moment = {
		.track = process ? &process->track : NULL,
		.time_ns = finding->time_ns,
		.category = "findings",
		.name = finding->name,
		.note = title,
	};

	if (!process || timeline->error)
		return;
	snprintf(title, sizeof(title), "%s", finding->title);
	mark(timeline, &moment);
	timeline->counts.findings++;
}

/* --- the calls of a thread --- */

/* NULL for a depth that the tracer does not follow. */
static struct timeline_frame *frame_at(struct timeline_thread *thread, unsigned int depth)
{
	return depth < TRACE_DEPTH ? &thread->frames[depth] : NULL;
}

static bool is_open(const struct timeline_frame *frame)
{
	return frame && frame->end_ns == UINT64_MAX;
}

/*
 * Keeps calls of a thread nested, whatever their times are: a call ends with the one around it, and
 * begins after the one before it. The times of calls that did not return are not exact.
 */
static void nest(struct timeline_thread *thread, struct timeline_call *call)
{
	const struct timeline_frame *before = frame_at(thread, call->line->depth);

	if (before && !is_open(before) && before->end_ns > call->begin_ns)
		call->begin_ns = before->end_ns;
	for (unsigned int depth = 0; depth < call->line->depth && depth < TRACE_DEPTH; depth++) {
		const struct timeline_frame *around = &thread->frames[depth];

		if (around->end_ns > call->begin_ns && call->end_ns > around->end_ns)
			call->end_ns = around->end_ns;
	}
	if (call->end_ns < call->begin_ns)
		call->end_ns = call->begin_ns;
}

/*
 * Ends calls in progress from a depth on whose end has no line: a later line of the thread shows
 * that they have ended by `time_ns`.
 */
static void close_open(struct timeline *timeline, struct scene *scene, unsigned int from,
		       uint64_t time_ns)
{
	struct timeline_call closed = scene->call;

	for (unsigned int depth = TRACE_DEPTH; depth-- > from;) {
		struct timeline_frame *frame = &scene->thread->frames[depth];

		if (is_open(frame)) {
			closed.part = PART_END;
			closed.number = frame->number;
			closed.begin_ns = frame->begin_ns;
			closed.end_ns = time_ns;
			closed.is_unfinished = true;
			closed.line = NULL;
			timeline->form->ops->call(timeline->form, &closed);
		}
		*frame = (struct timeline_frame){0};
	}
}

/* Begins a call, or shows it as a whole. */
static void begin_call(struct timeline *timeline, struct scene *scene)
{
	struct timeline_call *call = &scene->call;
	struct timeline_frame *frame = frame_at(scene->thread, call->line->depth);

	nest(scene->thread, call);
	close_open(timeline, scene, call->line->depth, call->begin_ns);
	call->number = ++timeline->last_call;
	if (frame)
		*frame = (struct timeline_frame){call->begin_ns, call->end_ns, call->number};
}

/* Returns false if its beginning was not shown. */
static bool end_call(struct timeline *timeline, struct scene *scene)
{
	struct timeline_call *call = &scene->call;
	struct timeline_frame *frame = frame_at(scene->thread, call->line->depth);

	if (!is_open(frame))
		return false;
	close_open(timeline, scene, call->line->depth + 1u, call->line->start_ns);
	call->part = PART_END;
	call->number = frame->number;
	call->begin_ns = frame->begin_ns;
	call->end_ns = call->line->start_ns;
	frame->end_ns = call->end_ns;
	return true;
}

/* How long the call took, of which gpuprobe held it for a part. Damaged files have any numbers. */
static uint64_t length_of(const struct trace_line *line)
{
	uint64_t length;

	if (__builtin_add_overflow(line->duration_ns, line->held_ns, &length) ||
	    length >= UINT64_MAX - line->start_ns)
		return 0;
	return length;
}

/* Sets the part and the times of the call. */
static void place_call(struct timeline *timeline, struct scene *scene)
{
	const struct trace_line *line = scene->call.line;
	uint64_t length = length_of(line);

	scene->call.is_unfinished = line->kind == LINE_UNFINISHED;
	if (line->kind != LINE_CALL && line->kind != LINE_IN_PROGRESS && line->kind != LINE_ENTRY &&
	    end_call(timeline, scene))
		return;
	scene->call.begin_ns = line->start_ns;
	scene->call.end_ns = line->start_ns + length;
	if (line->kind == LINE_IN_PROGRESS || line->kind == LINE_ENTRY) {
		scene->call.part = PART_BEGIN;
		scene->call.end_ns = UINT64_MAX;
	} else if (line->kind == LINE_RESUMED || line->kind == LINE_RETURN) {
		/* The line has the time of the return; its beginning is not in the lines. */
		scene->call.begin_ns = line->start_ns > length ? line->start_ns - length : 0;
		scene->call.end_ns = line->start_ns;
	}
	begin_call(timeline, scene);
}

/* --- what calls do --- */

static bool concerns(const struct timeline *timeline, const struct api_function *row)
{
	return row && (timeline_queue__concerns(row) ||
		       (timeline->options.counts_memory && live_bytes__concerns(row)));
}

/* Whether the call is part of another one that does the same by it. */
static bool is_inner(const struct timeline_thread *thread, const struct timeline_call *call)
{
	return call->line->depth > thread->acts_depth && call->begin_ns < thread->acts_until_ns;
}

static void set_acting(struct timeline_thread *thread, const struct timeline_call *call)
{
	thread->acts_depth = call->line->depth;
	thread->acts_until_ns = call->part == PART_BEGIN ? UINT64_MAX : call->end_ns;
}

static int take_queue(struct timeline *timeline, struct scene *scene, struct queue_result *result)
{
	struct timeline_call *call = &scene->call;
	int ret;

	*result = (struct queue_result){0};
	if (!timeline_queue__concerns(call->row))
		return 0;
	if (call->part == PART_BEGIN) {
		call->queues = timeline->options.draws_arrows && timeline_queue__queues(call->row);
		return 0;
	}
	if (call->is_unfinished)
		return 0;
	ret = timeline_queue__take(timeline->queue, scene->process, call, result);
	call->queues = timeline->options.draws_arrows && result->stream && !result->is_captured &&
		       !result->other;
	call->cover = result->cover;
	timeline->counts.arrows += result->cover.count;
	return ret;
}

static void take_memory(struct timeline *timeline, struct scene *scene)
{
	const struct timeline_call *call = &scene->call;

	if (call->part != PART_BEGIN && !call->is_unfinished && timeline->options.counts_memory &&
	    live_bytes__concerns(call->row))
		live_bytes__take(timeline->live, scene->process, call);
}

/* What fails or is captured repeats nothing. */
static int take_step(struct timeline *timeline, const struct timeline_call *call,
		     const struct queue_result *result)
{
	if (!timeline->steps || call->part == PART_BEGIN || call->is_unfinished ||
	    call->line->result || result->is_captured || !timeline_steps__concerns(call->row))
		return 0;
	return timeline_steps__take(timeline->steps, call);
}

/* Whether the outermost call, which `acts`, may have submitted work to a GPU. */
static bool submits(const struct timeline *timeline, const struct timeline_call *call, bool acts)
{
	return acts && timeline->options.has_gpu_work && call->part != PART_END &&
	       !call->line->result && timeline_queue__queues(call->row);
}

static int take_call(struct timeline *timeline, struct scene *scene)
{
	struct queue_result result = {0};
	bool acts = concerns(timeline, scene->call.row) && !is_inner(scene->thread, &scene->call);
	int ret = acts ? take_queue(timeline, scene, &result) : 0;

	if (ret)
		return ret;
	scene->call.submits = submits(timeline, &scene->call, acts);
	if (scene->call.submits)
		ret = gpu_tracks__call(timeline->gpu, &scene->call);
	if (ret)
		return ret;
	timeline->form->ops->call(timeline->form, &scene->call);
	stream_marks__draw(timeline->form, &scene->call, &result);
	if (acts) {
		take_memory(timeline, scene);
		set_acting(scene->thread, &scene->call);
		ret = take_step(timeline, &scene->call, &result);
	}
	return ret;
}

/* --- lines --- */

/* Finds, or makes, what the line is about. Returns 0 or -ENOMEM. */
static int set_scene(struct timeline *timeline, const struct trace_line *line, struct scene *scene)
{
	scene->process = timeline_tracks__process(timeline->tracks, line->process);
	if (!scene->process)
		return -ENOMEM;
	scene->thread = timeline_tracks__thread(timeline->tracks, scene->process, line->tid,
						line->thread_name);
	if (!scene->thread)
		return -ENOMEM;
	scene->call = (struct timeline_call){
		.thread = &scene->thread->track,
		.line = line,
		.row = row_of(line->function),
	};
	return 0;
}

static int take_gpu_work(struct timeline *timeline, const struct trace_line *line)
{
	struct timeline_process *process =
		timeline_tracks__process(timeline->tracks, line->process);

	return process ? gpu_tracks__draw(timeline->gpu, process, line) : -ENOMEM;
}

static int take_line(struct timeline *timeline, const struct trace_line *line)
{
	struct scene scene;
	int ret;

	if (line->kind == LINE_LOST) {
		take_loss(timeline, line);
		return 0;
	}
	if (line->kind == LINE_GPU)
		return take_gpu_work(timeline, line);
	ret = set_scene(timeline, line, &scene);
	if (ret)
		return ret;
	if (line->kind == LINE_RANGE) {
		timeline_ranges__take(timeline->ranges, scene.process, scene.thread, line);
		return 0;
	}
	timeline->counts.calls += line->kind != LINE_ENTRY && line->kind != LINE_IN_PROGRESS &&
				  line->kind != LINE_BEFORE;
	if (line->kind == LINE_BEFORE || line->kind == LINE_UNFOLLOWED) {
		mark_call(timeline, &scene);
		return 0;
	}
	place_call(timeline, &scene);
	return take_call(timeline, &scene);
}

/* Counts memory up to a time. */
static void advance(struct timeline *timeline, uint64_t time_ns)
{
	timeline_queue__advance(timeline->queue, time_ns);
	live_bytes__advance(timeline->live, time_ns);
	timeline_ranges__advance(timeline->ranges, time_ns);
	if (timeline->memory_ended || !live_bytes__is_full(timeline->live))
		return;
	timeline->memory_ended = true;
	mark_loss(timeline, time_ns, "live memory is no longer counted",
		  "too many live allocations", LIVE_MAX);
}

int timeline__line(struct timeline *timeline, const struct trace_line *line)
{
	/* Work of GPUs comes late. */
	if (line->kind != LINE_GPU)
		timeline->latest_ns = line->start_ns;
	if (!timeline->error && line->kind != LINE_GPU)
		advance(timeline, line->start_ns);
	if (!timeline->error)
		timeline->error = take_line(timeline, line);
	if (!timeline->error)
		timeline->error = packed_file__error(timeline->form->file);
	return timeline->error;
}

static void finish_ranges(struct timeline *timeline)
{
	uint64_t left_out = timeline_ranges__left_out(timeline->ranges);

	timeline_ranges__finish(timeline->ranges);
	if (left_out)
		mark_loss(timeline, timeline->latest_ns, "NVTX ranges are left out",
			  "too many at a time, or too many domains", left_out);
}

int timeline__finish(struct timeline *timeline)
{
	if (timeline->error)
		return timeline->error;
	timeline_queue__advance(timeline->queue, UINT64_MAX);
	live_bytes__advance(timeline->live, UINT64_MAX);
	finish_ranges(timeline);
	if (timeline->steps)
		timeline->error = timeline_steps__finish(timeline->steps);
	if (timeline->error)
		return timeline->error;
	timeline->form->ops->finish(timeline->form);
	packed_file__finish(timeline->form->file);
	timeline->error = packed_file__error(timeline->form->file);
	return timeline->error;
}

void timeline__count(const struct timeline *timeline, struct timeline_counts *counts)
{
	*counts = timeline->counts;
	counts->lacks_arrows = !timeline->options.draws_arrows;
	counts->lacks_memory = !timeline->options.counts_memory;
	counts->processes = timeline_tracks__processes(timeline->tracks);
	counts->gpu_work = gpu_tracks__drawn(timeline->gpu);
	counts->gpu_left_out = gpu_tracks__left_out(timeline->gpu);
	counts->raw_bytes = packed_file__raw_bytes(timeline->form->file);
}
