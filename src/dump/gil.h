/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Python's global interpreter lock (GIL), found from a thread that waits for it: CPython 3.8 to
 * 3.14 keep the holder's thread state close to the condition variable that such a thread sleeps on.
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
	uint64_t holder; /* the PyThreadState that holds it, or held it last */
};

/*
 * Whether the futex at `address` is one that threads sleep on while they wait for the GIL. `states`
 * are the thread states of the process's threads, 0 for a thread without one. The holder must be
 * one of them; otherwise the function returns false.
 */
bool gil__find(struct memory_reader *memory, pid_t pid, uint64_t address, const uint64_t *states,
	       size_t count, struct gil *gil);

#endif
