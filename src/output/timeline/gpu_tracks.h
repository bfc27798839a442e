/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What GPUs did (LINE_GPU), in a timeline: a track for each stream of each GPU, as CUPTI numbers
 * them, with a slice for each piece of work, and an arrow from the call that submitted it.
 *
 * At most GPU_TRACKS_MAX tracks have slices, of which a stream has up to GPU_LANES_MAX if its work
 * overlaps. Work beyond that is counted. The latest GPU_CALLS_MAX calls have places: work of
 * earlier ones has no arrow.
 */
#ifndef OUTPUT_TIMELINE_GPU_TRACKS_H
#define OUTPUT_TIMELINE_GPU_TRACKS_H

#include "output/timeline/tracks.h"

#define GPU_TRACKS_MAX 1024u
#define GPU_LANES_MAX 8u
#define GPU_CALLS_MAX 131072u

struct gpu_tracks;

/* NULL if out of memory. `tracks` and `form` must outlive it. */
struct gpu_tracks *gpu_tracks__new(struct timeline_tracks *tracks, struct timeline_form *form);
void gpu_tracks__free(struct gpu_tracks *gpu); /* NULL is fine */

/* Remembers a call that submits work; of a call in two parts the first. 0 or -ENOMEM. */
int gpu_tracks__call(struct gpu_tracks *gpu, const struct timeline_call *call);

/* Draws a LINE_GPU. Returns 0 or -ENOMEM. */
int gpu_tracks__draw(struct gpu_tracks *gpu, struct timeline_process *process,
		     const struct trace_line *line);

/* Pieces of work that are drawn, and those for which there was no room. */
uint64_t gpu_tracks__drawn(const struct gpu_tracks *gpu);
uint64_t gpu_tracks__left_out(const struct gpu_tracks *gpu);

#endif
