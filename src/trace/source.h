/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of a stream's records: the tracer's BPF programs, or a test that simulates them. */
#ifndef TRACE_SOURCE_H
#define TRACE_SOURCE_H

#include <sys/types.h>

#include "base/error.h"
#include "gpuprobe/trace.h"
#include "stack/stacks.h"
#include "base/ring.h"

struct trace_bpf;
struct trace_source;

/*
 * Takes a call in progress: an event of type TRACE_UNFINISHED, aligned. A nonzero result ends the
 * reading.
 */
typedef int (*trace_call_fn)(const struct trace_event *event, size_t size, void *arg);

struct trace_source_calls {
	/* The current time, CLOCK_BOOTTIME. */
	uint64_t (*now)(struct trace_source *source);
	/* How many thread numbers have ever been in use. */
	uint32_t (*thread_count)(struct trace_source *source);
	/* Resets the descriptor: it becomes readable again when more arrives. */
	void (*acknowledge)(struct trace_source *source);
	/* As ring__written and ring__read; `position` is how far it was read. */
	uint64_t (*written)(struct trace_source *source);
	uint64_t (*position)(struct trace_source *source);
	int (*read)(struct trace_source *source, uint64_t end, ring_record_fn fn, void *arg);
	/*
	 * Lists every traced call in progress, a thread's outermost first. Returns 0, what `fn`
	 * returned, or a negative errno.
	 */
	int (*in_progress)(struct trace_source *source, trace_call_fn fn, void *arg);
	/* Adds the stacks lost since the last call to `lost`. NULL: none are ever lost. */
	void (*count_lost_stacks)(struct trace_source *source);
	void (*free)(struct trace_source *source);
};

struct trace_source {
	const struct trace_source_calls *calls;
	const struct trace_config *config;
	const uint64_t *began;	 /* by thread number, see TRACE_ENTERING; TRACE_THREADS of them */
	struct trace_lost *lost; /* TRACE_LOSSES of them */
	/*
	 * Of struct stack_record: an event's stack is in it before the event. NULL: no stacks are
	 * captured.
	 */
	struct ring *stacks;
	struct stack_hooks stack_hooks;
	int fd; /* readable when there is much to read; -1: none */
};

/*
 * Creates a source for the skeleton, which must be loaded and outlive the source. Returns 0 or a
 * negative errno.
 */
int trace_source__new(struct trace_bpf *skeleton, struct trace_source **out, struct error *err);

#endif
