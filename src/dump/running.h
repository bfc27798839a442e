/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are on a CPU: one moment of each, by a perf event that takes registers and stack together. The registers that a
 * thread_look has of such a thread are those with which it entered the kernel last, while its stack went on.
 */
#ifndef DUMP_RUNNING_H
#define DUMP_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprobe/thread_look.h"

struct running_thread {
	pid_t tid;
	struct thread_look *look; /* with room for a whole copy; its registers and its copy are replaced where a moment was seen */
	bool seen;
};

/*
 * Waits for a moment of each, all at once, for `wait_ms` at most: one that sleeps meanwhile, or gets no CPU, is not seen; one
 * that cannot be looked at (no descriptor, no right) neither.
 */
void running_threads__sample(struct running_thread *threads, size_t count, int wait_ms);

#endif
