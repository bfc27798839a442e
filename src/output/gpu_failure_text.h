/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a process has no GPU times, and what to do. */
#ifndef OUTPUT_GPU_FAILURE_TEXT_H
#define OUTPUT_GPU_FAILURE_TEXT_H

#include <stdio.h>

#include "model/gpu_times.h"

/*
 * Prints "no GPU times: ...", escaped and without a newline; `times` may be NULL. Returns false,
 * and prints nothing, if the process has some.
 */
bool gpu_failure_text__print(FILE *out, const struct gpu_process_times *times);

#endif
