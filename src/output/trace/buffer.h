/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the lines of a trace gather before they are written, and the profile
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
	int stop_fd;  /* no reader is waited for while this is readable: lines gather on; -1: there is none */
	size_t piece; /* what is written at a time: so much goes without waiting where anything does */
	int error;    /* of the write that failed, negative; from then on nothing is written */
	char *data;
	size_t length, capacity;
	uint32_t *ends; /* where in data lines end that close a call */
	size_t end_count, end_capacity;
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

/* 0 or buffer->error. A reader that stands still is waited for, until stop_fd is readable: the rest stays then. */
int trace_buffer__flush(struct trace_buffer *buffer);

#endif
