/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a process was held: from the request to stop it until userspace resumed it. Reported
 * durations of calls exclude this time. Userspace writes an entry before the process resumes; BPF
 * programs and userspace subtract it.
 */
#ifndef GPUPROBE_HOLDS_H
#define GPUPROBE_HOLDS_H

#include <linux/types.h>

#include "gpuprobe/positive.h"

#define HOLDS_KEPT 8	     /* the latest holds; a power of two */
#define STOPPED_ANCESTORS 16 /* bits of record_library.stopped_above */

struct hold {
	__u64 from_ns, to_ns; /* CLOCK_BOOTTIME */
};

struct holds {
	__u64 count;
	struct hold kept[HOLDS_KEPT];
};

/* How long the process was held between two times. */
static inline __u64 holds__within(const struct holds *holds, __u64 from_ns, __u64 to_ns)
{
	__u64 sum = 0;

	for (int i = 0; i < HOLDS_KEPT; i++) {
		__u64 from = holds->kept[i].from_ns > from_ns ? holds->kept[i].from_ns : from_ns;
		__u64 to = holds->kept[i].to_ns < to_ns ? holds->kept[i].to_ns : to_ns;

		sum += positive_difference(to, from);
	}
	return sum;
}

#endif
