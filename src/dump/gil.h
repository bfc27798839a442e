/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of Python's interpreter (GIL), found by a thread that waits for it: CPython 3.8 to 3.14 keep the holder's
 * thread state close to the condition variable that such a thread sleeps on.
 */
#ifndef DUMP_GIL_H
#define DUMP_GIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/memory_reader.h"

struct gil {
	bool locked;
	uint64_t holder; /* the PyThreadState that has it, or had it last */
};

/*
 * Whether the futex at `address` is the one that threads sleep on until they get the GIL. `states` are the thread states
 * of the process's threads, 0 for a thread that has none: the holder has to be one of them, or nothing is believed.
 */
bool gil__find(struct memory_reader *memory, pid_t pid, uint64_t address, const uint64_t *states, size_t count,
	       struct gil *gil);

#endif
