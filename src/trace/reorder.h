/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reorder buffer for events: they arrive nearly in the order of their times and leave exactly in
 * it. Memory comes in chunks that are reused, so an event costs no allocation of its own.
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

/* An event, or a loss, with the data that was found when it was read. */
struct pending_event {
	struct trace_thread *thread;	   /* NULL for a loss; holds a reference */
	struct launch_name *name;	   /* of a launch's kernel, or NULL; holds a reference */
	struct pending_event *prev, *next; /* private to the order */
	uint64_t sequence;		   /* order of arrival */
	uint64_t held_ns;		   /* during which gpuprobe held the process */
	uint32_t size;			   /* of the event including its payload */
	uint8_t kind;			   /* enum trace_line_kind */
	uint8_t rank;			   /* among equal times, the lower rank comes first */
	uint16_t reason;		   /* for a loss: enum trace_loss */
	struct trace_event event;	   /* for a loss: start_ns of the first, payload[0] calls */
};

/* Returns NULL if out of memory. */
struct reorder *reorder__new(void);
void reorder__free(struct reorder *order);

/*
 * Returns room for an event of `size` bytes, for the caller to fill in and to pass to
 * reorder__insert next. NULL if out of memory, or if `size` is smaller than struct trace_event or
 * larger than ORDER_EVENT_MAX.
 */
#define ORDER_EVENT_MAX 8192
struct pending_event *reorder__room(struct reorder *order, size_t size);

/* Inserts it by `time`, then by rank, then by arrival. */
void reorder__insert(struct reorder *order, struct pending_event *pending, uint64_t time);

/* The first one, and its time; NULL if there is none. */
struct pending_event *reorder__first(const struct reorder *order, uint64_t *time);

/* Removes the first one and frees its memory. */
void reorder__pop(struct reorder *order);

/* Whether the call of `thread` at `depth` that began at `start_ns` is pending at that time. */
bool reorder__has(const struct reorder *order, uint32_t thread, uint8_t depth, uint64_t start_ns);

/* The number of pending events, and their bytes. */
size_t reorder__count(const struct reorder *order);
size_t reorder__bytes(const struct reorder *order);

/* A time in the middle: about half of the pending events are before it. 0 if there are none. */
uint64_t reorder__middle(const struct reorder *order);

#endif
