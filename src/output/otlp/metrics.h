/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metrics as OTLP requests (ExportMetricsServiceRequest, protobuf): those of the page for
 * Prometheus by process, and those with names of conventions.
 *
 * A series of the page has its name there, with a dot behind the first word, and its labels:
 * gpuprobe_copy_bytes_total{kind="H2D"} is gpuprobe.copy_bytes with the attribute kind. Receivers
 * that make Prometheus's names of OTLP's give the same name again. The labels pid and comm are
 * attributes of the process's resource.
 */
#ifndef OUTPUT_OTLP_METRICS_H
#define OUTPUT_OTLP_METRICS_H

#include "finding/finding.h"
#include "model/model.h"
#include "output/metrics/metrics.h"
#include "output/otlp/points.h"

struct otlp_metrics;

/* `options` must be by process. NULL without memory. */
struct otlp_metrics *otlp_metrics__new(const struct metrics_options *options);
void otlp_metrics__free(struct otlp_metrics *metrics);

/*
 * Writes the model's metrics. `findings`: as for metrics__render. Returns 0, -ENOMEM if any are
 * missing, or what `take` returned.
 */
int otlp_metrics__write(struct otlp_metrics *metrics, const struct otlp_sender *sender,
			const struct model *model, const struct finding_list *findings,
			otlp_take_fn take, void *arg);

#endif
