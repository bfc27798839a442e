// SPDX-License-Identifier: BSD-2-Clause
// GPU times while the loop runs, see gpu_times_watch.h.
#include "cli/session/gpu_times_watch.h"

#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ring.h"
#include "cli/session/injected_library.h"
#include "gen/gpuprobe.skel.h"
#include "probe/times_object.h"

#define VARIABLE "CUDA_INJECTION64_PATH"
#define LIBRARY "libgpuprobe-times.so"

struct gpu_times_watch {
	struct times_object *object;
	struct ring ring, calls; /* of the library's records, of the monitor's calls */
	struct event *readable, *calls_readable;
	struct gpu_times times;
};

/* --- the variable --- */

/* For the library; see GPU_TIMES_VARIABLE. */
static int set_wishes(double share, bool graph_nodes)
{
	char text[64] = "";

	if (share > 0)
		snprintf(text, sizeof(text), GPU_TIMES_SHARE "%ld", lround(share * 1e6));
	return setenv(GPU_TIMES_VARIABLE, graph_nodes ? GPU_TIMES_GRAPH_NODES : text, 1);
}

int gpu_times_watch__set_variables(double share, bool graph_nodes, struct error *err)
{
	int ret = injected_library__set(VARIABLE, LIBRARY, "no GPU times", err);

	if (!ret && set_wishes(share, graph_nodes))
		ret = error__set(err, -ENOMEM, "out of memory");
	return ret;
}

const char *gpu_times_watch__library(void)
{
	return getenv(VARIABLE);
}

/* --- the ring --- */

#define DUE 2 /* ends a reading, since there is to be room */

static int take(const void *record, size_t size, void *arg)
{
	struct gpu_times *times = arg;

	gpu_times__take(times, record, size);
	return times->due ? DUE : 0;
}

static int take_call(const void *record, size_t size, void *arg)
{
	struct gpu_times *times = arg;

	if (size >= sizeof(struct gpu_call))
		gpu_times__take_call(times, record);
	return times->due ? DUE : 0;
}

/* Work comes later than its call: the calls of all work up to `end` are before `calls_end`. */
static void read_rings(struct gpu_times_watch *watch)
{
	uint64_t end = ring__written(&watch->ring), calls_end = ring__written(&watch->calls);
	struct gpu_times *times = &watch->times;
	bool calls_due, due;

	do {
		calls_due = ring__read(&watch->calls, calls_end, take_call, times) == DUE;
		times->due = false;
		due = ring__read(&watch->ring, end, take, times) == DUE;
		times->due = false;
		if (calls_due || due)
			gpu_times__join(times);
	} while (calls_due || due);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	read_rings(arg);
}

static int map_ring(struct ring *ring, int fd, struct error *err)
{
	int ret = ring__map(ring, fd);

	return ret ? error__set(err, ret, "cannot map the ring of GPU times: %s", strerror(-ret)) :
		     0;
}

/* NULL without memory. */
static struct event *watch_ring(struct gpu_times_watch *watch, struct event_base *loop, int fd)
{
	struct event *event = event_new(loop, fd, EV_READ | EV_PERSIST, on_readable, watch);

	if (event && event_add(event, NULL)) {
		event_free(event);
		return NULL;
	}
	return event;
}

static int watch_rings(struct gpu_times_watch *watch, struct event_base *loop, int calls_fd,
		       struct error *err)
{
	int fd = times_object__ring_fd(watch->object), ret = map_ring(&watch->ring, fd, err);

	if (!ret)
		ret = map_ring(&watch->calls, calls_fd, err);
	if (ret)
		return ret;
	watch->readable = watch_ring(watch, loop, fd);
	watch->calls_readable = watch_ring(watch, loop, calls_fd);
	return watch->readable && watch->calls_readable ? 0 :
							  error__set(err, -ENOMEM, "out of memory");
}

int gpu_times_watch__new(struct event_base *loop, const struct gpuprobe_bpf *monitor,
			 enum link_kind links, double share, struct gpu_times_watch **out,
			 struct error *err)
{
	const struct times_object_base base = {
		.config = (const struct config *)&monitor->rodata->config,
		.watched = bpf_map__fd(monitor->maps.watched),
	};
	struct gpu_times_watch *watch = calloc(1, sizeof(*watch));
	int ret;

	if (!watch)
		return error__set(err, -ENOMEM, "out of memory");
	watch->times.share = share;
	ret = times_object__new(&base, links, gpu_times_watch__library(), &watch->object, err);
	if (!ret)
		ret = watch_rings(watch, loop, bpf_map__fd(monitor->maps.gpu_calls), err);
	if (ret)
		gpu_times_watch__free(watch);
	else
		*out = watch;
	return ret;
}

void gpu_times_watch__free(struct gpu_times_watch *watch)
{
	if (!watch)
		return;
	if (watch->readable)
		event_free(watch->readable);
	if (watch->calls_readable)
		event_free(watch->calls_readable);
	ring__unmap(&watch->ring);
	ring__unmap(&watch->calls);
	times_object__free(watch->object);
	gpu_times__clear(&watch->times);
	free(watch);
}

void gpu_times_watch__name_stacks(struct gpu_times_watch *watch, site_stack_fn find, void *arg)
{
	watch->times.find_stack = find;
	watch->times.find_arg = arg;
}

void gpu_times_watch__sum_by_path(struct gpu_times_watch *watch)
{
	watch->times.by_path = true;
}

const struct gpu_times *gpu_times_watch__times(struct gpu_times_watch *watch)
{
	uint64_t lost[GPU_TIMES_LOSSES];

	read_rings(watch);
	gpu_times__join(&watch->times);
	times_object__lost(watch->object, lost);
	watch->times.unread_work = lost[GPU_TIMES_LOST_WORK];
	watch->times.unread_names = lost[GPU_TIMES_LOST_NAMES];
	return &watch->times;
}
