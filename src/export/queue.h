/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that wait to be sent, bounded: the oldest one makes room. Not for several threads. */
#ifndef EXPORT_QUEUE_H
#define EXPORT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_request {
	char *data; /* malloc */
	size_t length;
	uint64_t items;
	struct export_request *next;
};

/* Begins as zeros, but for the bounds. */
struct export_queue {
	size_t max_bytes, max_requests;
	struct export_request *first, *last;
	bool busy; /* the first one is being sent, and stays */
	size_t bytes, requests;
	uint64_t items;
};

/*
 * Appends a request, and takes it over. Returns how many items were dropped for it; those of the
 * request itself if it does not fit.
 */
uint64_t export_queue__push(struct export_queue *queue, struct export_request *request);

/* Removes and frees the first request. */
void export_queue__pop(struct export_queue *queue);

/* Empties the queue; returns how many items were in it. */
uint64_t export_queue__clear(struct export_queue *queue);

#endif
