// SPDX-License-Identifier: BSD-2-Clause
// Events of tensors from BPF's ring, see tensor_events.h.
#include "collect/tensor_events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ring.h"

struct tensor_events {
	struct ring ring;
	struct tensor_trace trace;
};

int tensor_events__new(int map_fd, size_t room, struct tensor_events **out)
{
	struct tensor_events *events = calloc(1, sizeof(*events));
	int ret = -ENOMEM;

	if (!events)
		return ret;
	events->trace.room = room;
	/* Memory that is never written takes no room. */
	events->trace.events = calloc(room, sizeof(*events->trace.events));
	if (events->trace.events)
		ret = ring__map(&events->ring, map_fd);
	if (ret) {
		tensor_events__free(events);
		return ret;
	}
	*out = events;
	return 0;
}

void tensor_events__free(struct tensor_events *events)
{
	if (!events)
		return;
	ring__unmap(&events->ring);
	free(events->trace.events);
	free(events);
}

static int keep(const void *record, size_t size, void *arg)
{
	struct tensor_trace *trace = arg;

	if (size < sizeof(*trace->events))
		return 0;
	trace->events[(trace->first + trace->count) % trace->room] =
		*(const struct tensor_event *)record;
	if (trace->count < trace->room) {
		trace->count++;
		return 0;
	}
	trace->first = (trace->first + 1) % trace->room;
	trace->overwritten++;
	return 0;
}

void tensor_events__take(struct tensor_events *events)
{
	ring__read(&events->ring, ring__written(&events->ring), keep, &events->trace);
}

const struct tensor_trace *tensor_events__trace(const struct tensor_events *events)
{
	return &events->trace;
}
