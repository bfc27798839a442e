// SPDX-License-Identifier: BSD-2-Clause
// Xids from the driver's tracepoint, see tracepoint.h.
#include "xid/tracepoint.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "xid/format.h"

#define EVENT_PATH "events/nvidia/nvidia_dev_xid"
#define FORMAT_SIZE 8192
#define RING_PAGES 2 /* for each CPU */

struct xid_tracepoint {
	struct xids *xids;
	struct xid_format format;
	struct perf_buffer *buffer;
	int map;
};

/* Reads a file of the tracepoint. Returns 0, or -ENOENT if it cannot be read. */
static int read_file(const char *name, char *text, size_t size)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	FILE *file = NULL;
	size_t length;

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots) && !file; i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/" EVENT_PATH "/%s", roots[i], name);
		file = fopen(path, "re");
	}
	if (!file)
		return -ENOENT;
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
	return 0;
}

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct raw_record {
	struct perf_event_header header;
	uint32_t size;
	char data[];
};

static enum bpf_perf_event_ret take(void *ctx, int cpu, struct perf_event_header *header)
{
	struct xid_tracepoint *tracepoint = ctx;
	const struct raw_record *raw = (const struct raw_record *)header;
	struct xid_report report;

	(void)cpu;
	if (header->type == PERF_RECORD_LOST) {
		tracepoint->xids->lost += ((const struct lost_record *)header)->lost;
	} else if (header->type == PERF_RECORD_SAMPLE) {
		if (header->size >= sizeof(*raw) && raw->size <= header->size - sizeof(*raw) &&
		    xid_format__read(&tracepoint->format, raw->data, raw->size, &report))
			xids__add(tracepoint->xids, &report, clock__boot_ns());
		else
			tracepoint->xids->lost++;
	}
	return LIBBPF_PERF_EVENT_CONT;
}

/* libbpf keeps the rings of perf events by the map that BPF programs would send to. */
static int open_rings(struct xid_tracepoint *tracepoint, uint64_t event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.wakeup_events = 1,
	};
	LIBBPF_OPTS(perf_buffer_raw_opts, options);

	tracepoint->map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "xids", sizeof(int),
					 sizeof(int), (__u32)libbpf_num_possible_cpus(), NULL);
	if (tracepoint->map < 0)
		return tracepoint->map;
	tracepoint->buffer = perf_buffer__new_raw(tracepoint->map, RING_PAGES, &attr, take,
						  tracepoint, &options);
	return tracepoint->buffer ? 0 : -errno;
}

int xid_tracepoint__new(struct xids *xids, struct xid_tracepoint **out, struct error *err)
{
	char text[FORMAT_SIZE], id[24];
	struct xid_tracepoint *tracepoint;
	int ret;

	if (read_file("format", text, sizeof(text)) || read_file("id", id, sizeof(id)))
		return -ENOENT;
	tracepoint = calloc(1, sizeof(*tracepoint));
	if (!tracepoint)
		return error__set(err, -ENOMEM, "out of memory");
	tracepoint->xids = xids;
	tracepoint->map = -1;
	ret = xid_format__parse(text, &tracepoint->format, err);
	if (!ret) {
		ret = open_rings(tracepoint, strtoull(id, NULL, 10));
		if (ret)
			error__set(err, ret,
				   "cannot watch the tracepoint nvidia:nvidia_dev_xid: %s",
				   strerror(-ret));
	}
	if (ret)
		xid_tracepoint__free(tracepoint);
	else
		*out = tracepoint;
	return ret;
}

void xid_tracepoint__free(struct xid_tracepoint *tracepoint)
{
	if (!tracepoint)
		return;
	perf_buffer__free(tracepoint->buffer);
	if (tracepoint->map >= 0)
		close(tracepoint->map);
	free(tracepoint);
}

int xid_tracepoint__fd(const struct xid_tracepoint *tracepoint)
{
	return perf_buffer__epoll_fd(tracepoint->buffer);
}

void xid_tracepoint__read(struct xid_tracepoint *tracepoint)
{
	perf_buffer__consume(tracepoint->buffer);
}
