/* SPDX-License-Identifier: BSD-2-Clause */
/* What the threads of the listed processes do, by looks at them as `gpuprobe dump` takes them. */
#ifndef PS_THREADS_H
#define PS_THREADS_H

#include "dump/dump.h"
#include "model/ps.h"

/*
 * Judges the rows whose mappings are known, in their order, until the limits of a dump are reached.
 * *look is the dump, NULL if there are no such rows; the caller frees it with dump__free. Returns 0
 * or -ENOMEM.
 */
int ps_threads__look(struct dumper *dumper, struct ps *ps, struct dump **look);

/*
 * Looks again, 0.2 s later, at the processes that seem to be stuck, if there are any, and sets the
 * state of those that are where they were in `look`. Returns 0 or -ENOMEM.
 */
int ps_threads__find_stuck(struct dumper *dumper, struct ps *ps, const struct dump *look);

#endif
