/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages of `gpuprobe trace` on standard error at its end: what was lost or unavailable, and
 * the last line.
 */
#ifndef CLI_TRACE_END_H
#define CLI_TRACE_END_H

#include <stdbool.h>

#include "base/log.h"
#include "cli/commands/attach_gaps.h"
#include "cli/options/trace_options.h"
#include "cli/commands/trace_gpu.h"
#include "cli/commands/trace_sink.h"
#include "model/silent_targets.h"
#include "output/trace/summary.h"
#include "trace/stream.h"

struct trace_end {
	const struct trace_options *options;
	const struct log *log;
	const struct trace_sink *sink;
	const struct trace_gpu *gpu; /* NULL: no GPU times */
	const struct target_processes *targets;
	struct trace_counts counts;
	struct trace_missing missing;
	bool failed; /* some data could not be read */
};

/* To be called before the summary is written. */
void trace_end__warn(const struct trace_end *end, const struct attach_gaps *gaps);

/*
 * Prints the last line, "gpuprobe: written 25 calls, lost 0". With --quiet it prints nothing if
 * nothing was lost.
 */
void trace_end__report(const struct trace_end *end);

#endif
