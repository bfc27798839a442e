// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns records into pending events. Sizes are checked here; the payload is the watched program's,
 * and is checked where it is decoded.
 */
#include <errno.h>
#include <string.h>

#include "trace/private.h"

const struct trace_function *trace_stream__check(struct trace_stream *stream,
						 const struct trace_event *event, size_t size)
{
	const struct trace_function *function;

	if (size < sizeof(*event) || size > ORDER_EVENT_MAX || event->words > TRACE_WORDS ||
	    size < sizeof(*event) + event->words * sizeof(uint64_t) ||
	    event->thread >= TRACE_THREADS || event->depth >= TRACE_DEPTH)
		return NULL;
	function = trace_functions__at(stream->functions, event->row);
	return function && !(trace_function__plan(function)->flags & TRACE_PLAN_HIDDEN) ? function :
											  NULL;
}

/* The driver's kernel handle, which follows the words; 0 if it was not seen. */
static uint64_t driver_handle(const struct trace_event *event, size_t size)
{
	return size < sizeof(*event) + (event->words + 1ul) * sizeof(uint64_t) ?
		       0 :
		       event->payload[event->words];
}

static struct launch_name *name_of(struct trace_stream *stream, const struct trace_event *event,
				   size_t size, const struct trace_function *function,
				   const struct trace_thread *thread)
{
	uint64_t address = trace_function__launched(function, event, size);
	struct launched_kernel kernel = {
		.process = &thread->process->shown,
		.handle = driver_handle(event, size),
		.address = trace_function__layer(function) == LAYER_RUNTIME ? address : 0,
		.generation = event->generation,
	};

	if (!kernel.handle)
		kernel.handle = address;
	return kernel.handle ? launch_names__take(stream->names, &kernel, stream->now) : NULL;
}

uint64_t trace_stream__held(const struct trace_stream *stream, const struct trace_event *event)
{
	const struct trace_stream_options *options = &stream->options;
	struct trace_thread *thread;
	uint64_t ns;

	if (!options->held || event->thread >= TRACE_THREADS)
		return 0;
	thread = trace_threads__take(stream->threads, event->thread);
	ns = options->held(thread->process->shown.pid, event->start_ns,
			   event->start_ns + event->duration_ns, options->arg);
	trace_threads__put(stream->threads, thread);
	return ns;
}

int trace_stream__add(struct trace_stream *stream, const struct trace_event *event, size_t size,
		      const struct trace_function *function, enum trace_line_kind kind,
		      uint64_t time)
{
	const struct trace_plan *plan = trace_function__plan(function);
	struct pending_event *pending;

	if (event->start_ns < stream->began)
		return 0;
	pending = reorder__room(stream->order, size);
	if (!pending)
		return -ENOMEM;
	memcpy(&pending->event, event, size);
	pending->kind = (uint8_t)kind;
	/*
	 * A call comes before the calls nested in it. The two events of a call arrive in order
	 * anyway.
	 */
	pending->rank = stream->options.entry_return ? 0 : event->depth;
	pending->reason = 0;
	pending->thread = trace_threads__take(stream->threads, event->thread);
	pending->held_ns = trace_stream__held(stream, event);
	pending->name = NULL;
	if (plan->flags & TRACE_PLAN_KERNEL)
		pending->name = name_of(stream, event, size, function, pending->thread);
	/* Do this while the process exists: it may have ended when the line is printed. */
	if (stream->addresses)
		address_text__see(stream->addresses, &pending->thread->process->shown, stream->now);
	reorder__insert(stream->order, pending, time);
	return 0;
}

/*
 * BPF has filtered the other short calls, but it does not know for how long gpuprobe held the
 * process.
 */
static bool is_short_without_hold(const struct trace_stream *stream,
				  const struct trace_event *event)
{
	uint64_t held_ns = trace_stream__held(stream, event);

	return held_ns && event->duration_ns - held_ns < stream->source->config->min_duration_ns;
}

static int take_event(struct trace_stream *stream, const struct trace_event *event, size_t size)
{
	const struct trace_function *function = trace_stream__check(stream, event, size);
	uint64_t end, time, *shown;
	enum trace_line_kind kind;

	if (!function) {
		stream->counts.malformed++;
		return 0;
	}
	time = event->start_ns;
	end = event->start_ns + event->duration_ns;
	shown = &stream->shown[event->thread][event->depth];
	if (event->type == TRACE_ENTRY)
		return trace_stream__add(stream, event, size, function, LINE_ENTRY, time);
	if (event->type == TRACE_UNFOLLOWED)
		return trace_stream__add(stream, event, size, function, LINE_UNFOLLOWED,
					 time > stream->handed ? time : stream->handed);
	if (*shown == TOLD)
		return 0;
	kind = event->type == TRACE_UNFINISHED ? LINE_UNFINISHED :
	       stream->options.entry_return    ? LINE_RETURN :
						 LINE_CALL;
	if (stream->options.entry_return) {
		time = end;
	} else if (*shown == event->start_ns || time < stream->handed) {
		/*
		 * The call, or one around it, was shown in progress; later lines have been printed
		 * already.
		 */
		time = end > stream->handed ? end : stream->handed;
		if (kind == LINE_CALL)
			kind = LINE_RESUMED;
	}
	if (*shown == event->start_ns)
		*shown = 0;
	else if (is_short_without_hold(stream, event))
		return 0;
	return trace_stream__add(stream, event, size, function, kind, time);
}

static int take_change(struct trace_stream *stream, const struct record_library *record)
{
	if (stream->addresses)
		address_text__changed(stream->addresses, record->pid, stream->now);
	if (stream->stacks)
		stacks__look_at(stream->stacks, record->pid, record->header.type == RECORD_EXEC);
	if (stream->options.process_changed)
		stream->options.process_changed(record, stream->options.arg);
	return 0;
}

static int take_thread(struct trace_stream *stream, const struct trace_thread_record *record)
{
	int ret = trace_threads__announce(stream->threads, record);

	if (!ret && stream->stacks)
		stacks__announce(stream->stacks, record->pid);
	return ret;
}

/* Returns -EINVAL if it is not such a record. */
static int take(struct trace_stream *stream, const void *data, size_t size)
{
	const struct record *record = data;

	if (size < sizeof(*record))
		return -EINVAL;
	switch (record->type) {
	case TRACE_CALL:
	case TRACE_ENTRY:
	case TRACE_UNFINISHED:
	case TRACE_UNFOLLOWED: return take_event(stream, data, size);
	case TRACE_RANGE: return trace_stream__take_range(stream, data, size);
	case TRACE_THREAD:
		return size < sizeof(struct trace_thread_record) ? -EINVAL :
								   take_thread(stream, data);
	case RECORD_KERNEL_NAME: return launch_names__add(stream->names, data, size);
	case RECORD_LIBRARY:
	case RECORD_LOADED:
	case RECORD_EXEC:
	case RECORD_FORK:
		return size < sizeof(struct record_library) ? -EINVAL : take_change(stream, data);
	default: return -EINVAL;
	}
}

int trace_stream__take_record(const void *data, size_t size, void *arg)
{
	struct trace_stream *stream = arg;
	int ret = take(stream, data, size);

	if (ret == -EINVAL)
		stream->counts.malformed++;
	else if (ret)
		return ret;
	stream->records_left--;
	stream->bytes_left -= size < stream->bytes_left ? size : stream->bytes_left;
	return stream->records_left && stream->bytes_left ? 0 : INTAKE_FULL;
}

int trace_stream__take_stack(const void *data, size_t size, void *arg)
{
	struct trace_stream *stream = arg;

	/* Malformed records are counted there. If memory runs out, the stack stays unknown. */
	stacks__take(stream->stacks, data, size);
	return 0;
}

static int add_loss(struct trace_stream *stream, enum trace_loss reason, uint64_t count,
		    uint64_t since)
{
	struct pending_event *pending =
		reorder__room(stream->order, sizeof(pending->event) + sizeof(count));
	uint64_t time = since > stream->handed ? since : stream->handed;

	if (!pending)
		return -ENOMEM;
	pending->kind = LINE_LOST;
	pending->rank = 0;
	pending->reason = (uint16_t)reason;
	pending->thread = NULL;
	pending->name = NULL;
	pending->event.start_ns = since;
	memcpy(pending->event.payload, &count, sizeof(count));
	reorder__insert(stream->order, pending, time);
	return 0;
}

/* Losses for which the call itself is still shown. */
static bool loses_no_call(enum trace_loss reason)
{
	return reason == TRACE_LOST_RETURN || reason == TRACE_LOST_STACK ||
	       reason == TRACE_LOST_STACK_MEMORY || reason == TRACE_LOST_RANGE;
}

int trace_stream__take_losses(struct trace_stream *stream)
{
	if (stream->source->calls->count_lost_stacks)
		stream->source->calls->count_lost_stacks(stream->source);
	for (unsigned int i = 0; i < TRACE_LOSSES; i++) {
		struct trace_lost *lost = &stream->source->lost[i];
		uint64_t count, since;
		int ret;

		if (!__atomic_load_n(&lost->count, __ATOMIC_RELAXED))
			continue;
		count = __atomic_exchange_n(&lost->count, 0, __ATOMIC_ACQ_REL);
		since = __atomic_exchange_n(&lost->since_ns, 0, __ATOMIC_ACQ_REL);
		if (!since || since > stream->now)
			since = stream->now; /* the record was being written */
		stream->counts.losses[i] += count;
		if (!loses_no_call(i))
			stream->counts.lost += count;
		ret = add_loss(stream, i, count, since);
		if (ret)
			return ret;
	}
	return 0;
}
