/* SPDX-License-Identifier: BSD-2-Clause */
/* How the forms of a trace show work of GPUs (LINE_GPU), which has no function or arguments. */
#ifndef OUTPUT_TRACE_GPU_LINE_H
#define OUTPUT_TRACE_GPU_LINE_H

#include "output/trace/cache.h"
#include "trace/gpu_work.h"
#include "trace/line.h"

/* What stands for the function: "gpu_kernel", "gpu_copy", "gpu_set", "gpu_graph". */
const struct trace_function_text *trace_gpu_line__function(const struct trace_gpu_work *work);

/* Copies a LINE_GPU and gives it fields: device and stream; kind, size and delay if it has them. */
void trace_gpu_line__fill(const struct trace_line *line, struct trace_line *filled);

#endif
