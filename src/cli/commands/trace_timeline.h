/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeline that the lines of a trace become, and what a person should know of its file. */
#ifndef CLI_TRACE_TIMELINE_H
#define CLI_TRACE_TIMELINE_H

#include "base/log.h"
#include "cli/commands/trace_sink.h"
#include "output/timeline/timeline.h"

/*
 * Begins a timeline in `fd`, which stays the caller's, as timeline__new. A part that the options,
 * or origin->lacks_calls, leave without the calls it needs is left out.
 */
int trace_timeline__new(int fd, const struct trace_options *options,
			const struct trace_origin *origin, struct timeline **out,
			struct error *err);

/*
 * At the end, on stderr: how to open the file, and warnings: that it is large, or what it lacks.
 */
void trace_timeline__report(const struct trace_options *options,
			    const struct timeline_counts *counts, const struct log *log);

#endif
