// SPDX-License-Identifier: BSD-2-Clause
// Work of GPUs in the forms of a trace, see gpu_line.h.
#include "output/trace/gpu_line.h"

#include <string.h>

#include "output/gpu_copy_text.h"

#define TEXT(word) \
	.symbol = (word), .length = sizeof(word) - 1, .is_identifier = true, \
	.returns = TRACE_RETURNS_NOTHING, .layer = LAYER_COUNT

const struct trace_function_text *trace_gpu_line__function(const struct trace_gpu_work *work)
{
	static const struct trace_function_text texts[] = {
		[0] = {TEXT("gpu_work")},
		[GPU_WORK_KERNEL] = {TEXT("gpu_kernel"), .is_launch = true},
		[GPU_WORK_COPY] = {TEXT("gpu_copy"), .is_blocking_copy = true},
		[GPU_WORK_SET] = {TEXT("gpu_set"), .is_blocking_copy = true},
		[GPU_WORK_GRAPH] = {TEXT("gpu_graph")},
		[GPU_WORK_GRAPH_KERNEL] = {TEXT("gpu_graph_kernel"), .is_launch = true},
	};

	return &texts[work->kind < sizeof(texts) / sizeof(*texts) ? work->kind : 0];
}

static struct trace_field *add(struct trace_line *line, const char *name, enum trace_form form,
			       enum trace_role role)
{
	struct trace_field *field = &line->fields[line->field_count++];

	*field = (struct trace_field){.name = name, .form = (uint8_t)form, .role = (uint8_t)role};
	return field;
}

void trace_gpu_line__fill(const struct trace_line *line, struct trace_line *filled)
{
	const struct trace_gpu_work *work = line->gpu;
	struct trace_field *kind;

	memcpy(filled, line, offsetof(struct trace_line, fields));
	filled->field_count = 0;
	add(filled, "device", FORM_UNSIGNED, TRACE_NO_ROLE)->number = work->device;
	add(filled, "stream", FORM_UNSIGNED, TRACE_STREAM)->number = work->stream;
	if (work->kind == GPU_WORK_COPY) {
		kind = add(filled, "kind", FORM_WORD, TRACE_KIND);
		kind->number = work->copy;
		kind->text = gpu_copy_text__kind(work->copy);
	}
	if (trace_gpu_work__has_bytes(work))
		add(filled, "size", FORM_UNSIGNED, TRACE_SIZE)->number = work->bytes;
	if (work->has_call)
		add(filled, "delay_ns", FORM_UNSIGNED, TRACE_NO_ROLE)->number =
			trace_gpu_work__delay(work, line->start_ns);
}
