/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the memory of processes that may be hostile, in a process of gpuprobe's own that can be
 * abandoned.
 *
 * A page may belong to a file that a program serves (FUSE) without ever answering: the reader then
 * waits in the kernel, and cannot even be killed, for as long as that program likes. So gpuprobe
 * does not read itself, and waits at most 200 ms for an answer. Late answers do not add up either:
 * within a minute it waits at most 0.4 s for one process, and 1.6 s for all of them. Time in which
 * the reader or gpuprobe waits for a CPU does not count, nor do waits below 10 ms.
 */
#ifndef TARGET_MEMORY_READER_H
#define TARGET_MEMORY_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"

struct memory_reader;

/*
 * Use it from one thread at a time. The first read forks its process, with the privileges that
 * gpuprobe has by then; if that was killed, another one is forked. `log` must outlive the reader,
 * NULL ok: it receives one warning for each process whose memory answers late or not at all.
 * Returns NULL if out of memory.
 */
struct memory_reader *memory_reader__new(const struct log *log);
void memory_reader__free(struct memory_reader *reader); /* NULL ok; takes at most 100 ms */

/*
 * Reads exactly `size` bytes. Returns 0, -EFAULT if not all of them are mapped, -ESRCH or another
 * errno of process_vm_readv(2).
 *
 * - -ETIMEDOUT: the process's memory does not answer, or its allowance is used up; it is not read
 *   for a minute.
 * - -EAGAIN: the allowance for all processes is used up, for example by eight unanswered reads;
 *   nothing is read for a minute. Also if eight readers still wait in the kernel, until that is
 *   over, or if no process can be forked.
 *
 * `reader` NULL: the calling thread reads, for as long as it takes. Use that only for processes
 * that gpuprobe started itself.
 */
int memory_reader__read(struct memory_reader *reader, pid_t pid, uint64_t address, void *buffer,
			size_t size);

/*
 * Reads a string with its NUL, at most `size` bytes and 32 KiB. Returns -ENAMETOOLONG if it does
 * not end within them, otherwise as memory_reader__read.
 */
int memory_reader__read_string(struct memory_reader *reader, pid_t pid, uint64_t address,
			       char *buffer, size_t size);

/*
 * Reads /proc/PID/environ from `offset` on. Returns the number of bytes, which may be less than
 * `size`, 0 at its end, or a negative errno as above. `reader` must not be NULL. Read each process
 * from its beginning, one process after another.
 */
ssize_t memory_reader__read_environment(struct memory_reader *reader, pid_t pid, uint64_t offset,
					void *buffer, size_t size);

#endif
