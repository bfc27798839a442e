/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the lines of a trace go: to stdout or a file, into the summary, or
 * both; and when there have been enough of them.
 */
#ifndef CLI_TRACE_SINK_H
#define CLI_TRACE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/options/trace_options.h"
#include "output/trace/summary.h"

struct trace_sink;

/*
 * Opens the file. `begin_ns` is the time 0 of the lines. `options` must outlive the sink. Until trace_sink__finish
 * no reader is waited for that stands still while `stop_fd` is readable, a descriptor of the caller's.
 */
int trace_sink__new(const struct trace_options *options, uint64_t begin_ns, int stop_fd, struct trace_sink **out,
		    struct error *err);
void trace_sink__free(struct trace_sink *sink);

/* Takes a line. True when no further one is to come: by --count, or since it cannot be written. */
bool trace_sink__line(struct trace_sink *sink, const struct trace_line *line);

/* Writes what has gathered, and looks whether there still is a reader. True as above. */
bool trace_sink__flush(struct trace_sink *sink);

/* The terminal has another size. */
void trace_sink__resize(struct trace_sink *sink);

/*
 * Writes the rest, and the summary, which says what is `missing` in
 * it. Returns 0, also when the reader has gone, or a negative errno with a
 * text that says how many calls were written.
 */
int trace_sink__finish(struct trace_sink *sink, const struct trace_missing *missing, struct error *err);

/* Whether it ended since nobody reads it any more. */
bool trace_sink__is_closed(const struct trace_sink *sink);

/* Calls that were written, or with -c summed up. */
uint64_t trace_sink__calls(const struct trace_sink *sink);

/* Those that had begun before attach (LINE_BEFORE), which are not among them. */
uint64_t trace_sink__earlier_calls(const struct trace_sink *sink);

#endif
