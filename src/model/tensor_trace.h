/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latest events of tensors, of all processes, in order. Plain data, filled by
 * collect/tensor_events.h, which owns it.
 */
#ifndef MODEL_TENSOR_TRACE_H
#define MODEL_TENSOR_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/tensor.h"

struct tensor_trace {
	struct tensor_event *events; /* `room` of them, from `first` on, around the end */
	size_t room, first, count;
	uint64_t overwritten; /* older events that had to make room */
};

/* The i-th of `count`, the oldest first. */
static inline const struct tensor_event *tensor_trace__at(const struct tensor_trace *trace,
							  size_t i)
{
	return &trace->events[(trace->first + i) % trace->room];
}

#endif
