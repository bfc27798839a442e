/* SPDX-License-Identifier: BSD-2-Clause */
/* What a call does to streams, as marks on their tracks and arrows between them. */
#ifndef OUTPUT_TIMELINE_STREAM_MARKS_H
#define OUTPUT_TIMELINE_STREAM_MARKS_H

#include "output/timeline/queue.h"

/* Draws what timeline_queue__take has found of a call, after the call itself. */
void stream_marks__draw(struct timeline_form *form, const struct timeline_call *call,
			const struct queue_result *result);

#endif
