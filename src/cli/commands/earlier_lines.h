/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of calls that began before the tracer attached; cli/session/earlier.h does the same for the
 * commands that count. Once the probes are attached, the threads of the target processes are looked
 * at once, beside the event loop. A thread that is in a traced call and has begun none since attach
 * has been in it since before. It gets a line, in the order of the others.
 */
#ifndef CLI_EARLIER_LINES_H
#define CLI_EARLIER_LINES_H

#include "base/log.h"
#include "cli/options/trace_options.h"
#include "cli/commands/trace_sink.h"
#include "trace/stream.h"

struct earlier_lines;
struct event_base;

/* All members must outlive the lines. */
struct earlier_lines_scene {
	const struct trace_options *options;
	const struct log *log;
	const struct process_filter *filter; /* opened */
	const struct trace_functions *functions;
	const struct trace_stream *stream;
	struct trace_bpf *skeleton;
	struct trace_sink *sink;
};

/*
 * Starts to look, once the probes are attached and trace_stream__begin was called. With
 * options->config.min_duration_ns it looks after that time, so that the calls found have lasted
 * that long. Does nothing if there are no target processes or only failures are shown. On an error
 * the lines are left out. Calls `enough` once the sink has enough lines. NULL if nothing was
 * started.
 */
struct earlier_lines *earlier_lines__begin(const struct earlier_lines_scene *scene,
					   struct event_base *loop, void (*enough)(void *arg),
					   void *arg);
void earlier_lines__free(struct earlier_lines *lines); /* NULL ok, here and below */

/*
 * Waits for the look, if one was started, and writes its lines. To be called while the probes are
 * attached.
 */
void earlier_lines__finish(struct earlier_lines *lines);

#endif
