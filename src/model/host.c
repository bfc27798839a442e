// SPDX-License-Identifier: BSD-2-Clause
// Finds a process's threads in what they did with their time, see host.h.
#include "model/host.h"

#define START_PRECISION_NS 20000000 /* /proc gives start times in clock ticks */

bool host__is_same_start(uint64_t start_ns, uint64_t other_ns)
{
	return start_ns < other_ns + START_PRECISION_NS && other_ns < start_ns + START_PRECISION_NS;
}

const struct host_process *host_side__find(const struct host_side *side, int32_t pid,
					   uint64_t start_ns)
{
	for (size_t i = 0; side && i < side->process_count; i++) {
		const struct host_process *process = &side->processes[i];

		if (process->pid == pid && host__is_same_start(process->start_ns, start_ns))
			return process;
	}
	return NULL;
}
