/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program has queued on its streams, as far as its calls say: a wait for a stream, an event
 * or a context covers the work that was queued there before it began. That is inferred from the
 * order of calls, also where streams wait for one another (cudaStreamWaitEvent). It is not known
 * when the GPU began or ended the work.
 *
 * Not followed: that the legacy default stream waits for others. Such a wait covers less than it
 * could.
 */
#ifndef OUTPUT_TIMELINE_QUEUE_H
#define OUTPUT_TIMELINE_QUEUE_H

#include "output/timeline/queued_streams.h"

/* For all processes. Beyond that the oldest are forgotten: waits for them cover nothing. */
#define EVENTS_MAX 65536u

/* What a call does, see below. */
struct queue_result {
	/* The stream on which it queues work, or that waits; NULL: none. */
	const struct timeline_track *stream;
	bool is_captured; /* into a graph, so it does not run now */
	struct timeline_cover cover;
	const struct timeline_order *orders; /* the work comes after these */
	size_t order_count;
	/* The call queues no work, but makes `stream` wait for an event of this one; NULL: no. */
	const struct timeline_track *other;
	struct timeline_order order;
};

struct timeline_queue;

/*
 * Returns NULL if out of memory. `tracks` and `form` must outlive it. Without `draws_arrows` it
 * only says on which streams work is queued.
 */
struct timeline_queue *timeline_queue__new(struct timeline_tracks *tracks,
					   struct timeline_form *form, bool draws_arrows);
void timeline_queue__free(struct timeline_queue *queue); /* NULL is fine */

/* Whether calls of this function queue work, cover work, or say where events are. */
bool timeline_queue__concerns(const struct api_function *row);

/* Whether they put launches, copies or the like on a stream. */
bool timeline_queue__queues(const struct api_function *row);

/*
 * Takes a call that has returned and whose function concerns the queue. The result is valid until
 * the next call. Returns 0 or -ENOMEM.
 */
int timeline_queue__take(struct timeline_queue *queue, struct timeline_process *process,
			 const struct timeline_call *call, struct queue_result *result);

/*
 * Call before each line with its time, and at the end with UINT64_MAX: writes counters of what is
 * queued, up to that time.
 */
void timeline_queue__advance(struct timeline_queue *queue, uint64_t time_ns);

/* Calls were lost: forgets what may have changed meanwhile. */
void timeline_queue__lose(struct timeline_queue *queue);

#endif
