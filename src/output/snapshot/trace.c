// SPDX-License-Identifier: BSD-2-Clause
// The trace of allocations and frees in a snapshot, see private.h.
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "output/snapshot/private.h"

/* The allocation of a segment. */
struct segment_begin {
	struct tensor_event event;
	const struct stack *stack;
};

/* A list that is being written. */
struct device_trace {
	struct snapshot *snapshot;
	const struct process *process;
	const struct snapshot_trace *trace;
	const struct segment_begin *segments; /* by time */
	size_t segment_count, next;	      /* the next one to write */
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

/* Whether a framework's allocator had taken the memory that was freed. */
static bool is_frameworks(const struct snapshot_trace *trace, const struct tensor_event *event)
{
	return snapshot__has_allocator(trace->find(trace->arg, event->stack));
}

/* Segments of the device that were allocated before `ns`. */
static int write_segments_until(struct device_trace *to, uint64_t ns)
{
	int ret = 0;

	for (; to->next < to->segment_count && !ret; to->next++) {
		const struct segment_begin *at = &to->segments[to->next];

		if (at->event.time_ns > ns)
			break;
		if (device_of(&at->event) == to->device)
			ret = write_entry(to, "segment_alloc", &at->event, at->stack);
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
	if (event->action == TENSOR_SEGMENT_FREED)
		return is_frameworks(to->trace, event) ?
			       write_entry(to, "segment_free", event, NULL) :
			       0;
	ret = write_entry(to, "free_requested", event, NULL);
	return ret ? ret : write_entry(to, "free_completed", event, NULL);
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
	const struct segment_begin *x = a, *y = b;

	return (x->event.time_ns > y->event.time_ns) - (x->event.time_ns < y->event.time_ns);
}

static struct segment_begin begin_of(const struct allocation *of)
{
	return (struct segment_begin){.event = {.time_ns = of->start_ns,
						.address = of->address,
						.bytes = of->size,
						.device = of->device},
				      .stack = of->stack};
}

static struct segment_begin begin_of_freed(const struct snapshot_trace *trace,
					   const struct tensor_event *freed)
{
	struct segment_begin begin = {.event = *freed,
				      .stack = trace->find(trace->arg, freed->stack)};

	begin.event.time_ns = freed->since_ns;
	return begin;
}

/*
 * The framework's segments, those that are still there and those whose end is in the trace, the
 * oldest first; NULL without memory.
 */
static struct segment_begin *order_segments(const struct snapshot *snapshot,
					    const struct device_trace *to, size_t *count)
{
	const struct tensor_trace *trace = to->trace->trace;
	size_t events = trace ? trace->count : 0, freed = 0;
	struct segment_begin *list;

	for (size_t i = 0; i < events; i++)
		freed += tensor_trace__at(trace, i)->action == TENSOR_SEGMENT_FREED;
	list = calloc(snapshot->segment_count + freed + 1, sizeof(*list));
	*count = 0;
	for (size_t i = 0; list && i < snapshot->segment_count; i++)
		if (snapshot->segments[i].of && snapshot__is_frameworks(&snapshot->segments[i]))
			list[(*count)++] = begin_of(snapshot->segments[i].of);
	for (size_t i = 0; list && i < events; i++) {
		const struct tensor_event *event = tensor_trace__at(trace, i);

		if (event->action == TENSOR_SEGMENT_FREED && is_of(to->process, event) &&
		    is_frameworks(to->trace, event))
			list[(*count)++] = begin_of_freed(to->trace, event);
	}
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
	struct segment_begin *segments = order_segments(snapshot, &to, &to.segment_count);
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
