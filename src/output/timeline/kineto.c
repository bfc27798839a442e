// SPDX-License-Identifier: BSD-2-Clause
// The words of PyTorch's profiler, see kineto.h.
#include "output/timeline/kineto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "trace/function.h"

const char *kineto__category(const struct timeline_call *call)
{
	return trace_function__layer(call->line->function) == LAYER_DRIVER ? "cuda_driver" :
									     "cuda_runtime";
}

const char *kineto__name(const struct timeline_call *call)
{
	return call->row ? call->row->base : trace_function__symbol(call->line->function);
}

const char *kineto__key(const char *name)
{
	static const char *const words[][2] = {
		{"stream", "stream_handle"},
		{"device", "device_ordinal"},
		{"size", "bytes"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(name, words[i][0]))
			return words[i][1];
	return name;
}

bool kineto_steps__take(struct kineto_steps *steps, const struct timeline_span *span,
			char name[KINETO_NAME])
{
	if (!steps->tid)
		steps->tid = span->track->tid;
	if (steps->tid != span->track->tid)
		return false;
	if (span->regular)
		snprintf(name, KINETO_NAME, "ProfilerStep#%" PRIu64, ++steps->count);
	else
		snprintf(name, KINETO_NAME, "irregular step");
	return true;
}
