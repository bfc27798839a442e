/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns the records of the tracer's ring into lines in the order of their times: takes records in,
 * keeps track of threads, processes and kernel names, holds events back until no earlier one can
 * arrive, and passes on lines.
 *
 * A line is held until every call that began before it has returned. A call that is in progress for
 * longer than `hold_ns`, or that delays more than `hold_bytes`, gets a line of its own
 * (LINE_IN_PROGRESS) and is no longer waited for; its result comes as LINE_RESUMED.
 */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "base/error.h"
#include "base/log.h"
#include "gpuprobe/stack.h"
#include "trace/function.h"

struct trace_bpf; /* the generated skeleton */
struct trace_stream;

struct trace_stream_options {
	uint64_t hold_ns;	  /* 0: 1 s */
	uint64_t hold_bytes;	  /* 0: 64 MiB */
	unsigned int kernel_args; /* as in struct trace_config */
	enum stack_mode stack_mode;
	size_t max_stacks; /* distinct stacks to keep; if stacks are captured, at least 1 */
	bool entry_return;
	bool full_names;      /* whole demangled kernel names */
	bool wants_cgroup;    /* look up processes' cgroups */
	bool wants_locations; /* look up kernel_location */
	bool wants_names;     /* look up names of threads */
	/*
	 * Called with each line, in order. A nonzero result ends the reading: no more lines are
	 * passed on.
	 */
	int (*line)(const struct trace_line *line, void *arg);
	/*
	 * Called when a process has executed another program, loaded libraries or been forked
	 * (RECORD_EXEC, RECORD_LIBRARY, RECORD_LOADED, RECORD_FORK).
	 */
	void (*process_changed)(const struct record_library *record, void *arg);
	/*
	 * How long gpuprobe held the process between two times; this is excluded from the duration
	 * of its calls. Optional.
	 */
	uint64_t (*held)(pid_t pid, uint64_t from_ns, uint64_t to_ns, void *arg);
	void *arg;
};

struct trace_counts {
	uint64_t calls;		       /* calls with a line, each counted once */
	uint64_t lost;		       /* calls not shown for lack of room, all reasons */
	uint64_t losses[TRACE_LOSSES]; /* TRACE_LOST_RETURN and stacks are not part of `lost` */
	uint64_t unfinished;	       /* of `calls` */
	uint64_t unfollowed;	       /* of `calls`: their return was not watched */
	uint64_t malformed;	       /* malformed records, dropped */
	uint64_t evicted;	       /* stacks dropped for lack of room */
	uint64_t unknown_stacks;       /* of `calls`: those whose stack is unknown */
};

/*
 * `skeleton`, `functions` and `log` must outlive the stream. The skeleton must be loaded, with
 * nothing attached yet.
 */
int trace_stream__new(struct trace_bpf *skeleton, const struct trace_functions *functions,
		      const struct trace_stream_options *options, const struct log *log,
		      struct trace_stream **out, struct error *err);
void trace_stream__free(struct trace_stream *stream);

/*
 * Call for a process that ran before there were probes: finds what is needed to read its stacks
 * before its first event.
 */
void trace_stream__see_process(struct trace_stream *stream, pid_t pid);

/*
 * Call when all probes are attached. Calls that began earlier are not shown, because only some
 * functions had probes then.
 */
void trace_stream__begin(struct trace_stream *stream, uint64_t now_ns);

/*
 * The time of the latest line or, before the first one, of trace_stream__begin: no later line has
 * an earlier time.
 */
uint64_t trace_stream__time(const struct trace_stream *stream);

/*
 * The time up to which all lines were passed on, but for the later ones of calls in progress
 * (LINE_RESUMED, LINE_UNFINISHED).
 */
uint64_t trace_stream__passed(const struct trace_stream *stream);

/*
 * A descriptor that is readable when there is much to read. Drain the stream at least every 100 ms,
 * readable or not.
 */
int trace_stream__fd(const struct trace_stream *stream);

/*
 * Takes in a bounded part of what is in the ring, and passes on the lines that are due. Returns 1
 * if there is more, 0 if not, -ECANCELED once `line` has returned nonzero, or another negative
 * errno.
 */
int trace_stream__drain(struct trace_stream *stream);

/*
 * Call when the probes are detached: takes in the rest, adds the calls still in progress
 * (LINE_UNFINISHED) and passes everything on. Returns as trace_stream__drain.
 */
int trace_stream__finish(struct trace_stream *stream);

void trace_stream__count(const struct trace_stream *stream, struct trace_counts *counts);

#endif
