/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the tracer's ring to lines in the order of their times: takes records
 * in, knows threads, processes and kernel names, holds events back until no
 * earlier one can come, and hands out lines.
 *
 * A line is held until every call that began before it has returned. A call in
 * progress for longer than `hold_ns`, or that keeps more than `hold_bytes`
 * waiting, is given a line of its own (LINE_IN_PROGRESS) and is waited for no
 * longer; its result comes as LINE_RESUMED.
 */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "base/error.h"
#include "base/log.h"
#include "gpuprobe/stack.h"
#include "trace/function.h"

struct trace_bpf; /* the skeleton, generated */
struct trace_stream;

struct trace_stream_options {
	uint64_t hold_ns;	  /* 0: 1 s */
	uint64_t hold_bytes;	  /* 0: 64 MiB */
	unsigned int kernel_args; /* as config */
	enum stack_mode stack_mode;
	size_t max_stacks; /* kept; where they are taken, 1 or more */
	bool entry_return;
	bool full_names;   /* kernel names demangled whole */
	bool wants_cgroup; /* processes' cgroups are looked up */
	bool wants_places; /* kernel_place is looked up */
	/* Called with each line, in order. Nonzero ends the reading: no line is handed out any more. */
	int (*line)(const struct trace_line *line, void *arg);
	/* A process has become another program, has loaded libraries or has been forked (RECORD_EXEC, RECORD_LIBRARY, RECORD_LOADED, RECORD_FORK). */
	void (*process_changed)(const struct record_library *record, void *arg);
	/* How long gpuprobe held the process between two times, which is no time of its calls. Optional. */
	uint64_t (*held)(pid_t pid, uint64_t from_ns, uint64_t to_ns, void *arg);
	void *arg;
};

struct trace_counts {
	uint64_t calls;		       /* whose lines were handed out, each once */
	uint64_t lost;		       /* calls not shown for want of room, all reasons */
	uint64_t losses[TRACE_LOSSES]; /* TRACE_LOST_RETURN and those of stacks are not part of `lost` */
	uint64_t unfinished;	       /* of the calls */
	uint64_t unfollowed;	       /* of the calls: their return was not */
	uint64_t malformed;	       /* records that cannot be: dropped */
	uint64_t evicted;	       /* stacks that left for want of room */
	uint64_t unknown_stacks;       /* of the calls: whose stack was not known */
};

/* `skeleton`, `functions` and `log` must outlive the stream. The skeleton is loaded, nothing is attached yet. */
int trace_stream__new(struct trace_bpf *skeleton, const struct trace_functions *functions,
		      const struct trace_stream_options *options, const struct log *log, struct trace_stream **out,
		      struct error *err);
void trace_stream__free(struct trace_stream *stream);

/* A process that ran before there were probes: what its stacks are read with is found before its first event. */
void trace_stream__see_process(struct trace_stream *stream, pid_t pid);

/*
 * All probes are in now: calls that began before are not shown, of which some
 * functions' had probes and others' not yet.
 */
void trace_stream__begin(struct trace_stream *stream, uint64_t now_ns);

/* The time of the latest line, or, before the first, that of trace_stream__begin: no line to come is older. */
uint64_t trace_stream__time(const struct trace_stream *stream);

/* Readable when there is much to read; but it is to be drained every 100 ms at the latest, readable or not. */
int trace_stream__fd(const struct trace_stream *stream);

/*
 * Takes in what is in the ring, a bounded part of it at a time, and hands out
 * the lines that are due. Returns 1 if there is more, 0 if not, -ECANCELED once
 * `line` has returned nonzero, or another negative errno.
 */
int trace_stream__drain(struct trace_stream *stream);

/*
 * After the probes are off: takes in the rest, adds the calls still in
 * progress (LINE_UNFINISHED) and hands everything out. As trace_stream__drain.
 */
int trace_stream__finish(struct trace_stream *stream);

void trace_stream__count(const struct trace_stream *stream, struct trace_counts *counts);

#endif
