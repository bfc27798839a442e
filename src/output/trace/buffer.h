/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the lines of a trace gather before they are written, and the account
 * of how many calls' lines a descriptor has taken whole, whatever becomes of
 * a write.
 */
#ifndef OUTPUT_TRACE_BUFFER_H
#define OUTPUT_TRACE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_buffer {
	int fd;
	int error; /* of the write that failed, negative; from then on nothing is written */
	char *data;
	size_t length, capacity;
	uint32_t *ends; /* where in data lines end that close a call */
	size_t end_count;
	uint64_t calls; /* closed by lines that were written whole */
};

/* `fd` stays the caller's. 0 or -ENOMEM. */
int trace_buffer__init(struct trace_buffer *buffer, int fd);
void trace_buffer__free(struct trace_buffer *buffer);

/*
 * Room for a line of at most `size` bytes, writing what is there if need be.
 * NULL when that failed, with buffer->error set, or without memory (-ENOMEM).
 */
char *trace_buffer__room(struct trace_buffer *buffer, size_t size);

/* The line put into that room ends before `end`; `call`: with it a call's lines are complete. */
void trace_buffer__commit(struct trace_buffer *buffer, const char *end, bool call);

/* 0 or buffer->error. A descriptor that does not block is waited for. */
int trace_buffer__flush(struct trace_buffer *buffer);

#endif
