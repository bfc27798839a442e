/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NVTX ranges of a timeline. Those that a thread pushes and pops are on a track beside the
 * thread, one for each domain, because ranges of several domains need not be in each other. Those
 * with ids may overlap: each is on the first track of the process that is free when it begins.
 * Marks are on the thread's own track.
 */
#ifndef OUTPUT_TIMELINE_RANGES_H
#define OUTPUT_TIMELINE_RANGES_H

#include "output/timeline/tracks.h"

#define RANGES_OPEN_MAX 16384u /* ranges whose end is awaited */
#define RANGES_TRACKS_MAX 8192u
#define RANGES_LANES 32u /* tracks of a process for ranges with ids */

struct timeline_ranges;

/* Returns NULL if out of memory. Both must outlive it. */
struct timeline_ranges *timeline_ranges__new(struct timeline_tracks *tracks,
					     struct timeline_form *form);
void timeline_ranges__free(struct timeline_ranges *ranges); /* NULL ok */

/* Takes a line of kind LINE_RANGE. */
void timeline_ranges__take(struct timeline_ranges *ranges, const struct timeline_process *process,
			   const struct timeline_thread *thread, const struct trace_line *line);

/* A line of another kind has this time. */
void timeline_ranges__advance(struct timeline_ranges *ranges, uint64_t time_ns);

/* Draws the ranges that have not ended, up to the latest line's time. */
void timeline_ranges__finish(struct timeline_ranges *ranges);

/* Ranges that are not drawn for lack of room. */
uint64_t timeline_ranges__left_out(const struct timeline_ranges *ranges);

#endif
