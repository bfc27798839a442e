/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are to be watched and cannot be: a line each, once, of the first few, and of the rest how many they
 * were. A whole machine may be full of them.
 */
#ifndef CLI_REFUSALS_H
#define CLI_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "probe/attach_failure.h"

#define REFUSALS_KNOWN 4096 /* processes that are counted; of more it is told that there are */

struct unwatchable_process {
	pid_t pid;
	uint64_t start_ns; /* CLOCK_BOOTTIME; 0: not known */
};

struct unwatchable {
	size_t named; /* the first, so many at most, have a line */
	size_t count; /* of `known` */
	struct unwatchable_process known[REFUSALS_KNOWN];
	bool more; /* there were others */
};

/* Something keeps the process from being watched; an empty hindrance is none. */
void unwatchable__report(struct unwatchable *refusals, pid_t pid, const struct attach_failure *attach_failure, const struct log *log);

/* At the end: those that were not named. */
void unwatchable__report_rest(const struct unwatchable *refusals, const struct log *log);

#endif
