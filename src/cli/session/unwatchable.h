/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Target processes that cannot be watched. Each of the first few gets a line, once; the rest are
 * only counted, because a whole machine may be full of them.
 */
#ifndef CLI_UNWATCHABLE_H
#define CLI_UNWATCHABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "probe/attach_failure.h"

/* processes that are counted; beyond that gpuprobe only reports that there are more */
#define UNWATCHABLE_KNOWN 4096

struct unwatchable_process {
	pid_t pid;
	uint64_t start_ns; /* CLOCK_BOOTTIME; 0: unknown */
};

struct unwatchable {
	size_t named; /* the first ones, up to this number, get a line */
	size_t count; /* entries of `known` */
	struct unwatchable_process known[UNWATCHABLE_KNOWN];
	bool more; /* there were more */
};

/* Reports why the process cannot be watched. Ignores an empty attach_failure. */
void unwatchable__report(struct unwatchable *unwatchable, pid_t pid,
			 const struct attach_failure *attach_failure, const struct log *log);

/* Reports, at the end, the number of those that got no line. */
void unwatchable__report_rest(const struct unwatchable *unwatchable, const struct log *log);

#endif
