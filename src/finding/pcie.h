/* SPDX-License-Identifier: BSD-2-Clause */
/* The link between host and GPU, as NVML tells of it. */
#ifndef FINDING_PCIE_H
#define FINDING_PCIE_H

#include "model/model.h"

/* What copies of pinned memory reach of a link's nominal rate: low, so as not to promise more than is saved. */
#define LINK_YIELD 0.8

/* Of the process's GPUs the slowest link's nominal rate, bytes per second; 0: not known. */
double pcie__bandwidth(const struct model *model, const struct process *process);

#endif
