/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --gpu-times of `gpuprobe trace` and `gpuprobe record --level calls`: what GPUs did becomes lines
 * (trace/gpu_feed.h) beside the calls.
 */
#ifndef CLI_TRACE_GPU_H
#define CLI_TRACE_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/trace_options.h"
#include "probe/features.h"
#include "trace/gpu_feed.h"
#include "trace/line.h"

struct trace_bpf; /* the generated skeleton */
struct trace_gpu;

/*
 * Which kinds of work have lines, a bit for each enum gpu_work_kind: those of which -e and --api
 * select a function that submits them.
 */
unsigned int trace_gpu__kinds(const struct trace_options *options);

/* Before COMMAND is started: sets what gives it the library. Returns 0 or with a message. */
int trace_gpu__set_variables(struct error *err);

/*
 * Loads and attaches the probes of the library. `skeleton` must be loaded; it, `options` and `log`
 * must outlive it. `line` is called with each line (LINE_GPU). Returns 0 or a negative errno with a
 * message.
 */
int trace_gpu__new(const struct trace_bpf *skeleton, enum link_kind links,
		   const struct trace_options *options, const struct log *log,
		   int (*line)(const struct trace_line *line, void *arg), void *arg,
		   struct trace_gpu **out, struct error *err);
void trace_gpu__free(struct trace_gpu *gpu); /* NULL is fine */

/* Takes each line of a call after it was shown. Returns whether the trace is to end. */
bool trace_gpu__call(struct trace_gpu *gpu, const struct trace_line *line);

/*
 * Shows the work whose calls are among the lines, which are complete up to `passed_ns`. Call it at
 * least every 100 ms. Returns as trace_gpu__call.
 */
bool trace_gpu__drain(struct trace_gpu *gpu, uint64_t passed_ns);

/* After the last line of a call: shows the rest, also without calls. */
void trace_gpu__finish(struct trace_gpu *gpu);

/* Writes ", 440 pieces of GPU work" to stderr, as a part of the last line, with what is missing. */
void trace_gpu__report(const struct trace_gpu *gpu);

/* Pieces of work that no line shows, as far as that is known. NULL: 0. */
uint64_t trace_gpu__lost(const struct trace_gpu *gpu);

#endif
