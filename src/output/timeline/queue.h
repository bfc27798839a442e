/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program has queued on its streams, as far as its calls say: a wait for a stream, an event
 * or a context covers the work that was queued there before it began. That is inferred from the
 * order of calls. It is not known when the GPU began or ended the work.
 *
 * Not followed: that one stream waits for another (cudaStreamWaitEvent), and that the legacy
 * default stream waits for others. Such a wait covers less than it could.
 */
#ifndef OUTPUT_TIMELINE_QUEUE_H
#define OUTPUT_TIMELINE_QUEUE_H

#include "output/timeline/tracks.h"

/* For all processes. Beyond that the oldest are forgotten: waits for them cover nothing. */
#define STREAMS_MAX 4096u
#define EVENTS_MAX 65536u
#define WORK_MAX 256u	 /* of a stream, each kept with its call; older ones are only counted */
#define ARROWS_MAX 1024u /* of one wait, to the newest work of each stream */

/* What a call does, see below. */
struct queue_result {
	/* The stream on which it queues work; NULL: none. */
	const struct timeline_track *stream;
	bool is_captured; /* into a graph, so it does not run now */
	struct timeline_cover cover;
};

struct timeline_queue;

/*
 * Returns NULL if out of memory. `tracks` must outlive it. Without `draws_arrows` it only says on
 * which streams work is queued.
 */
struct timeline_queue *timeline_queue__new(struct timeline_tracks *tracks, bool draws_arrows);
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

/* Calls were lost: forgets what may have changed meanwhile. */
void timeline_queue__lose(struct timeline_queue *queue);

#endif
