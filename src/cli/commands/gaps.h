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

struct gaps;

/* Times are told in milliseconds since `begin_ns` (CLOCK_BOOTTIME). NULL without memory. */
struct gaps *gaps__new(uint64_t begin_ns, const struct log *log);
void gaps__free(struct gaps *gaps);

/* The process ran until now without probes in a library that it has. */
void gaps__add(struct gaps *gaps, pid_t pid);

/* A line of the process is shown. */
void gaps__line(struct gaps *gaps, const struct trace_process *process);

/* At the end: of those that had no line, all of whose calls may be missing. Not where some are filtered out. */
void gaps__tell_rest(const struct gaps *gaps);

#endif
