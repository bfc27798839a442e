/* SPDX-License-Identifier: BSD-2-Clause */
/* The times of a trace's lines in the five forms of --timestamps. */
#ifndef OUTPUT_TRACE_TIME_H
#define OUTPUT_TRACE_TIME_H

#include "output/trace/output.h"

struct trace_time {
	enum trace_timestamps form;
	bool exact; /* milliseconds with all their digits, otherwise with three */
	uint64_t begin_ns;
	int64_t wall_offset_ns;
	/* time of the previous line, for the first line its own; TIMESTAMPS_DELTA */
	uint64_t previous_ns;
	struct {
		bool known;
		int64_t second; /* since 1970 */
		uint32_t length;
		char text[40];
		/*
		 * calendar times cached for one second each; two, because a line may also have its
		 * end
		 */
	} seconds[2];
};

void trace_time__init(struct trace_time *time, const struct trace_output_options *options);

/* Whether the form is a text; the others are numbers. */
bool trace_time__is_text(const struct trace_time *time);

/* A line with this time follows. If it is the first, deltas start from it. */
void trace_time__expect(struct trace_time *time, uint64_t ns);

/* Writes CLOCK_BOOTTIME `ns`, at most 64 bytes; returns the end of it. */
char *trace_time__write(struct trace_time *time, char *at, uint64_t ns);

/* A line with this time was written. */
void trace_time__advance(struct trace_time *time, uint64_t ns);

/* "TIME(ms)" for the name "TIME", in `text`. */
void trace_time__heading(const struct trace_time *time, const char *name, char *text, size_t size);

#endif
