/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory pools, from the BPF map `pools` into the model. */
#ifndef COLLECT_POOLS_H
#define COLLECT_POOLS_H

#include "collect/reading.h"

/* Reads all pools into their processes' lists. Returns 0 or a negative errno. */
int pools__read(struct reading *reading);

#endif
