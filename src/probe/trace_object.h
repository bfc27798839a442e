/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracer's BPF object: its constants, its sizes, and the plans by which it
 * keeps the calls of each function.
 */
#ifndef PROBE_TRACE_OBJECT_H
#define PROBE_TRACE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/trace.h"
#include "probe/features.h"
#include "probe/programs.h"
#include "probe/stack_maps.h"

struct trace_bpf; /* the skeleton, generated */

struct trace_object_options {
	enum link_kind links;
	bool only_watched;   /* map `watched` decides which processes count */
	bool hold;	     /* stop watched processes at new libraries */
	uint64_t ring_bytes; /* a power of two of pages; events are woken for at a quarter */
	struct stack_maps_options stacks;
	struct trace_config config; /* wake_bytes is filled in here */
};

/*
 * Loads the object and attaches the tracepoints of process life; no uprobe
 * is attached yet, and no function has a plan. The caller owns *skeleton
 * (trace_bpf__destroy).
 */
int trace_object__load(const struct trace_object_options *options, const struct features *features,
		       struct trace_bpf **skeleton, struct error *err);

/* What attaching needs of a loaded object. */
void trace_object__programs(struct trace_bpf *skeleton, struct probe_programs *programs);

/*
 * Gives the function in `row` its plan, before its first probe is attached. A
 * copy is taken.
 */
void trace_object__set_plan(struct trace_bpf *skeleton, uint32_t row, const struct trace_plan *plan);

#endif
