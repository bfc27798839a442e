// SPDX-License-Identifier: BSD-2-Clause
// What threads did with their time: looked up and named, see host.h.
#include "model/host.h"

#define START_PRECISION_NS 20000000 /* /proc tells a start in clock ticks */

const struct host_process *host_side__find(const struct host_side *side, int32_t pid, uint64_t start_ns)
{
	for (size_t i = 0; side && i < side->process_count; i++) {
		const struct host_process *process = &side->processes[i];

		if (process->pid == pid && process->start_ns < start_ns + START_PRECISION_NS &&
		    start_ns < process->start_ns + START_PRECISION_NS)
			return process;
	}
	return NULL;
}

uint64_t host_thread__kind_ns(const struct host_thread *thread, enum host_kind kind)
{
	uint64_t sum = 0;

	for (int class = 0; class < HOST_CLASSES; class ++)
		sum += thread->ns[kind][class];
	return sum;
}

const char *host_kind__word(enum host_kind kind)
{
	static const char *const words[HOST_KINDS] = {
		[HOST_CPU] = "cpu",
		[HOST_LOCK] = "lock",
		[HOST_GIL] = "gil",
		[HOST_QUEUE] = "queue",
		[HOST_DISK] = "disk",
		[HOST_FAULT] = "page_fault",
		[HOST_SLEEP] = "sleep",
		[HOST_READY] = "preempted",
		[HOST_THROTTLED] = "throttled",
		[HOST_STOPPED] = "stopped",
		[HOST_OTHER] = "other",
	};

	return words[kind];
}

const char *host_class__word(enum host_class class)
{
	static const char *const words[HOST_CLASSES] = {
		[HOST_OUTSIDE] = "outside",
		[HOST_LAUNCHES] = "launch",
		[HOST_MEMORY] = "memory",
		[HOST_MODULE] = "module",
		[HOST_CAPTURE] = "capture",
		[HOST_COPIES] = "copy",
		[HOST_WAITS] = "wait",
		[HOST_CALLS] = "other",
	};

	return words[class];
}
