// SPDX-License-Identifier: BSD-2-Clause
// Collects data points and writes them by resource, see points.h.
#include "output/otlp/points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "output/otlp/attributes.h"
#include "output/otlp/endings.h"
#include "output/otlp/data.h"

struct resource {
	int32_t pid; /* 0: gpuprobe */
	const struct process *process;
	size_t first, last; /* OTLP_NO_POINT: none */
	UT_hash_handle hh;
};

struct otlp_points {
	struct resource *resources; /* in order of first sight, gpuprobe first */
	struct otlp_data data;
	struct otlp_endings endings;
	struct protobuf_buffer request, one; /* while requests are written */
	uint64_t items;			     /* in the request */
	struct otlp_point now;		     /* the point being made */
	int32_t pid;			     /* its process */
	bool failed;			     /* there was no memory */
};

struct otlp_points *otlp_points__new(void)
{
	return calloc(1, sizeof(struct otlp_points));
}

void otlp_points__free(struct otlp_points *points)
{
	if (!points)
		return;
	TABLE_CLEAR(points->resources, free);
	otlp_data__free(&points->data);
	otlp_endings__free(&points->endings);
	protobuf_buffer__free(&points->request);
	protobuf_buffer__free(&points->one);
	free(points);
}

/* --- collecting --- */

static int add_resource(struct otlp_points *points, int32_t pid, const struct process *process)
{
	struct resource *resource = TABLE_TAKE(points->resources, pid, &pid);

	if (!resource)
		return -ENOMEM;
	resource->process = process;
	resource->first = resource->last = OTLP_NO_POINT;
	return 0;
}

int otlp_points__begin(struct otlp_points *points, const struct process *const *processes,
		       size_t count)
{
	int ret;

	TABLE_CLEAR(points->resources, free);
	points->data.metric_count = points->data.point_count = 0;
	points->failed = false;
	protobuf_buffer__clear(&points->data.attributes);
	ret = add_resource(points, 0, NULL);
	for (size_t i = 0; i < count && !ret; i++)
		ret = add_resource(points, processes[i]->pid, processes[i]);
	return ret;
}

void otlp_points__metric(struct otlp_points *points, const struct otlp_metric *metric)
{
	if (ARRAY_APPEND(points->data.metrics, points->data.metric_count, *metric))
		points->failed = true;
}

void otlp_points__point(struct otlp_points *points, int32_t pid)
{
	points->now = (struct otlp_point){
		.metric = points->data.metric_count - 1,
		.attributes = points->data.attributes.length,
		.next = OTLP_NO_POINT,
	};
	points->pid = pid;
}

bool otlp_points__of(struct otlp_points *points, int32_t pid)
{
	if (!TABLE_FIND(points->resources, pid, &pid))
		return false;
	points->pid = pid;
	return true;
}

static uint32_t attribute_field(const struct otlp_points *points)
{
	static const struct otlp_metric none;

	if (!points->data.metric_count)
		return otlp_data__attribute_field(&none);
	return otlp_data__attribute_field(&points->data.metrics[points->now.metric]);
}

void otlp_points__text(struct otlp_points *points, const char *key, const char *value)
{
	otlp_attribute__text(&points->data.attributes, attribute_field(points), key, value);
}

void otlp_points__int(struct otlp_points *points, const char *key, int64_t value)
{
	otlp_attribute__int(&points->data.attributes, attribute_field(points), key, value);
}

static void finish(struct otlp_points *points)
{
	struct resource *resource = TABLE_FIND(points->resources, pid, &points->pid);
	size_t at = points->data.point_count;

	points->now.attributes_length = points->data.attributes.length - points->now.attributes;
	if (!resource || points->failed ||
	    ARRAY_APPEND(points->data.points, points->data.point_count, points->now)) {
		points->failed = true;
		return;
	}
	if (resource->last == OTLP_NO_POINT)
		resource->first = at;
	else
		points->data.points[resource->last].next = at;
	resource->last = at;
}

void otlp_points__number(struct otlp_points *points, uint64_t value)
{
	points->now.number = value;
	finish(points);
}

void otlp_points__real(struct otlp_points *points, double value)
{
	points->now.kind = OTLP_POINT_REAL;
	points->now.real = value;
	finish(points);
}

void otlp_points__histogram(struct otlp_points *points, uint64_t count, double sum)
{
	points->now.kind = OTLP_POINT_HISTOGRAM;
	points->now.number = count;
	points->now.real = sum;
	finish(points);
}

/* --- writing --- */

/* Gives the request away if what was written last no longer fits, and adds that. */
static int add_one(struct otlp_points *points, uint64_t items, otlp_take_fn take, void *arg)
{
	struct protobuf_buffer *request = &points->request;
	int ret = 0;

	if (points->items && request->length + points->one.length > OTLP_REQUEST_MAX) {
		ret = take(arg, request->data, request->length, points->items);
		protobuf_buffer__clear(request);
		points->items = 0;
	}
	protobuf_buffer__append(request, points->one.data, points->one.length);
	points->items += items;
	return points->one.failed || request->failed ? -ENOMEM : ret;
}

static bool is_here(const struct otlp_points *points, const struct process *process)
{
	const struct resource *resource = TABLE_FIND(points->resources, pid, &process->pid);

	return resource && resource->process && resource->process->serial == process->serial;
}

/* Marks the end of the series of processes that are no longer here. */
static int write_endings(struct otlp_points *points, struct otlp_moment *moment, otlp_take_fn take,
			 void *arg)
{
	struct otlp_ending *ending, *next;
	int ret = 0;

	moment->ended = true;
	for (ending = points->endings.first; ending && !ret; ending = next) {
		next = ending->next;
		if (is_here(points, ending->process))
			continue;
		moment->process = ending->process;
		protobuf_buffer__clear(&points->one);
		ret = add_one(points, otlp_data__write(&points->one, &ending->data, 0, moment),
			      take, arg);
		otlp_endings__remove(&points->endings, ending);
	}
	moment->ended = false;
	return ret;
}

static int write_resource(struct otlp_points *points, const struct resource *resource,
			  struct otlp_moment *moment, otlp_take_fn take, void *arg)
{
	moment->process = resource->process;
	protobuf_buffer__clear(&points->one);
	if (resource->process && resource->process->ended)
		otlp_endings__keep(&points->endings, resource->process, &points->data,
				   resource->first);
	return add_one(points,
		       otlp_data__write(&points->one, &points->data, resource->first, moment), take,
		       arg);
}

int otlp_points__write(struct otlp_points *points, const struct otlp_sender *sender,
		       uint64_t now_ns, otlp_take_fn take, void *arg)
{
	struct otlp_moment moment = {.sender = sender, .now_ns = now_ns};
	int ret = points->failed || points->data.attributes.failed ? -ENOMEM : 0;

	protobuf_buffer__clear(&points->request);
	points->items = 0;
	if (!ret)
		ret = write_endings(points, &moment, take, arg);
	for (const struct resource *resource = points->resources; resource && !ret;
	     resource = resource->hh.next)
		if (resource->first != OTLP_NO_POINT)
			ret = write_resource(points, resource, &moment, take, arg);
	if (!ret && points->items)
		ret = take(arg, points->request.data, points->request.length, points->items);
	return ret;
}
