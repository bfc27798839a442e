/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sleeping thread waits for outside of CUDA: by the system call that it is in, by what its
 * descriptor refers to and, for Python's GIL, by where the lock is. Reads only /proc and the
 * process's memory.
 */
#ifndef DUMP_WAITING_H
#define DUMP_WAITING_H

#include <stddef.h>
#include <sys/types.h>

#include "gpuprobe/thread_look.h"
#include "model/dump.h"
#include "target/memory_reader.h"

/*
 * Fills threads[i].waiting and threads[i].run of a process from looks[i]. Threads on a CPU wait for
 * nothing. `memory` reads the process's memory; what cannot be read is left out.
 */
void waiting__find(struct memory_reader *memory, pid_t pid, const struct thread_look *const *looks,
		   struct dump_thread *threads, size_t count);

#endif
