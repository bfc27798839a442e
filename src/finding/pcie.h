/* SPDX-License-Identifier: BSD-2-Clause */
/* The link between host and GPU, as NVML reports it. */
#ifndef FINDING_PCIE_H
#define FINDING_PCIE_H

#include "model/model.h"

/*
 * Share of a link's nominal rate that copies of pinned memory reach: low, so that the estimated
 * saving is not too high.
 */
#define LINK_YIELD 0.8

/*
 * The nominal rate of the slowest link among the process's GPUs, in bytes per second; 0: unknown.
 */
double pcie__bandwidth(const struct model *model, const struct process *process);

#endif
