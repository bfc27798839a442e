/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records when gpuprobe held processes, for the BPF programs and for the readers of their events
 * (gpuprobe/holds.h).
 */
#ifndef PROBE_HOLDS_H
#define PROBE_HOLDS_H

#include <stdint.h>
#include <sys/types.h>

#include "probe/programs.h"

/*
 * Call right before the process that was stopped at `from_ns` is resumed. A hold that begins before
 * the end of the previous one does not count: two threads were stopped, and the first resume was
 * for both.
 */
void holds__note(const struct probe_programs *programs, pid_t pid, uint64_t from_ns,
		 uint64_t to_ns);

/* How long the process was held between the two times, considering its latest holds. */
uint64_t holds__of_process(const struct probe_programs *programs, pid_t pid, uint64_t from_ns,
			   uint64_t to_ns);

#endif
