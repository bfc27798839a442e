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
#include "probe/times_object.h"

#define VARIABLE "CUDA_INJECTION64_PATH"
#define LIBRARY "libgpuprobe-times.so"

struct gpu_times_watch {
	struct times_object *object;
	struct ring ring;
	struct event *readable;
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

/* --- the ring --- */

static int take(const void *record, size_t size, void *arg)
{
	gpu_times__take(arg, record, size);
	return 0;
}

static void read_ring(struct gpu_times_watch *watch)
{
	ring__read(&watch->ring, ring__written(&watch->ring), take, &watch->times);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	read_ring(arg);
}

int gpu_times_watch__new(struct event_base *loop, const struct gpuprobe_bpf *monitor,
			 enum link_kind links, double share, struct gpu_times_watch **out,
			 struct error *err)
{
	struct gpu_times_watch *watch = calloc(1, sizeof(*watch));
	int ret;

	if (!watch)
		return error__set(err, -ENOMEM, "out of memory");
	watch->times.share = share;
	ret = times_object__new(monitor, links, getenv(VARIABLE), &watch->object, err);
	if (!ret) {
		ret = ring__map(&watch->ring, times_object__ring_fd(watch->object));
		if (ret)
			error__set(err, ret, "cannot map the ring of GPU times: %s",
				   strerror(-ret));
	}
	if (!ret) {
		watch->readable = event_new(loop, times_object__ring_fd(watch->object),
					    EV_READ | EV_PERSIST, on_readable, watch);
		if (!watch->readable || event_add(watch->readable, NULL))
			ret = error__set(err, -ENOMEM, "out of memory");
	}
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
	ring__unmap(&watch->ring);
	times_object__free(watch->object);
	gpu_times__clear(&watch->times);
	free(watch);
}

const struct gpu_times *gpu_times_watch__times(struct gpu_times_watch *watch)
{
	uint64_t lost[GPU_TIMES_LOSSES];

	read_ring(watch);
	times_object__lost(watch->object, lost);
	watch->times.unread_work = lost[GPU_TIMES_LOST_WORK];
	watch->times.unread_names = lost[GPU_TIMES_LOST_NAMES];
	return &watch->times;
}
