/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of processes that may be hostile, read by a process of gpuprobe's own that can be given up.
 *
 * A page may be one of a file that a program serves (FUSE) and does not answer for: who reads it waits in the kernel,
 * and cannot even be killed, for as long as that program likes. So it is not gpuprobe that reads, and
 * it waits for an answer for 200 ms. Nor do answers that come late add up: 0.4 s are waited for a process within a
 * minute, 1.6 s for all of them. What the reader waits for a CPU does not count, nor what is below 10 ms.
 */
#ifndef TARGET_MEMORY_READER_H
#define TARGET_MEMORY_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"

struct memory_reader;

/*
 * One thread at a time may use it. Its process is forked by the first reading, with what gpuprobe may do by then, and
 * anew where it was killed. `log` must outlive it, NULL ok: a process whose memory does not answer, or late, is warned
 * of once.
 * NULL without memory.
 */
struct memory_reader *memory_reader__new(const struct log *log);
void memory_reader__free(struct memory_reader *reader); /* NULL ok; takes 100 ms at most */

/*
 * Reads exactly `size` bytes: 0, -EFAULT where not all of them are there, -ESRCH or another errno of
 * process_vm_readv(2). -ETIMEDOUT: the process's memory does not answer, or has been waited for long enough, and it is not
 * asked again for a minute. -EAGAIN: all have been waited for long enough, eight in vain, and nobody is asked for a
 * minute; or eight readers still wait in the kernel: nothing is read until that is over; or no process can be forked.
 *
 * `reader` NULL: the calling thread reads, as long as it takes. For processes that one has started oneself.
 */
int memory_reader__read(struct memory_reader *reader, pid_t pid, uint64_t address, void *buffer, size_t size);

/*
 * Reads a string with its NUL, at most `size` bytes, and no more than 32 KiB. -ENAMETOOLONG where it does not end within
 * them; else as memory_reader__read.
 */
int memory_reader__read_string(struct memory_reader *reader, pid_t pid, uint64_t address, char *buffer, size_t size);

/*
 * Reads of /proc/PID/environ, from `offset` on: how many bytes, which may be fewer than `size`, 0 at its end, or a
 * negative errno as above. `reader` is not NULL. To be read from its beginning on, one process's after the other's.
 */
ssize_t memory_reader__read_environment(struct memory_reader *reader, pid_t pid, uint64_t offset, void *buffer,
					size_t size);

#endif
