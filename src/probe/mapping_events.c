// SPDX-License-Identifier: BSD-2-Clause
// Reads the kernel's records of mappings; see mapping_events.h.
#include "probe/mapping_events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "target/proc_maps.h"

#define PAGES 16 /* per CPU: about 400 mappings, those of 100 programs that start */

struct mapping_events {
	struct mapping_events_hooks hooks;
	struct perf_buffer *buffer;
	int map_fd; /* libbpf requires one; nothing writes to it */
};

/*
 * PERF_RECORD_MMAP2 as perf_event_open(2) defines it; sample_id_all appends the time in the last
 * eight bytes.
 */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

/* PERF_RECORD_LOST. */
struct lost_record {
	struct perf_event_header header;
	uint64_t id, count;
};

static bool is_of_interest(const struct mapping_events *events, const char *path)
{
	const char *base = mapping__base_name(path);

	return mapping__is_named_like_cuda(path) ||
	       (events->hooks.allocators && base && api__has_allocator(base)) ||
	       (events->hooks.handles && base && api__is_library(base));
}

static void take_mapping(const struct mapping_events *events, const struct mmap2_record *record)
{
	size_t room = record->header.size - sizeof(*record) - sizeof(uint64_t);
	struct mapping_event event = {.pid = (pid_t)record->pid,
				      .device = makedev(record->major, record->minor),
				      .inode = record->inode};

	/* 0 or less: the process is in another pid namespace. */
	if (event.pid <= 0 || !memchr(record->path, '\0', room) ||
	    !is_of_interest(events, record->path))
		return;
	memcpy(&event.time_ns, (const char *)record + record->header.size - sizeof(event.time_ns),
	       sizeof(event.time_ns));
	events->hooks.mapped(&event, events->hooks.arg);
}

static enum bpf_perf_event_ret on_event(void *arg, int cpu, struct perf_event_header *header)
{
	const struct mapping_events *events = arg;

	(void)cpu;
	if (header->type == PERF_RECORD_MMAP2 &&
	    header->size > sizeof(struct mmap2_record) + sizeof(uint64_t))
		take_mapping(events, (const void *)header);
	else if (header->type == PERF_RECORD_LOST && header->size >= sizeof(struct lost_record))
		events->hooks.lost(((const struct lost_record *)(const void *)header)->count,
				   events->hooks.arg);
	return LIBBPF_PERF_EVENT_CONT;
}

/* A dummy counter, opened only for the records that come with it. */
static struct perf_event_attr executable_mappings(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.exclude_kernel = 1,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
}

int mapping_events__new(const struct mapping_events_hooks *hooks, struct mapping_events **out,
			struct error *err)
{
	struct mapping_events *events = calloc(1, sizeof(*events));
	struct perf_event_attr attr = executable_mappings();
	int ret = 0;

	if (!events)
		return error__set(err, -ENOMEM, "out of memory");
	events->hooks = *hooks;
	events->map_fd =
		bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "mapping_events", sizeof(int),
			       sizeof(int), (uint32_t)libbpf_num_possible_cpus(), NULL);
	if (events->map_fd < 0)
		ret = events->map_fd;
	if (!ret)
		events->buffer =
			perf_buffer__new_raw(events->map_fd, PAGES, &attr, on_event, events, NULL);
	if (!ret && !events->buffer)
		ret = -errno;
	if (ret) {
		mapping_events__free(events);
		return error__set(err, ret, "cannot record mappings: %s", strerror(-ret));
	}
	*out = events;
	return 0;
}

void mapping_events__free(struct mapping_events *events)
{
	if (!events)
		return;
	perf_buffer__free(events->buffer);
	if (events->map_fd >= 0)
		close(events->map_fd);
	free(events);
}

void mapping_events__read(struct mapping_events *events)
{
	perf_buffer__consume(events->buffer);
}
