/* SPDX-License-Identifier: BSD-2-Clause */
/* What a thread's descriptors lead to, by the names that /proc gives. None is opened: that could keep gpuprobe waiting. */
#ifndef DUMP_DESCRIPTOR_H
#define DUMP_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/dump.h"
#include "target/memory_reader.h"

#define DESCRIPTOR_NONE (-1)
#define DESCRIPTORS_SOME (-2) /* several, or it is not known how many */

/*
 * Fills `object` with what the descriptor leads to, cut to `size`, empty where it cannot be read. Returns what it is:
 * DUMP_WAIT_PIPE, _SOCKET, _DRIVER or _FILE; _NONE where it cannot be read.
 */
enum dump_wait descriptor__describe(pid_t tid, int fd, char *object, size_t size);

/*
 * The one descriptor that a thread waits for in poll(2), select(2) or epoll_wait(2), DESCRIPTOR_NONE where there is none,
 * or DESCRIPTORS_SOME. `arguments` are the call's.
 */
int descriptor__of_poll(struct memory_reader *memory, pid_t pid, const uint64_t *arguments);
int descriptor__of_select(struct memory_reader *memory, pid_t pid, const uint64_t *arguments);
int descriptor__of_epoll(pid_t tid, const uint64_t *arguments);

#endif
