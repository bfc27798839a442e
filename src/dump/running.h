/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are on a CPU: a perf event takes registers and stack of each together. The registers
 * in a thread_look of such a thread are those of its last entry into the kernel, but its stack has
 * changed since.
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
	/* Must have room for a whole stack copy; a sample replaces its registers and its copy. */
	struct thread_look *look;
	bool seen;
};

/*
 * Waits for a sample of each thread, all at once, for at most `wait_ms`. A thread that sleeps
 * meanwhile or gets no CPU stays unseen, as does one that cannot be sampled (no descriptor, no
 * permission).
 */
void running_threads__sample(struct running_thread *threads, size_t count, int wait_ms);

#endif
