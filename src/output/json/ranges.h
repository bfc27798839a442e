/* SPDX-License-Identifier: BSD-2-Clause */
/* NVTX ranges in the JSON of `gpuprobe stat --nvtx`. */
#ifndef OUTPUT_JSON_RANGES_H
#define OUTPUT_JSON_RANGES_H

#include "base/json.h"
#include "model/model.h"
#include "model/nvtx_ranges.h"

/* The members "ranges" and "ranges_gpu" of a process. */
void json_ranges__write(struct json *j, const struct nvtx_ranges *ranges, const struct process *p);

/* The member "ranges_lost" of the report. */
void json_ranges__write_losses(struct json *j, const struct nvtx_ranges *ranges);

#endif
