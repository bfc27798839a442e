/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes lines (LINE_GPU) of what the library in the watched programs tells of the work of GPUs
 * (gpuprobe/gpu_times.h), each with the call that submitted it. A line of work comes after that of
 * its call.
 *
 * Programs may tell anything: what is kept is bounded for a process and for all.
 */
#ifndef TRACE_GPU_FEED_H
#define TRACE_GPU_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/gpu_times.h"
#include "trace/line.h"

#define GPU_FEED_PROCESSES 1024
#define GPU_FEED_JOINED 32 /* processes whose work is joined with calls: up to 77 MiB */

struct gpu_feed;

struct gpu_feed_options {
	bool full_names;    /* as in struct trace_stream_options */
	unsigned int kinds; /* the wanted ones: a bit for each enum gpu_work_kind */
	bool only_shown;    /* leave out processes of which no line has come */
	bool only_called;   /* leave out work whose call is not known */
	/* Called with each line. A nonzero result ends the lines. */
	int (*line)(const struct trace_line *line, void *arg);
	void *line_arg;
	/* The library could not start in a process. `code`: CUPTI's result, or 0. Hostile text. */
	void (*failed)(pid_t pid, int64_t code, const char *text, void *arg);
	void *failed_arg;
};

struct gpu_feed_counts {
	uint64_t work;	     /* lines */
	uint64_t uncalled;   /* of them, those whose call is not known */
	uint64_t untimed;    /* pieces of work without a time: CUPTI did not know it */
	uint64_t dropped;    /* records that CUPTI lost */
	uint64_t unplaced;   /* pieces of work for which there was no room, or no clock */
	uint64_t refused;    /* pieces of work of no known kind, or that end before they start */
	uint64_t names;	     /* that were lost */
	uint64_t calls;	     /* that submitted work, and that have lines */
	uint64_t unrecorded; /* of them, those of which CUPTI's record is missing */
	uint64_t silent;     /* processes with such calls from which no record came */
};

/* NULL without memory. */
struct gpu_feed *gpu_feed__new(const struct gpu_feed_options *options);
void gpu_feed__free(struct gpu_feed *feed); /* NULL is fine */

/*
 * Takes each line of the trace, after it was shown. Returns whether gpu_feed__join is due, before
 * which records should be taken.
 */
bool gpu_feed__call(struct gpu_feed *feed, const struct trace_line *line);

/*
 * Takes a record of BPF's ring, `size` bytes of any content. Returns the time of the latest call in
 * it (CLOCK_BOOTTIME), or 0: once it is after the lines so far, the next records should wait.
 */
uint64_t gpu_feed__take(struct gpu_feed *feed, const void *record, size_t size);

/* Passes on the work whose call is known by now. Returns what `line` returned, or 0. */
int gpu_feed__join(struct gpu_feed *feed);

/*
 * After gpu_feed__join, each few seconds: passes on the work that has waited for its call since the
 * last time; with `all`, all work. Returns as gpu_feed__join.
 */
int gpu_feed__give_up(struct gpu_feed *feed, bool all);

void gpu_feed__count(const struct gpu_feed *feed, struct gpu_feed_counts *counts);

#endif
