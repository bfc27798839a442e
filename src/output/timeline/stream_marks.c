// SPDX-License-Identifier: BSD-2-Clause
// Marks and arrows of streams, see stream_marks.h.
#include "output/timeline/stream_marks.h"

#include <stdio.h>

#include "api/api.h"
#include "output/trace/line.h"

static const char *work_name(const struct timeline_call *call)
{
	const struct trace_line *line = call->line;
	const char *label = trace_line__label(line);

	switch ((enum operation)call->row->desc.operation) {
	case OP_LAUNCH: return label ? label : "unknown kernel";
	case OP_GRAPH_LAUNCH: return "graph";
	case OP_HOST_FUNCTION: return "host function";
	case OP_SET: return "memset";
	default: break;
	}
	for (size_t i = 0; i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];

		if (field->role == TRACE_KIND && field->form == FORM_WORD)
			return field->text;
	}
	return "copy";
}

/* The name says which part of the order it is. */
static void draw_arrow(struct timeline_form *form, const char *name,
		       const struct timeline_order *order, const struct timeline_point *from,
		       const struct timeline_point *to)
{
	const struct timeline_arrow arrow = {name, name, order->number, *from, *to};

	if (form->ops->arrow)
		form->ops->arrow(form, &arrow);
}

static void mark_work(struct timeline_form *form, const struct timeline_call *call,
		      const struct queue_result *result)
{
	struct timeline_mark work = {
		.track = result->stream,
		.time_ns = call->begin_ns,
		.category = "queued",
		.name = work_name(call),
		.arrow = call->queues ? call->number : 0,
		.orders = result->orders,
		.order_count = result->order_count,
		.note = result->is_captured ? "captured into a graph, not run now" : NULL,
	};

	for (size_t i = 0; i < call->line->field_count; i++) {
		const struct trace_field *field = &call->line->fields[i];

		if (field->role == TRACE_SIZE && field->form == FORM_UNSIGNED) {
			work.key = "bytes";
			work.value = field->number;
		}
	}
	form->ops->mark(form, &work);
	for (size_t i = 0; i < result->order_count; i++)
		draw_arrow(form, "runs after", &result->orders[i], &result->orders[i].waits,
			   &(struct timeline_point){call->thread->pid, call->thread->tid,
						    call->begin_ns});
}

/* A stream waits for an event of another one. */
static void mark_order(struct timeline_form *form, const struct queue_result *result)
{
	const struct timeline_order *order = &result->order;
	char name[TRACK_NAME_SIZE + 16];
	struct timeline_mark moment = {
		.track = result->other,
		.time_ns = order->recorded.begin_ns,
		.category = "order",
		.name = "event recorded",
		.arrow = order->number,
	};

	form->ops->mark(form, &moment);
	snprintf(name, sizeof(name), "waits for %s", result->other->name);
	moment.track = result->stream;
	moment.time_ns = order->waits.begin_ns;
	moment.name = name;
	form->ops->mark(form, &moment);
	draw_arrow(form, "waited for by", order, &order->recorded, &order->waits);
}

void stream_marks__draw(struct timeline_form *form, const struct timeline_call *call,
			const struct queue_result *result)
{
	if (result->other)
		mark_order(form, result);
	else if (result->stream)
		mark_work(form, call, result);
}
