/* SPDX-License-Identifier: BSD-2-Clause */
/* A second opinion on a communicator from NCCL's RAS service, below the finding about it. */
#ifndef OUTPUT_NCCL_RAS_H
#define OUTPUT_NCCL_RAS_H

#include <stdio.h>

#include "base/json.h"
#include "nccl/ras_facts.h"

/* Lines with the indentation of findings. */
void nccl_ras_text__print(FILE *out, const struct ras_opinion *opinion);
/* An object. */
void nccl_ras_json__print(struct json *json, const struct ras_opinion *opinion);

#endif
