/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of processes that a recorded reading knows (gpuprobe ps -i): those that had made a CUDA
 * call and had not ended. What their threads did, and their libraries, are unknown.
 */
#ifndef PS_RECORDED_H
#define PS_RECORDED_H

#include "model/ps.h"

/* Sorted. `model` must outlive the list. NULL without memory. */
struct ps *ps_recorded__new(const struct model *model);
void ps_recorded__free(struct ps *ps); /* NULL ok */

#endif
