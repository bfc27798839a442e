/* SPDX-License-Identifier: BSD-2-Clause */
/* The process_* families: gpuprobe's own use of resources. */
#ifndef OUTPUT_METRICS_SELF_METRICS_H
#define OUTPUT_METRICS_SELF_METRICS_H

#include "output/metrics/exposition.h"

/* Reads /proc/self and writes the families. A family that cannot be read is left out. */
void self_metrics__write(struct exposition_writer *w);

#endif
