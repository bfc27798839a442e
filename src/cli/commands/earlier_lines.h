/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of calls that began before the tracer came, as cli/session/earlier.h has them of the commands that count. When the probes are in,
 * the threads of the processes that were given are looked at once, beside the event loop. One that is in a call that is
 * traced, and has begun none since the probes are in, has been in it since before: a line says so, in the order of the others.
 */
#ifndef CLI_EARLIER_LINES_H
#define CLI_EARLIER_LINES_H

#include "base/log.h"
#include "cli/options/trace_options.h"
#include "cli/commands/trace_sink.h"
#include "trace/stream.h"

struct earlier_lines;
struct event_base;

/* All of it outlives them. */
struct earlier_lines_scene {
	const struct trace_options *options;
	const struct log *log;
	const struct trace_functions *functions;
	const struct trace_stream *stream;
	struct trace_bpf *skeleton;
	struct trace_sink *sink;
};

/*
 * The probes are in, and trace_stream__begin was called. Begins to look; with options->config.min_duration_ns only after such a
 * time, so that what is found then has lasted for as long. Nothing is begun where no process was given, or failures alone
 * are shown. What goes wrong leaves the lines out. `enough` is called once the sink has enough lines. NULL where nothing
 * was begun.
 */
struct earlier_lines *earlier_lines__begin(const struct earlier_lines_scene *scene, struct event_base *loop,
					   void (*enough)(void *arg), void *arg);
void earlier_lines__free(struct earlier_lines *lines); /* NULL ok, here and below */

/* Waits for a look that was begun, and writes its lines. To be called as long as probes are in. */
void earlier_lines__finish(struct earlier_lines *lines);

#endif
