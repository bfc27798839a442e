/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about a trace's lines that every form shows. */
#ifndef OUTPUT_TRACE_LINE_H
#define OUTPUT_TRACE_LINE_H

#include "trace/line.h"

/* "ring_full" */
const char *trace_line__reason(enum trace_loss reason);

/* Whether a LINE_LOST is only about returns: the calls themselves are shown. */
const char *trace_line__lost_word(const struct trace_line *line);

/* Whether the line shows a duration. */
bool trace_line__has_duration(const struct trace_line *line);

/* Whether the line shows a result. */
bool trace_line__has_result(const struct trace_line *line);

/* CLOCK_BOOTTIME of the call's return, if the line shows a result. */
/* Whether the time at which the call returned, or the GPU ended the work, is known. */
bool trace_line__has_end(const struct trace_line *line);
uint64_t trace_line__end_ns(const struct trace_line *line);

/* The kernel's readable name, or the mangled one; NULL: not a launch, or unknown. */
const char *trace_line__kernel(const struct trace_line *line);

/* The same for people: its label, unless full names are asked for. */
const char *trace_line__label(const struct trace_line *line);

#endif
