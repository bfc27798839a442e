// SPDX-License-Identifier: BSD-2-Clause
// Reads mapping events at intervals, see listener.h.
#include "cli/session/listener.h"

#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"

#define LOOKS_MS 20
#define LOST_PAUSE_NS NS_PER_S /* minimum time between two scans of all processes */

struct listener {
	struct listener_hooks hooks;
	struct mapping_events *events;
	struct event *timer;
	uint64_t whole_ns;	   /* no event was lost before this time */
	uint64_t reported_lost_ns; /* when a loss was last reported */
	bool has_lost;
};

static void on_mapped(const struct mapping_event *event, void *arg)
{
	const struct listener *listener = arg;

	listener->hooks.mapped(event, listener->hooks.arg);
}

static void on_lost(uint64_t count, void *arg)
{
	struct listener *listener = arg;

	(void)count;
	listener->has_lost = true;
}

static void report_lost(struct listener *listener, uint64_t now_ns)
{
	if (now_ns < listener->reported_lost_ns + LOST_PAUSE_NS)
		return;
	listener->has_lost = false;
	listener->reported_lost_ns = now_ns;
	listener->hooks.lost(listener->whole_ns, listener->hooks.arg);
}

void listener__read(struct listener *listener)
{
	uint64_t now_ns = clock__boot_ns();

	mapping_events__read(listener->events);
	if (listener->has_lost)
		report_lost(listener, now_ns);
	if (!listener->has_lost)
		listener->whole_ns = now_ns;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	listener__read(arg);
}

int listener__new(struct event_base *loop, const struct listener_hooks *hooks,
		  struct listener **out, struct error *err)
{
	const struct timeval every = {.tv_usec = LOOKS_MS * 1000};
	struct listener *listener = calloc(1, sizeof(*listener));
	const struct mapping_events_hooks events = {
		.allocators = hooks->allocators,
		.handles = hooks->handles,
		.mapped = on_mapped,
		.lost = on_lost,
		.arg = listener,
	};
	int ret;

	if (!listener)
		return error__set(err, -ENOMEM, "out of memory");
	listener->hooks = *hooks;
	listener->whole_ns = clock__boot_ns();
	ret = mapping_events__new(&events, &listener->events, err);
	if (!ret) {
		listener->timer = event_new(loop, -1, EV_PERSIST, on_timer, listener);
		if (!listener->timer || event_add(listener->timer, &every))
			ret = error__set(err, -ENOMEM, "out of memory");
	}
	if (ret) {
		listener__free(listener);
		return ret;
	}
	*out = listener;
	return 0;
}

void listener__free(struct listener *listener)
{
	if (!listener)
		return;
	if (listener->timer)
		event_free(listener->timer);
	mapping_events__free(listener->events);
	free(listener);
}
