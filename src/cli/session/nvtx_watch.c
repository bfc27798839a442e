// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges while the loop runs, see nvtx_watch.h.
#include "cli/session/nvtx_watch.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/ring.h"
#include "cli/session/injected_library.h"
#include "probe/nvtx_object.h"

#define VARIABLE "NVTX_INJECTION64_PATH"
#define LIBRARY "libgpuprobe-nvtx.so"

struct nvtx_watch {
	struct nvtx_object *object;
	struct ring ring;
	struct event *readable;
	struct nvtx_ranges ranges;
};

int nvtx_watch__set_variable(struct error *err)
{
	return injected_library__set(VARIABLE, LIBRARY, "no NVTX ranges", err);
}

const char *nvtx_watch__path(void)
{
	return getenv(VARIABLE);
}

static int take(const void *record, size_t size, void *arg)
{
	nvtx_ranges__take_name(arg, record, size);
	return 0;
}

static void read_ring(struct nvtx_watch *watch)
{
	ring__read(&watch->ring, ring__written(&watch->ring), take, &watch->ranges);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	read_ring(arg);
}

int nvtx_watch__new(struct event_base *loop, const struct gpuprobe_bpf *monitor,
		    enum link_kind links, struct nvtx_watch **out, struct error *err)
{
	struct nvtx_watch *watch = calloc(1, sizeof(*watch));
	int ret;

	if (!watch)
		return error__set(err, -ENOMEM, "out of memory");
	ret = nvtx_object__new(monitor, links, nvtx_watch__path(), &watch->object, err);
	if (!ret) {
		ret = ring__map(&watch->ring, nvtx_object__ring_fd(watch->object));
		if (ret)
			error__set(err, ret, "cannot map the ring of NVTX names: %s",
				   strerror(-ret));
	}
	if (!ret) {
		watch->readable = event_new(loop, nvtx_object__ring_fd(watch->object),
					    EV_READ | EV_PERSIST, on_readable, watch);
		if (!watch->readable || event_add(watch->readable, NULL))
			ret = error__set(err, -ENOMEM, "out of memory");
	}
	if (ret)
		nvtx_watch__free(watch);
	else
		*out = watch;
	return ret;
}

void nvtx_watch__free(struct nvtx_watch *watch)
{
	if (!watch)
		return;
	if (watch->readable)
		event_free(watch->readable);
	ring__unmap(&watch->ring);
	nvtx_object__free(watch->object);
	nvtx_ranges__clear(&watch->ranges);
	free(watch);
}

static void add(const struct nvtx_key *key, const struct nvtx_record *record, void *arg)
{
	nvtx_ranges__add(arg, key, record);
}

static void add_path(const struct nvtx_path_key *key, const struct nvtx_path *path, void *arg)
{
	nvtx_ranges__add_path(arg, key, path);
}

const struct nvtx_ranges *nvtx_watch__ranges(struct nvtx_watch *watch,
					     const struct gpu_times *times)
{
	uint64_t lost[NVTX_LOSSES];

	nvtx_object__lost(watch->object, lost);
	watch->ranges.unread_ranges = lost[NVTX_LOST_RANGES];
	watch->ranges.unread_names = lost[NVTX_LOST_NAMES];
	nvtx_ranges__begin(&watch->ranges, times);
	nvtx_object__each(watch->object, add, &watch->ranges);
	if (times)
		nvtx_object__each_path(watch->object, add_path, &watch->ranges);
	read_ring(watch);
	nvtx_ranges__end(&watch->ranges);
	return &watch->ranges;
}
