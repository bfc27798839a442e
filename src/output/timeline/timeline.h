/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a trace (trace/line.h) as a file that draws them over time: processes, threads with
 * their nested calls and steps, streams with what was queued on them, GPUs with what they did, live
 * memory, arrows from work to the wait that covered it, and losses where they happened.
 *
 * Lines come one by one, in the tracer's order, live or from a recording; the file is written as
 * they come. Memory is bounded, however many processes, threads, streams or allocations there are
 * (the limits are in tracks.h, queue.h, gpu_tracks.h, live_bytes.h and steps.h).
 */
#ifndef OUTPUT_TIMELINE_TIMELINE_H
#define OUTPUT_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/line.h"

enum timeline_format {
	TIMELINE_PERFETTO = 0, /* Perfetto's protobuf, in compressed blocks */
	TIMELINE_CHROME,       /* Chrome's trace event format: JSON, compressed by gzip */
	TIMELINE_KINETO,       /* the same with the names of PyTorch's profiler */
};

struct timeline_options {
	enum timeline_format format;
	uint64_t begin_ns;	   /* CLOCK_BOOTTIME of time 0 */
	int64_t wall_offset_ns;	   /* CLOCK_REALTIME - CLOCK_BOOTTIME */
	const char *host, *kernel; /* of uname(2), needed until timeline__new returns, or NULL */
	bool plain;		   /* JSON is not compressed */
	/* The lines have every allocation and free, so live memory can be counted. */
	bool counts_memory;
	/* The lines have every launch, copy and wait, so a wait covers what was queued before. */
	bool draws_arrows;
	/* There may be lines of GPU work, to which arrows lead from the calls. */
	bool has_gpu_work;
	/* The lines have every launch, so what threads repeat can be found. */
	bool finds_steps;
};

/* What the file has. */
struct timeline_counts {
	uint64_t calls;			 /* each call once, with its last line */
	uint64_t arrows;		 /* from a launch or copy to a wait */
	uint64_t losses;		 /* marks of losses */
	uint64_t gpu_work;		 /* slices of GPUs */
	uint64_t gpu_left_out;		 /* pieces of GPU work for which there was no room */
	uint64_t findings;		 /* marks of findings */
	uint64_t processes;		 /* by pid */
	uint64_t raw_bytes;		 /* of the file before compression */
	bool lacks_arrows, lacks_memory; /* as the options say */
};

struct timeline;

/*
 * The caller keeps ownership of `fd`, and must survive SIGPIPE if it may be a pipe. Returns 0 or a
 * negative errno with a message.
 */
int timeline__new(int fd, const struct timeline_options *options, struct timeline **out,
		  struct error *err);
void timeline__free(struct timeline *timeline); /* drops what is not written; NULL is fine */

/* As trace_output__stop_by. */
void timeline__stop_by(struct timeline *timeline, int fd);

/*
 * Takes a line. Returns 0, or the negative errno of a failed write (-EPIPE: the reader has gone;
 * -ENOSPC) or -ENOMEM, after which nothing more is written.
 */
int timeline__line(struct timeline *timeline, const struct trace_line *line);

/* Something about a process, for a mark on its track. */
struct timeline_finding {
	pid_t pid;
	uint64_t time_ns;  /* CLOCK_BOOTTIME, at which it first held */
	const char *name;  /* "warning leak" */
	const char *title; /* what is wrong; may be hostile; the mark has the first 200 bytes */
};

/* Call it after the lines. Findings of processes without calls in the timeline are left out. */
void timeline__finding(struct timeline *timeline, const struct timeline_finding *finding);

/* Writes the rest and ends the file. Returns as timeline__line. */
int timeline__finish(struct timeline *timeline);

void timeline__count(const struct timeline *timeline, struct timeline_counts *counts);

#endif
