/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of another process. */
#ifndef TARGET_PROCESS_MEMORY_H
#define TARGET_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads exactly `size` bytes. Returns 0, -EFAULT if not all of them are mapped, or another negative
 * errno.
 */
int process_memory__read(pid_t pid, uint64_t address, void *buffer, size_t size);

/*
 * Reads a string with its NUL, at most `size` bytes. Returns -ENAMETOOLONG if it does not end
 * within them, otherwise as process_memory__read.
 */
int process_memory__read_string(pid_t pid, uint64_t address, char *buffer, size_t size);

#endif
