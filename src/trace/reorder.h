/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that wait for their turn: they come nearly in the order of their
 * times and leave in it. Their memory comes in chunks that are used again, so
 * that an event costs no allocation of its own.
 */
#ifndef TRACE_REORDER_H
#define TRACE_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/trace.h"

struct trace_thread; /* trace/threads.h */
struct launch_name;  /* trace/launch_names.h */
struct reorder;

/* An event, or the notice of a loss, with what it was read with. */
struct pending_event {
	struct trace_thread *thread; /* NULL of a loss; referred to */
	struct launch_name *name;    /* of a launch's kernel, or NULL; referred to */
	struct pending_event *prev, *next; /* the order's own */
	uint64_t sequence;	     /* of arrival */
	uint64_t held_ns;	     /* of the event's duration, for which gpuprobe held the process */
	uint32_t size;		     /* of the event with its payload */
	uint8_t kind;		     /* enum trace_line_kind */
	uint8_t rank;		     /* of equal times, what has the lower one is first */
	uint16_t reason;	     /* of a loss: enum trace_loss */
	struct trace_event event;    /* of a loss: start_ns is that of the first, payload[0] their number */
};

/* NULL without memory. */
struct reorder *reorder__new(void);
void reorder__free(struct reorder *order);

/*
 * Room for an event of `size` bytes, which are the caller's to fill in, and
 * which reorder__insert must be called for next. NULL without memory or where
 * `size` is below that of struct trace_event or beyond ORDER_EVENT_MAX.
 */
#define ORDER_EVENT_MAX 8192
struct pending_event *reorder__room(struct reorder *order, size_t size);

/* Puts it in its place: by `time`, then by rank, then by arrival. */
void reorder__insert(struct reorder *order, struct pending_event *pending, uint64_t time);

/* The first, and its time; NULL where nothing waits. */
struct pending_event *reorder__first(const struct reorder *order, uint64_t *time);

/* Takes the first out; its memory is gone. */
void reorder__pop(struct reorder *order);

/* Whether the call of `thread` at `depth` that began at `start_ns` is among those that wait at that time. */
bool reorder__has(const struct reorder *order, uint32_t thread, uint8_t depth, uint64_t start_ns);

/* How many wait, and the bytes that they take. */
size_t reorder__count(const struct reorder *order);
size_t reorder__bytes(const struct reorder *order);

/* A time in the middle: about half of what waits is before it. 0 where nothing waits. */
uint64_t reorder__middle(const struct reorder *order);

#endif
