/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread's descriptors refer to, by the names in /proc. None is opened, because opening
 * could block gpuprobe.
 */
#ifndef DUMP_DESCRIPTOR_H
#define DUMP_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/dump.h"
#include "target/memory_reader.h"

#define DESCRIPTOR_NONE (-1)
#define DESCRIPTORS_SOME (-2) /* several, or an unknown number */

/*
 * Writes what the descriptor refers to into `object`, cut to `size`; empty if it cannot be read.
 * Returns its type: DUMP_WAIT_PIPE, _SOCKET, _DRIVER or _FILE; _NONE if it cannot be read.
 */
enum dump_wait descriptor__describe(pid_t tid, int fd, char *object, size_t size);

/*
 * The one descriptor that a thread waits for in poll(2), select(2) or epoll_wait(2).
 * DESCRIPTOR_NONE if there is none, DESCRIPTORS_SOME if there are several. `arguments` are the
 * call's.
 */
int descriptor__of_poll(struct memory_reader *memory, pid_t pid, const uint64_t *arguments);
int descriptor__of_select(struct memory_reader *memory, pid_t pid, const uint64_t *arguments);
int descriptor__of_epoll(pid_t tid, const uint64_t *arguments);

#endif
