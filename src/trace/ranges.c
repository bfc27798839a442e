// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of NVTX ranges. The texts are of the watched program, and so are the functions that BPF
 * tells of: nothing of an event is trusted but its thread and its times.
 */
#include <errno.h>
#include <string.h>

#include "trace/private.h"

#define RANGE_SIZE (sizeof(struct trace_event) + sizeof(struct trace_range))

static bool is_whole(const struct trace_stream *stream, const struct trace_event *event,
		     size_t size)
{
	return size >= RANGE_SIZE && event->thread < TRACE_THREADS && event->depth < TRACE_DEPTH &&
	       trace_functions__range(stream->functions, event->row);
}

int trace_stream__take_range(struct trace_stream *stream, const struct trace_event *event,
			     size_t size)
{
	struct pending_event *pending;
	uint64_t time;

	if (!is_whole(stream, event, size))
		return -EINVAL;
	time = event->start_ns;
	if (time < stream->began)
		return 0;
	pending = reorder__room(stream->order, size);
	if (!pending)
		return -ENOMEM;
	memcpy(&pending->event, event, size);
	pending->kind = LINE_RANGE;
	pending->rank = event->depth;
	pending->reason = 0;
	pending->thread = trace_threads__take(stream->threads, event->thread);
	pending->held_ns = 0;
	pending->name = NULL;
	reorder__insert(stream->order, pending, time > stream->handed ? time : stream->handed);
	return 0;
}

static void add_text(struct trace_line *line, const char *name, const char *text, size_t length,
		     bool cut)
{
	line->fields[line->field_count++] = (struct trace_field){
		.name = name,
		.form = FORM_TEXT,
		.cut = cut,
		.length = (uint32_t)length,
		.text = text,
	};
}

/* "DOMAIN: MESSAGE", cut where both are too long. */
static void add_name(struct trace_line *line, const struct trace_range *range)
{
	size_t length = strnlen(range->text, sizeof(range->text) - 1), from = 0;
	bool cut = length == sizeof(range->text) - 1;

	if (range->domain_length && range->domain_length <= length)
		from = range->domain_length + 2 < length ? range->domain_length + 2 : length;
	add_text(line, "name", range->text + from, length - from, cut);
	if (from)
		add_text(line, "domain", range->text, range->domain_length, false);
	length = strnlen(range->payload, sizeof(range->payload) - 1);
	if (length)
		add_text(line, "payload", range->payload, length,
			 length == sizeof(range->payload) - 1);
}

void trace_stream__set_range(const struct trace_stream *stream, const struct pending_event *pending,
			     struct trace_line *line)
{
	const struct trace_event *event = &pending->event;
	const struct trace_range *range = (const void *)event->payload;
	unsigned int function = event->row;

	memset(line, 0, offsetof(struct trace_line, fields));
	line->kind = LINE_RANGE;
	line->function = trace_functions__range(stream->functions, function);
	line->process = &pending->thread->process->shown;
	line->tid = pending->thread->tid;
	line->thread_name = *pending->thread->comm ? pending->thread->comm : NULL;
	line->depth = event->depth;
	line->device = -1;
	line->start_ns = event->start_ns;
	if (event->duration_ns <= event->start_ns)
		line->duration_ns = event->duration_ns;
	add_name(line, range);
	if (function == NVTX_START || function == NVTX_END)
		line->fields[line->field_count++] = (struct trace_field){
			.name = "id", .form = FORM_UNSIGNED, .number = range->id};
}
