// SPDX-License-Identifier: BSD-2-Clause
// The true order of streams, see true_device.h.
#include "true_device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void true_device__clear(struct true_device *device)
{
	free(device->work);
	*device = (struct true_device){};
}

/*
 * What the stream's next work comes after: the stream's own work, and that of the legacy default
 * stream or of the blocking streams.
 */
uint64_t true_device__done(const struct true_device *device, size_t stream)
{
	enum stream_kind kind = device->streams[stream].kind;
	uint64_t done = device->streams[stream].done_ns;

	for (size_t i = 0; i < device->stream_count && kind != STREAM_APART; i++)
		if (device->streams[i].kind ==
		    (kind == STREAM_DEFAULT ? STREAM_MEETS : STREAM_DEFAULT))
			done = later(done, device->streams[i].done_ns);
	return done;
}

uint64_t true_device__add(struct true_device *device, size_t stream, uint64_t now_ns,
			  uint64_t lasts_ns)
{
	uint64_t begin = later(now_ns, true_device__done(device, stream)), end = begin + lasts_ns;

	if (!(device->work_count & (device->work_count + 1))) {
		device->work =
			realloc(device->work, 2 * (device->work_count + 1) * sizeof(*device->work));
		assert(device->work);
	}
	device->work[device->work_count++] = (struct device_work){begin, end};
	device->streams[stream].done_ns = end;
	device->all_ns = later(device->all_ns, end);
	return end;
}

void true_device__record(struct true_device *device, size_t event, size_t stream)
{
	device->streams[stream].done_ns = true_device__done(device, stream);
	device->events[event] = device->streams[stream].done_ns;
}

void true_device__follow(struct true_device *device, size_t stream, size_t event)
{
	device->streams[stream].done_ns =
		later(device->streams[stream].done_ns, device->events[event]);
}

void true_device__replace(struct true_device *device, size_t stream)
{
	device->streams[stream].done_ns = 0;
}
