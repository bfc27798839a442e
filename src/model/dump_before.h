/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares two dumps of the same processes: which threads have not moved in between. */
#ifndef MODEL_DUMP_BEFORE_H
#define MODEL_DUMP_BEFORE_H

#include <stdint.h>

#include "model/dump.h"

enum dump_motion {
	DUMP_MOTION_UNKNOWN = 0, /* the thread was not in the first dump, or one of the two has no stack of it */
	DUMP_MOVED,
	DUMP_STANDS /* its call, its library function and all frames are the same in both */
};

/* The same process in the first dump: of the same pid and start. NULL where it is not there, or `before` is NULL. */
const struct dump_process *dump_before__process(const struct dump *before, const struct dump_process *process);

/* `before` is its process in the first dump, or NULL. */
enum dump_motion dump_before__motion(const struct dump_process *before, const struct dump_thread *thread);

/* The time between both dumps. */
uint64_t dump_before__ns(const struct dump *before, const struct dump *dump);

#endif
