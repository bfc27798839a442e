/* SPDX-License-Identifier: BSD-2-Clause */
/* The process_* families: what gpuprobe itself uses of the machine. */
#ifndef OUTPUT_METRICS_SELF_METRICS_H
#define OUTPUT_METRICS_SELF_METRICS_H

#include "output/metrics/exposition.h"

/* Reads /proc/self and writes the families; one that cannot be read is left out. */
void self_metrics__write(struct exposition_writer *w);

#endif
