// SPDX-License-Identifier: BSD-2-Clause
// Turns events that are due into lines.
#include <errno.h>
#include <string.h>

#include "trace/device.h"
#include "trace/private.h"

static uint64_t result_of(const struct trace_event *event, enum trace_returns returns)
{
	switch (returns) {
	case TRACE_RETURNS_VALUE: return (uint64_t)event->upper << 32 | (uint32_t)event->result;
	case TRACE_RETURNS_NOTHING: return 0;
	default: return (uint64_t)(int64_t)event->result;
	}
}

static bool has_returned(enum trace_line_kind kind)
{
	return kind == LINE_CALL || kind == LINE_RETURN || kind == LINE_RESUMED;
}

static void set_location(struct trace_stream *stream, const struct trace_event *event, size_t size)
{
	struct trace_line *line = &stream->line;
	uint64_t address;

	address_text__see(stream->addresses, line->process, stream->now);
	address = trace_function__layer(line->function) == LAYER_RUNTIME ?
			  trace_function__launched(line->function, event, size) :
			  0;
	if (address)
		line->kernel_location =
			address_text__find(stream->addresses, line->process, address, stream->now);
}

static void set_stack(struct trace_stream *stream, const struct trace_event *event, size_t size)
{
	stacks__catch_up(stream->stacks);
	stream->line.stack = stacks__find(
		stream->stacks, trace_function__stack(stream->line.function, event, size));
}

static void set_loss(struct trace_line *line, const struct pending_event *pending)
{
	memset(line, 0, offsetof(struct trace_line, fields));
	line->kind = LINE_LOST;
	line->device = -1;
	line->start_ns = pending->event.start_ns;
	memcpy(&line->lost, pending->event.payload, sizeof(line->lost));
	line->reason = pending->reason;
}

/*
 * The time of a line: that of the return in lines about the return. A call that was shown in
 * progress has its last line at its end.
 */
static uint64_t time_of(const struct pending_event *pending, uint64_t time)
{
	const struct trace_event *event = &pending->event;

	switch (pending->kind) {
	case LINE_RETURN:
	case LINE_RESUMED: return event->start_ns + event->duration_ns;
	case LINE_UNFINISHED: return time;
	default: return event->start_ns;
	}
}

static void set_call(struct trace_stream *stream, const struct pending_event *pending,
		     uint64_t time)
{
	const struct trace_event *event = &pending->event;
	const struct trace_function *function = trace_functions__at(stream->functions, event->row);
	const struct trace_plan *plan = trace_function__plan(function);
	struct trace_line *line = &stream->line;
	uint64_t handle;

	line->kind = pending->kind;
	line->function = function;
	line->process = &pending->thread->process->shown;
	line->tid = pending->thread->tid;
	line->namespace_tid = pending->thread->namespace_tid;
	line->thread_name = *pending->thread->comm ? pending->thread->comm : NULL;
	line->depth = event->depth;
	line->start_ns = time_of(pending, time);
	line->duration_ns = event->duration_ns - pending->held_ns;
	line->held_ns = pending->held_ns;
	line->result = result_of(event, plan->returns);
	line->failed =
		has_returned(line->kind) && trace_function__is_failure(function, event->result);
	if (has_returned(line->kind) && plan->returns == TRACE_RETURNS_ERROR && !event->result)
		trace_device__follow(pending->thread, plan, stream->options.kernel_args,
				     stream->stacks, event, pending->size);
	line->device = trace_device__of(pending->thread);
	line->kernel = pending->name ? launch_name__shown(pending->name) : NULL;
	line->kernel_label = pending->name ? launch_name__label(pending->name) : NULL;
	line->kernel_full = pending->name ? launch_name__mangled(pending->name) : NULL;
	line->kernel_location = NULL;
	line->stack = NULL;
	line->words = (const uint64_t *)event->payload;
	line->word_count = event->words;
	line->lost = 0;
	trace_function__decode(function, event, pending->size, stream->options.kernel_args,
			       stream->stacks, line, &handle);
	if (stream->addresses)
		set_location(stream, event, pending->size);
	if (stream->stacks)
		set_stack(stream, event, pending->size);
}

/* If a call has two lines, only the first one is counted. */
static void count(struct trace_stream *stream, enum trace_line_kind kind)
{
	bool is_entry = kind == LINE_ENTRY || kind == LINE_UNFOLLOWED;
	bool is_last = has_returned(kind) || kind == LINE_UNFINISHED || kind == LINE_UNFOLLOWED;

	if (stream->options.entry_return ? is_entry : is_last) {
		stream->counts.calls++;
		stream->counts.unknown_stacks += stream->stacks && !stream->line.stack;
	}
	if (kind == LINE_UNFINISHED)
		stream->counts.unfinished++;
	if (kind == LINE_UNFOLLOWED)
		stream->counts.unfollowed++;
}

void trace_stream__let_go(struct trace_stream *stream, struct pending_event *pending)
{
	if (pending->thread)
		trace_threads__put(stream->threads, pending->thread);
	launch_names__put(stream->names, pending->name);
}

int trace_stream__hand_out(struct trace_stream *stream, size_t lines)
{
	struct pending_event *pending;
	uint64_t time;

	while (!stream->ended && (pending = reorder__first(stream->order, &time)) &&
	       time < stream->due) {
		if (!lines--)
			return 1;
		if (pending->kind == LINE_LOST)
			set_loss(&stream->line, pending);
		else if (pending->kind == LINE_RANGE)
			trace_stream__set_range(stream, pending, &stream->line);
		else
			set_call(stream, pending, time);
		stream->handed = time;
		count(stream, pending->kind);
		if (stream->options.line(&stream->line, stream->options.arg))
			stream->ended = -ECANCELED;
		trace_stream__let_go(stream, pending);
		reorder__pop(stream->order);
	}
	return stream->ended;
}
