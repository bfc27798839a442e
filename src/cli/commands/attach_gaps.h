/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gaps of a trace: a process that nobody held may call a library that came
 * with it before that has probes. It is told once for each process, with the
 * first of its lines: then it is one that is traced.
 */
#ifndef CLI_GAPS_H
#define CLI_GAPS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "trace/line.h"

struct attach_gaps;

/* Times are told in milliseconds since `begin_ns` (CLOCK_BOOTTIME). NULL without memory. */
struct attach_gaps *attach_gaps__new(uint64_t begin_ns, const struct log *log);
void attach_gaps__free(struct attach_gaps *gaps);

/* The process ran until now without probes in a library that it has. */
void attach_gaps__add(struct attach_gaps *gaps, pid_t pid);

/* A line of the process is shown. */
void attach_gaps__line(struct attach_gaps *gaps, const struct trace_process *process);

/* At the end: of those that had no line, all of whose calls may be missing. Not where some are filtered out. */
void attach_gaps__report_rest(const struct attach_gaps *gaps);

#endif
