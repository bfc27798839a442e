// SPDX-License-Identifier: BSD-2-Clause
// The trace of allocations and frees in a snapshot, see private.h.
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "output/snapshot/private.h"

/* A list that is being written. */
struct device_trace {
	struct snapshot *snapshot;
	const struct process *process;
	const struct snapshot_trace *trace;
	const struct stretch *const *segments; /* by time */
	size_t segment_count, next;	       /* the next one to write */
	unsigned int device;
};

static uint64_t time_us(const struct snapshot_trace *trace, uint64_t ns)
{
	uint64_t now_us =
		(uint64_t)trace->wall.tv_sec * 1000000 + (uint64_t)trace->wall.tv_nsec / 1000;
	uint64_t ago_us = ns < trace->now_ns ? (trace->now_ns - ns) / 1000 : 0;

	return ago_us < now_us ? now_us - ago_us : 0;
}

static int write_entry(struct device_trace *to, const char *action,
		       const struct tensor_event *event, const struct stack *stack)
{
	struct pickle *pickle = &to->snapshot->pickle;
	int ret;

	pickle__dict_begin(pickle);
	pickle__key_string(pickle, "action", action);
	pickle__key_u64(pickle, "addr", event->address);
	pickle__key_u64(pickle, "size", event->bytes);
	pickle__key_u64(pickle, "stream", event->stream);
	pickle__key_u64(pickle, "time_us", time_us(to->trace, event->time_ns));
	ret = snapshot__write_frames(to->snapshot, stack);
	pickle__dict_end(pickle);
	return ret;
}

/* Segments of the device that were allocated before `ns`. */
static int write_segments_until(struct device_trace *to, uint64_t ns)
{
	int ret = 0;

	for (; to->next < to->segment_count && !ret; to->next++) {
		const struct allocation *of = to->segments[to->next]->of;
		const struct tensor_event event = {
			.time_ns = of->start_ns, .address = of->address, .bytes = of->size};

		if (of->start_ns > ns)
			break;
		if (of->device == to->device)
			ret = write_entry(to, "segment_alloc", &event, of->stack);
	}
	return ret;
}

/* The stack of an event is that of the allocation: a free has none here. */
static int write_event(struct device_trace *to, const struct tensor_event *event)
{
	int ret = write_segments_until(to, event->time_ns);

	if (ret)
		return ret;
	if (event->action == TENSOR_ALLOCATES)
		return write_entry(to, "alloc", event,
				   to->trace->find(to->trace->arg, event->stack));
	ret = write_entry(to, "free_requested", event, NULL);
	return ret ? ret : write_entry(to, "free_completed", event, NULL);
}

static unsigned int device_of(const struct tensor_event *event)
{
	return event->device < 0 || event->device >= DEVICE_UNKNOWN ? 0 :
								      (unsigned int)event->device;
}

static bool is_of(const struct process *process, const struct tensor_event *event)
{
	return event->pid == process->pid && event->time_ns >= process->start_ns &&
	       process__is_alive_after(process, event->time_ns);
}

static int write_device(struct device_trace *to)
{
	const struct tensor_trace *trace = to->trace->trace;
	int ret = 0;

	pickle__list_begin(&to->snapshot->pickle);
	for (size_t i = 0; i < trace->count && !ret; i++) {
		const struct tensor_event *event = tensor_trace__at(trace, i);

		if (device_of(event) == to->device && event->time_ns <= to->trace->now_ns &&
		    is_of(to->process, event))
			ret = write_event(to, event);
	}
	if (!ret)
		ret = write_segments_until(to, UINT64_MAX);
	pickle__list_end(&to->snapshot->pickle);
	return ret;
}

static int by_time(const void *a, const void *b)
{
	const struct stretch *const *x = a, *const *y = b;
	uint64_t left = (*x)->of->start_ns, right = (*y)->of->start_ns;

	return (left > right) - (left < right);
}

/* The framework's segments, the oldest first; NULL without memory. */
static const struct stretch **order_segments(const struct snapshot *snapshot, size_t *count)
{
	const struct stretch **list = calloc(snapshot->segment_count + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; list && i < snapshot->segment_count; i++)
		if (snapshot->segments[i].of && snapshot__is_frameworks(&snapshot->segments[i]))
			list[(*count)++] = &snapshot->segments[i];
	if (list)
		qsort(list, *count, sizeof(*list), by_time);
	return list;
}

/* Lists without events: the visualiser expects one for each device. */
static void write_no_events(struct snapshot *snapshot)
{
	for (unsigned int i = 0; i < snapshot->devices; i++) {
		pickle__list_begin(&snapshot->pickle);
		pickle__list_end(&snapshot->pickle);
	}
}

static int write_devices(struct snapshot *snapshot, struct device_trace *to)
{
	const struct tensor_trace *trace = to->trace->trace;
	int ret = 0;

	for (size_t i = 0; i < trace->count; i++) {
		unsigned int device = device_of(tensor_trace__at(trace, i));

		if (device >= snapshot->devices && is_of(to->process, tensor_trace__at(trace, i)))
			snapshot->devices = device + 1;
	}
	for (to->device = 0; to->device < snapshot->devices && !ret; to->device++) {
		to->next = 0;
		ret = write_device(to);
	}
	snapshot->events_overwritten = trace->overwritten;
	snapshot->events_lost = to->trace->lost;
	return ret;
}

int snapshot__write_traces(struct snapshot *snapshot, const struct process *process,
			   const struct snapshot_trace *trace)
{
	struct device_trace to = {.snapshot = snapshot, .process = process, .trace = trace};
	const struct stretch **segments = order_segments(snapshot, &to.segment_count);
	int ret = segments ? 0 : -ENOMEM;

	to.segments = segments;
	pickle__key(&snapshot->pickle, "device_traces");
	pickle__list_begin(&snapshot->pickle);
	if (!trace->trace)
		write_no_events(snapshot);
	else if (!ret)
		ret = write_devices(snapshot, &to);
	pickle__list_end(&snapshot->pickle);
	free(segments);
	return ret;
}
