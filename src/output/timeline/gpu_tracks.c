// SPDX-License-Identifier: BSD-2-Clause
// Tracks of GPUs, see gpu_tracks.h.
#include "output/timeline/gpu_tracks.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/timeline/gpu_lanes.h"
#include "trace/gpu_work.h"

struct gpu_track_key {
	int32_t pid;
	uint32_t device, stream, lane;
};

struct gpu_track {
	struct gpu_track_key key;
	struct timeline_track track;
	struct gpu_lane slices;
	UT_hash_handle hh;
};

/* A call is told by its thread and its begin, as gpuprobe saw it: it may be drawn later. */
struct gpu_call_key {
	int32_t pid, tid;
	uint64_t start_ns;
};

struct gpu_drawn_call {
	struct gpu_call_key key;
	uint64_t number, begin_ns;
	UT_hash_handle hh;
};

struct gpu_tracks {
	struct timeline_tracks *tracks;
	struct timeline_form *form;
	struct gpu_track *lanes;
	struct gpu_drawn_call *calls; /* the oldest first */
	uint64_t drawn, left_out;
};

struct gpu_tracks *gpu_tracks__new(struct timeline_tracks *tracks, struct timeline_form *form)
{
	struct gpu_tracks *gpu = calloc(1, sizeof(*gpu));

	if (!gpu)
		return NULL;
	gpu->tracks = tracks;
	gpu->form = form;
	return gpu;
}

void gpu_tracks__free(struct gpu_tracks *gpu)
{
	if (!gpu)
		return;
	TABLE_CLEAR(gpu->lanes, free);
	TABLE_CLEAR(gpu->calls, free);
	free(gpu);
}

/* --- calls --- */

int gpu_tracks__call(struct gpu_tracks *gpu, const struct timeline_call *call)
{
	const struct trace_line *line = call->line;
	const struct gpu_call_key key = {line->process->pid, line->tid,
					 line->kind == LINE_RESUMED ? call->begin_ns :
								      line->start_ns};
	struct gpu_drawn_call *drawn = TABLE_FIND(gpu->calls, key, &key);

	if (!drawn && HASH_COUNT(gpu->calls) >= GPU_CALLS_MAX) {
		struct gpu_drawn_call *oldest = gpu->calls;

		HASH_DEL(gpu->calls, oldest);
		free(oldest);
	}
	if (!drawn)
		drawn = TABLE_ADD_NEW(gpu->calls, key, &key);
	if (!drawn)
		return -ENOMEM;
	drawn->number = call->number;
	drawn->begin_ns = call->begin_ns;
	return 0;
}

static const struct gpu_drawn_call *call_of(const struct gpu_tracks *gpu,
					    const struct trace_line *line)
{
	const struct gpu_call_key key = {line->process->pid, line->tid, line->gpu->called_ns};

	return line->gpu->has_call ? TABLE_FIND(gpu->calls, key, &key) : NULL;
}

/* --- tracks --- */

/* Whether another process has work on the same stream of a GPU of this number. */
static bool is_shared(const struct gpu_tracks *gpu, const struct gpu_track_key *key)
{
	const struct gpu_track *other, *next;

	HASH_ITER (hh, gpu->lanes, other, next)
		if (other->key.device == key->device && other->key.stream == key->stream &&
		    other->key.lane == key->lane)
			return true;
	return false;
}

static struct gpu_track *take_lane(struct gpu_tracks *gpu, struct timeline_process *process,
				   const struct gpu_track_key *key)
{
	struct gpu_track *lane = TABLE_FIND(gpu->lanes, key, key);
	bool is_plain;
	char name[TRACK_NAME_SIZE];

	if (lane || HASH_COUNT(gpu->lanes) >= GPU_TRACKS_MAX)
		return lane;
	is_plain = !key->lane && !is_shared(gpu, key);
	lane = TABLE_ADD_NEW(gpu->lanes, key, key);
	if (!lane)
		return NULL;
	if (key->lane)
		snprintf(name, sizeof(name), "GPU %" PRIu32 " stream %" PRIu32 ", overlapping %u",
			 key->device, key->stream, key->lane);
	else
		snprintf(name, sizeof(name), "GPU %" PRIu32 " stream %" PRIu32, key->device,
			 key->stream);
	lane->track.gpu = (struct timeline_gpu_place){key->device, key->stream, is_plain};
	timeline_tracks__add(gpu->tracks, process, TRACK_GPU, name, &lane->track);
	return lane;
}

/* A lane on which the slice fits; NULL: there is none. */
static const struct timeline_track *place(struct gpu_tracks *gpu, struct timeline_process *process,
					  const struct trace_line *line, uint64_t end_ns)
{
	struct gpu_track_key key = {process->pid, line->gpu->device, line->gpu->stream, 0};

	for (; key.lane < GPU_LANES_MAX; key.lane++) {
		struct gpu_track *lane = take_lane(gpu, process, &key);

		if (!lane)
			return NULL;
		if (gpu_lane__take(&lane->slices, line->start_ns, end_ns))
			return &lane->track;
	}
	return NULL;
}

int gpu_tracks__draw(struct gpu_tracks *gpu, struct timeline_process *process,
		     const struct trace_line *line)
{
	const struct gpu_drawn_call *call = call_of(gpu, line);
	struct timeline_gpu_slice slice = {.line = line, .begin_ns = line->start_ns};

	if (__builtin_add_overflow(line->start_ns, line->duration_ns, &slice.end_ns))
		slice.end_ns = line->start_ns;
	slice.track = place(gpu, process, line, slice.end_ns);
	if (!slice.track) {
		gpu->left_out++;
		return 0;
	}
	if (call) {
		slice.number = call->number;
		slice.call = (struct timeline_point){call->key.pid, call->key.tid, call->begin_ns};
	}
	gpu->form->ops->gpu(gpu->form, &slice);
	gpu->drawn++;
	return 0;
}

uint64_t gpu_tracks__drawn(const struct gpu_tracks *gpu)
{
	return gpu->drawn;
}

uint64_t gpu_tracks__left_out(const struct gpu_tracks *gpu)
{
	return gpu->left_out;
}
