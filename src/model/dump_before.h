/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares two dumps of the same processes: which threads have not moved in between. */
#ifndef MODEL_DUMP_BEFORE_H
#define MODEL_DUMP_BEFORE_H

#include <stdint.h>

#include "model/dump.h"

enum dump_motion {
	/* the thread was not in the first dump, or one of the dumps has no stack of it */
	DUMP_MOTION_UNKNOWN = 0,
	DUMP_MOVED,
	DUMP_STANDS /* its call, its library function and all frames are the same in both */
};

/*
 * The same process in the first dump, by pid and start. NULL if it is not there, or if `before` is
 * NULL.
 */
const struct dump_process *dump_before__process(const struct dump *before,
						const struct dump_process *process);

/* `before` is the thread's process in the first dump, or NULL. */
enum dump_motion dump_before__motion(const struct dump_process *before,
				     const struct dump_thread *thread);

/* The time between the two dumps. */
uint64_t dump_before__ns(const struct dump *before, const struct dump *dump);

#endif
