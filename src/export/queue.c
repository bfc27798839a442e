// SPDX-License-Identifier: BSD-2-Clause
// Requests that wait to be sent, see queue.h.
#include "export/queue.h"

#include <stdlib.h>

static void free_request(struct export_request *request)
{
	free(request->data);
	free(request);
}

/* Takes the request that `link` points to out of the queue; returns its items. */
static uint64_t drop(struct export_queue *queue, struct export_request **link)
{
	struct export_request *request = *link;
	uint64_t items = request->items;

	*link = request->next;
	if (queue->last == request)
		queue->last = queue->busy ? queue->first : NULL;
	queue->bytes -= request->length;
	queue->requests--;
	queue->items -= items;
	free_request(request);
	return items;
}

static bool has_room(const struct export_queue *queue, size_t length)
{
	return queue->requests < queue->max_requests && queue->max_bytes >= length &&
	       queue->bytes <= queue->max_bytes - length;
}

uint64_t export_queue__push(struct export_queue *queue, struct export_request *request)
{
	struct export_request **oldest = queue->busy ? &queue->first->next : &queue->first;
	uint64_t dropped = 0;

	while (!has_room(queue, request->length) && *oldest && request->length <= queue->max_bytes)
		dropped += drop(queue, oldest);
	if (!has_room(queue, request->length)) {
		dropped += request->items;
		free_request(request);
		return dropped;
	}
	request->next = NULL;
	if (queue->last)
		queue->last->next = request;
	else
		queue->first = request;
	queue->last = request;
	queue->bytes += request->length;
	queue->requests++;
	queue->items += request->items;
	return dropped;
}

void export_queue__pop(struct export_queue *queue)
{
	queue->busy = false;
	drop(queue, &queue->first);
}

uint64_t export_queue__clear(struct export_queue *queue)
{
	uint64_t items = 0;

	queue->busy = false;
	while (queue->first)
		items += drop(queue, &queue->first);
	return items;
}
