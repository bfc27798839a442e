/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics by names that others chose: hw.* of OpenTelemetry's semantic conventions for what NVML
 * says about GPUs, gpu.cuda.* of OpenTelemetry's eBPF instrumentation (OBI) for what processes do.
 */
#ifndef OUTPUT_OTLP_CONVENTIONS_H
#define OUTPUT_OTLP_CONVENTIONS_H

#include "model/model.h"
#include "output/otlp/points.h"

/* Adds the points of the sections that the model has, of these processes. */
void otlp_conventions__add(struct otlp_points *points, const struct model *model,
			   const struct process *const *processes, size_t count);

#endif
