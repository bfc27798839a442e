/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gaps of a trace: a process that is not held may call a new library before the library has probes.
 * Each such process is reported once, with the first of its lines, which shows that it is traced.
 */
#ifndef CLI_ATTACH_GAPS_H
#define CLI_ATTACH_GAPS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "trace/line.h"

struct attach_gaps;

/* Reports times in milliseconds since `begin_ns` (CLOCK_BOOTTIME). NULL without memory. */
struct attach_gaps *attach_gaps__new(uint64_t begin_ns, const struct log *log);
void attach_gaps__free(struct attach_gaps *gaps);

/* The process has run until now without probes in one of its libraries. */
void attach_gaps__add(struct attach_gaps *gaps, pid_t pid);

/* A line of the process is shown. */
void attach_gaps__line(struct attach_gaps *gaps, const struct trace_process *process);

/*
 * Reports, at the end, the processes without a line, all of whose calls may be missing. Not to be
 * called if some processes are filtered out.
 */
void attach_gaps__report_rest(const struct attach_gaps *gaps);

#endif
