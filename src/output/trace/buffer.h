/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers the lines of a trace before they are written, and counts the calls whose lines were
 * completely written to the descriptor, whatever happens to a write.
 */
#ifndef OUTPUT_TRACE_BUFFER_H
#define OUTPUT_TRACE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_buffer {
	int fd;
	/*
	 * a descriptor; while it is readable, a stalled reader is not waited for and lines
	 * accumulate; -1: none
	 */
	int stop_fd;
	/* bytes written at a time: a write of this size does not block if any write does not */
	size_t piece;
	int error; /* negative errno of a failed write, after which nothing more is written */
	char *data;
	size_t length, capacity;
	uint32_t *ends; /* offsets in data of the ends of lines that complete a call */
	size_t end_count, end_capacity;
	uint64_t calls; /* completed by lines that were fully written */
};

/* The caller keeps ownership of `fd`. Returns 0 or -ENOMEM. */
int trace_buffer__init(struct trace_buffer *buffer, int fd);
void trace_buffer__free(struct trace_buffer *buffer);

/*
 * Returns room for a line of at most `size` bytes; writes the buffered lines if necessary. NULL if
 * that failed, with buffer->error set, or without memory (-ENOMEM).
 */
char *trace_buffer__room(struct trace_buffer *buffer, size_t size);

/*
 * Adds the line that was put into that room and ends before `end`. `call`: it completes a call's
 * lines.
 */
void trace_buffer__commit(struct trace_buffer *buffer, const char *end, bool call);

/*
 * Writes the buffer. Returns 0 or buffer->error. Waits for a stalled reader until stop_fd is
 * readable, which leaves the rest in the buffer.
 */
int trace_buffer__flush(struct trace_buffer *buffer);

#endif
