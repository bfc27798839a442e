/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracer's BPF object: its constants, its map sizes, and the plans that say what to record of
 * each function's calls.
 */
#ifndef PROBE_TRACE_OBJECT_H
#define PROBE_TRACE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/trace.h"
#include "probe/features.h"
#include "probe/library_points.h"
#include "probe/programs.h"
#include "probe/stack_maps.h"

struct trace_bpf; /* the generated skeleton */

struct trace_object_options {
	enum link_kind links;
	bool only_watched;   /* only trace processes in map `watched` */
	bool hold;	     /* stop watched processes when they map new libraries */
	bool handles;	     /* libraries above CUDA get probes */
	bool nvtx;	     /* see trace_object__attach_nvtx */
	uint64_t ring_bytes; /* a power of two of pages; a quarter full wakes the reader */
	struct stack_maps_options stacks;
	struct trace_config config; /* wake_bytes is filled in by trace_object__load */
};

/*
 * Loads the object and attaches the tracepoints for process life; attaches no uprobe yet, and sets
 * no plan. The caller owns *skeleton (trace_bpf__destroy).
 */
int trace_object__load(const struct trace_object_options *options, const struct features *features,
		       struct trace_bpf **skeleton, struct error *err);

/*
 * Attaches to the library for NVTX at `path` with this kind of link; the object was loaded with
 * `nvtx`. Returns 0, or a negative errno with a message. The caller detaches in either case;
 * *points begins with a link of -1.
 */
int trace_object__attach_nvtx(struct trace_bpf *skeleton, enum link_kind links, const char *path,
			      struct library_points *points, struct error *err);

/* Fills `programs` with what attaching needs of a loaded object. */
void trace_object__programs(struct trace_bpf *skeleton, struct probe_programs *programs);

/*
 * Sets the plan of the function in `row`, before its first probe is attached. The plan is copied.
 */
void trace_object__set_plan(struct trace_bpf *skeleton, uint32_t row,
			    const struct trace_plan *plan);

#endif
