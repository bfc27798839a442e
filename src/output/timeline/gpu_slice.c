// SPDX-License-Identifier: BSD-2-Clause
// Names and arguments of GPU work in timelines, see gpu_slice.h.
#include "output/timeline/gpu_slice.h"

#include <string.h>

#include "output/gpu_copy_text.h"
#include "output/trace/gpu_line.h"
#include "output/trace/line.h"
#include "output/trace/text.h"

static const char *name_of(const struct timeline_gpu_slice *slice, const char *copy,
			   const char *set)
{
	const struct trace_line *line = slice->line;
	const char *label = trace_line__label(line);

	switch (line->gpu->kind) {
	case GPU_WORK_COPY: return copy;
	case GPU_WORK_SET: return set;
	case GPU_WORK_GRAPH: return "graph";
	default: return label ? label : "unknown kernel";
	}
}

const char *timeline_gpu_slice__name(const struct timeline_gpu_slice *slice)
{
	return name_of(slice, gpu_copy_text__kind(slice->line->gpu->copy), "memset");
}

const char *timeline_gpu_slice__category(const struct timeline_gpu_slice *slice)
{
	return trace_gpu_line__function(slice->line->gpu)->symbol;
}

static size_t text_room(const char *text)
{
	return text ? strlen(text) * TRACE_TEXT_EXPANSION : 0;
}

size_t timeline_gpu_slice__room(const struct timeline_gpu_slice *slice)
{
	const struct trace_line *line = slice->line;

	return 2 * text_room(trace_line__kernel(line)) + text_room(line->kernel_label);
}

void timeline_gpu_slice__write(const struct timeline_gpu_slice *slice,
			       const struct argument_writer *writer, void *to)
{
	const struct trace_line *line = slice->line;
	const struct trace_gpu_work *work = line->gpu;
	const char *kernel = trace_line__kernel(line);

	writer->number(to, "device", work->device);
	writer->number(to, "stream", work->stream);
	if (trace_gpu_work__has_bytes(work))
		writer->number(to, "bytes", work->bytes);
	if (kernel)
		writer->text(to, "kernel", kernel);
	if (work->has_call)
		writer->number(to, "delay_ns", trace_gpu_work__delay(work, line->start_ns));
	if (work->has_call)
		writer->number(to, "called_by", (uint64_t)line->tid);
}

uint64_t timeline_gpu_slice__bandwidth(const struct timeline_gpu_slice *slice)
{
	const struct trace_gpu_work *work = slice->line->gpu;
	uint64_t ns = slice->end_ns - slice->begin_ns;

	if (!ns || !trace_gpu_work__has_bytes(work) || work->bytes > UINT64_MAX / 1000)
		return 0;
	return work->bytes * 1000 / ns;
}

const char *kineto_gpu__name(const struct timeline_gpu_slice *slice)
{
	static const char *const copies[GPU_COPY_KINDS] = {
		[GPU_COPY_UNKNOWN] = "Memcpy Unknown", [GPU_COPY_H2D] = "Memcpy HtoD",
		[GPU_COPY_D2H] = "Memcpy DtoH",	       [GPU_COPY_H2A] = "Memcpy HtoA",
		[GPU_COPY_A2H] = "Memcpy AtoH",	       [GPU_COPY_A2A] = "Memcpy AtoA",
		[GPU_COPY_A2D] = "Memcpy AtoD",	       [GPU_COPY_D2A] = "Memcpy DtoA",
		[GPU_COPY_D2D] = "Memcpy DtoD",	       [GPU_COPY_H2H] = "Memcpy HtoH",
		[GPU_COPY_P2P] = "Memcpy PtoP",
	};
	unsigned int copy = slice->line->gpu->copy;

	return name_of(slice, copies[copy < GPU_COPY_KINDS ? copy : GPU_COPY_UNKNOWN], "Memset");
}

/* A graph as a whole counts as a kernel: readers take the GPU for busy meanwhile. */
const char *kineto_gpu__category(const struct timeline_gpu_slice *slice)
{
	switch (slice->line->gpu->kind) {
	case GPU_WORK_COPY: return "gpu_memcpy";
	case GPU_WORK_SET: return "gpu_memset";
	default: return "kernel";
	}
}
