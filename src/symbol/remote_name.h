/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a kernel's name from a live process by its handle: the word at handle + 8 points to the
 * mangled name. Drivers do this without documenting it, so the result must look like a name.
 */
#ifndef SYMBOL_REMOTE_NAME_H
#define SYMBOL_REMOTE_NAME_H

#include <stdint.h>
#include <sys/types.h>

#include "symbol/kernel_name.h"
#include "target/memory_reader.h"

/* Room for the longest name and its zero. */
#define REMOTE_NAME_SIZE (KERNEL_NAME_MAX + 1)

/*
 * Reads the name of the kernel with `handle` in process `pid`. Returns 0; -EINVAL if there is no
 * name there; -EFAULT if the address is not mapped; -ESRCH, -EPERM and other errors of
 * memory_reader__read. `name` is a string only after 0.
 */
int remote_name__read(struct memory_reader *memory, pid_t pid, uint64_t handle,
		      char name[REMOTE_NAME_SIZE]);

/* The same for the address of the string itself. */
int remote_name__read_string(struct memory_reader *memory, pid_t pid, uint64_t address,
			     char name[REMOTE_NAME_SIZE]);

#endif
