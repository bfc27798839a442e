/* SPDX-License-Identifier: BSD-2-Clause */
/* GPU times (model/gpu_times.h) in JSON. Each function writes into the object that is open. */
#ifndef OUTPUT_JSON_GPU_TIMES_H
#define OUTPUT_JSON_GPU_TIMES_H

#include "base/json.h"
#include "model/gpu_times.h"
#include "model/model.h"

/* Writes the key "gpu_times" of a process; null if nothing came from it. */
void json_gpu_times__write(struct json *j, const struct gpu_times *times, const struct process *p);

/* Writes the key "gpu_times_lost" of the report. */
void json_gpu_times__write_losses(struct json *j, const struct gpu_times *times);

#endif
