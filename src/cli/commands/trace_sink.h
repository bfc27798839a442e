/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The destination of a trace's lines: stdout or a file, the summary, or both. It also decides when
 * there are enough lines.
 */
#ifndef CLI_TRACE_SINK_H
#define CLI_TRACE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/trace_options.h"
#include "output/trace/summary.h"
#include "trace/stream.h"

struct event_base;
struct trace_recorder;
struct trace_sink;

/* Where and when the calls were made. */
struct trace_origin {
	uint64_t begin_ns;	   /* time 0 of the lines, CLOCK_BOOTTIME */
	int64_t wall_offset_ns;	   /* CLOCK_REALTIME - CLOCK_BOOTTIME */
	const char *host, *kernel; /* of uname(2); NULL: unknown */
	bool lacks_calls;	   /* of a recording that was made of some calls only */
	bool has_gpu_work;	   /* a recording that may have lines of GPU work */
};

/*
 * Opens the file. `options` and `log` must outlive the sink; `origin` need not. Until
 * trace_sink__finish, the sink does not wait for a stalled reader while `stop_fd`, a descriptor of
 * the caller's, is readable.
 */
int trace_sink__new(const struct trace_options *options, const struct trace_origin *origin,
		    int stop_fd, const struct log *log, struct trace_sink **out, struct error *err);
void trace_sink__free(struct trace_sink *sink);

/* Called before the loop runs: events of the recording (record --ring). 0 or -ENOMEM. */
int trace_sink__start(struct trace_sink *sink, struct event_base *loop);

/*
 * Takes a line. Returns true if no further one should follow: because of --count, or because
 * writing failed.
 */
bool trace_sink__line(struct trace_sink *sink, const struct trace_line *line);

/*
 * Writes the buffered lines and checks whether the reader is still there. Returns as
 * trace_sink__line.
 */
bool trace_sink__flush(struct trace_sink *sink);

/* The terminal's size has changed. */
void trace_sink__resize(struct trace_sink *sink);

/* The recording that the lines go to; NULL: none. */
struct trace_recorder *trace_sink__recorder(const struct trace_sink *sink);

/* The timeline that the lines go to, for marks of something else than lines; NULL: none. */
struct timeline *trace_sink__timeline(const struct trace_sink *sink);

/*
 * Writes the rest, and the summary with the `missing` data; to a recording, with `counts`. Returns
 * 0, also if the reader has gone, or a negative errno with a message that has the number of calls
 * written.
 */
int trace_sink__finish(struct trace_sink *sink, const struct trace_missing *missing,
		       const struct trace_counts *counts, struct error *err);

/* Whether it ended because the reader has gone. */
bool trace_sink__is_closed(const struct trace_sink *sink);

/* Bytes of the recording; 0 if there is none. */
uint64_t trace_sink__recorded_bytes(const struct trace_sink *sink);

/* Lines that the recording has no room for, and whether that is because of --max-size. */
uint64_t trace_sink__dropped(const struct trace_sink *sink);
bool trace_sink__is_full(const struct trace_sink *sink);

/* Number of calls written, or summed up with -c. */
uint64_t trace_sink__calls(const struct trace_sink *sink);

/* After trace_sink__finish: what a person should know of a timeline, if there is one. */
void trace_sink__report_timeline(const struct trace_sink *sink, const struct log *log);

/* Number of calls that began before attach (LINE_BEFORE), which trace_sink__calls excludes. */
uint64_t trace_sink__earlier_calls(const struct trace_sink *sink);

#endif
