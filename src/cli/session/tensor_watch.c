// SPDX-License-Identifier: BSD-2-Clause
// Events of tensors while the loop runs, see tensor_watch.h.
#include "cli/session/tensor_watch.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "collect/tensor_events.h"

/* A ring of 8 MiB has room for 2 million events a second. */
#define PERIOD_US 50000

struct tensor_watch {
	struct tensor_events *events;
	struct event *timer;
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct tensor_watch *watch = arg;

	(void)fd;
	(void)what;
	tensor_events__take(watch->events);
}

int tensor_watch__new(struct event_base *loop, int map_fd, size_t room, struct tensor_watch **out)
{
	static const struct timeval period = {.tv_usec = PERIOD_US};
	struct tensor_watch *watch = calloc(1, sizeof(*watch));
	int ret = watch ? tensor_events__new(map_fd, room, &watch->events) : -ENOMEM;

	if (!ret) {
		watch->timer = event_new(loop, -1, EV_PERSIST, on_timer, watch);
		ret = !watch->timer || event_add(watch->timer, &period) ? -ENOMEM : 0;
	}
	if (ret)
		tensor_watch__free(watch);
	else
		*out = watch;
	return ret;
}

void tensor_watch__free(struct tensor_watch *watch)
{
	if (!watch)
		return;
	if (watch->timer)
		event_free(watch->timer);
	tensor_events__free(watch->events);
	free(watch);
}

const struct tensor_trace *tensor_watch__trace(struct tensor_watch *watch)
{
	tensor_events__take(watch->events);
	return tensor_events__trace(watch->events);
}
