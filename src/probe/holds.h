/* SPDX-License-Identifier: BSD-2-Clause */
/* When gpuprobe held processes, as the BPF programs and those who read their events are told of it (gpuprobe/holds.h). */
#ifndef PROBE_HOLDS_H
#define PROBE_HOLDS_H

#include <stdint.h>
#include <sys/types.h>

#include "probe/programs.h"

/*
 * To be called right before the process goes on that was stopped at `from_ns`. A hold that begins before the end of the
 * one before is none: two threads were stopped, and the first let-go was for both.
 */
void holds__note(const struct probe_programs *programs, pid_t pid, uint64_t from_ns, uint64_t to_ns);

/* How long the process was held between the two times, the latest of its holds considered. */
uint64_t holds__of_process(const struct probe_programs *programs, pid_t pid, uint64_t from_ns, uint64_t to_ns);

#endif
