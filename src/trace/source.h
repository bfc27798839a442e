/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a stream has its records from: the tracer's BPF programs, or a test
 * that plays them.
 */
#ifndef TRACE_SOURCE_H
#define TRACE_SOURCE_H

#include <sys/types.h>

#include "base/error.h"
#include "gpuprobe/trace.h"
#include "stack/stacks.h"
#include "base/ring.h"

struct trace_bpf;
struct trace_source;

/* Takes a call in progress: an event of type TRACE_UNFINISHED, aligned. Nonzero ends the reading. */
typedef int (*trace_call_fn)(const struct trace_event *event, size_t size, void *arg);

struct trace_source_calls {
	/* CLOCK_BOOTTIME. */
	uint64_t (*now)(struct trace_source *source);
	/* How many thread numbers were ever in use. */
	uint32_t (*thread_count)(struct trace_source *source);
	/* What waits has been seen: the descriptor is readable again when more comes. */
	void (*acknowledge)(struct trace_source *source);
	/* As ring__written and ring__read; `position` is how far it was read. */
	uint64_t (*written)(struct trace_source *source);
	uint64_t (*position)(struct trace_source *source);
	int (*read)(struct trace_source *source, uint64_t end, ring_record_fn fn, void *arg);
	/*
	 * Every traced call in progress, the outermost of a thread first. 0, what
	 * `fn` has returned, or a negative errno.
	 */
	int (*in_progress)(struct trace_source *source, trace_call_fn fn, void *arg);
	/* Adds to `lost` the stacks that are missing since the last look. NULL: none ever are. */
	void (*count_lost_stacks)(struct trace_source *source);
	void (*free)(struct trace_source *source);
};

struct trace_source {
	const struct trace_source_calls *calls;
	const struct trace_config *config;
	const uint64_t *began;	 /* by thread number, see TRACE_ENTERING; TRACE_THREADS of them */
	struct trace_lost *lost; /* TRACE_LOSSES of them */
	struct ring *stacks;	 /* of struct stack_record: those of an event are in it before the event; NULL: none are taken */
	struct stack_hooks stack_hooks;
	int fd; /* readable when there is much to read; -1: none */
};

/* That of the skeleton, which must outlive it and is loaded. 0 or a negative errno. */
int trace_source__new(struct trace_bpf *skeleton, struct trace_source **out, struct error *err);

#endif
