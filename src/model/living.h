/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of a model that have not ended, in the order in which pages list them. */
#ifndef MODEL_LIVING_H
#define MODEL_LIVING_H

#include <stddef.h>

#include "model/model.h"

/*
 * Sets *list (malloc) to those with most memory of GPUs first, by NVML or by what is live,
 * whichever is more, then in order of pids, and *count. Returns 0 or -ENOMEM. The model owns the
 * processes.
 */
int model__living(const struct model *model, const struct process ***list, size_t *count);

#endif
