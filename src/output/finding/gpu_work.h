/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernels and copies with the most GPU time, for `diagnose --gpu-times`. */
#ifndef OUTPUT_FINDING_GPU_WORK_H
#define OUTPUT_FINDING_GPU_WORK_H

#include <stdio.h>

#include "output/stat/stat.h"

/*
 * Prints a line, wrapped:
 *
 *     GPU time of 2.0 s: 61.0 % gemm (train.py:41), 20.3 % relu (train.py:42), 18.7 % 5 others
 *
 * or why the process has no GPU times. Prints nothing if they are not asked for.
 */
void gpu_work_text__print(FILE *out, const struct stat_report *report,
			  const struct process *process);

#endif
