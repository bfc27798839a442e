/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread that sleeps waits for outside of CUDA: by the system call that it is in, by what its descriptor leads to, and,
 * for Python's lock, by where the lock lies. Only /proc and the process's memory are read.
 */
#ifndef DUMP_WAITING_H
#define DUMP_WAITING_H

#include <stddef.h>
#include <sys/types.h>

#include "gpuprobe/thread_look.h"
#include "model/dump.h"
#include "target/memory_reader.h"

/*
 * Fills threads[i].waiting of a process from looks[i], and ->run. Threads that are on a CPU wait for nothing. `memory` as
 * there; what cannot be read is left out.
 */
void waiting__find(struct memory_reader *memory, pid_t pid, const struct thread_look *const *looks,
		   struct dump_thread *threads, size_t count);

#endif
