/* SPDX-License-Identifier: BSD-2-Clause */
/* What sampled launches looked like, read into the processes' kernels. */
#ifndef COLLECT_SHAPES_H
#define COLLECT_SHAPES_H

#include <stdbool.h>

struct collector;

/* With `reap` also deletes what ended processes have. Returns 0 or a negative errno. */
int shapes__read(struct collector *collector, bool reap);

#endif
