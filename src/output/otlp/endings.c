// SPDX-License-Identifier: BSD-2-Clause
// Series of ended processes, see endings.h.
#include "output/otlp/endings.h"

#include <stdlib.h>

#include "base/array.h"

static void free_ending(struct otlp_ending *ending)
{
	otlp_resource__free_process(ending->process);
	otlp_data__free(&ending->data);
	free(ending);
}

void otlp_endings__free(struct otlp_endings *endings)
{
	while (endings->first)
		otlp_endings__remove(endings, endings->first);
}

void otlp_endings__remove(struct otlp_endings *endings, struct otlp_ending *ending)
{
	struct otlp_ending **at = &endings->first;

	while (*at != ending)
		at = &(*at)->next;
	*at = ending->next;
	endings->bytes -= ending->bytes;
	free_ending(ending);
}

/* Points of a metric follow each other. */
static int copy_point(struct otlp_data *to, const struct otlp_data *from, size_t at, size_t *metric)
{
	struct otlp_point point = from->points[at];

	if (*metric != point.metric &&
	    ARRAY_APPEND(to->metrics, to->metric_count, from->metrics[point.metric]))
		return -ENOMEM;
	*metric = point.metric;
	point.metric = to->metric_count - 1;
	point.attributes = to->attributes.length;
	point.next = point.next == OTLP_NO_POINT ? OTLP_NO_POINT : to->point_count + 1;
	protobuf_buffer__append(&to->attributes,
				from->attributes.data + from->points[at].attributes,
				point.attributes_length);
	return to->attributes.failed ? -ENOMEM : ARRAY_APPEND(to->points, to->point_count, point);
}

static int copy(struct otlp_ending *ending, const struct process *process,
		const struct otlp_data *data, size_t first)
{
	size_t metric = SIZE_MAX;
	int ret = 0;

	ending->process = otlp_resource__copy_process(process);
	if (!ending->process)
		return -ENOMEM;
	for (size_t at = first; at != OTLP_NO_POINT && !ret; at = data->points[at].next)
		ret = copy_point(&ending->data, data, at, &metric);
	return ret;
}

static size_t bytes_of(const struct otlp_ending *ending)
{
	return sizeof(*ending) + process__bytes(ending->process) +
	       ending->data.metric_count * sizeof(*ending->data.metrics) +
	       ending->data.point_count * sizeof(*ending->data.points) +
	       ending->data.attributes.length;
}

static struct otlp_ending *ending_of(const struct otlp_endings *endings,
				     const struct process *process)
{
	for (struct otlp_ending *ending = endings->first; ending; ending = ending->next)
		if (ending->process->serial == process->serial)
			return ending;
	return NULL;
}

void otlp_endings__keep(struct otlp_endings *endings, const struct process *process,
			const struct otlp_data *data, size_t first)
{
	struct otlp_ending *before = ending_of(endings, process), *ending;

	if (before)
		otlp_endings__remove(endings, before);
	ending = calloc(1, sizeof(*ending));
	if (!ending)
		return;
	if (!copy(ending, process, data, first)) {
		ending->bytes = bytes_of(ending);
		if (endings->bytes + ending->bytes <= OTLP_ENDINGS_MAX) {
			endings->bytes += ending->bytes;
			ending->next = endings->first;
			endings->first = ending;
			return;
		}
	}
	free_ending(ending);
}
