/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recognises the functions in which threads begin: a stack that was followed to such a function is
 * complete.
 *
 * By name: the functions in which libc, the loader or Go's runtime starts a thread or a program. If
 * the file was stripped of the name, by the code after the call, which in these functions can only
 * end the thread or the process.
 */
#ifndef STACK_THREAD_ENTRY_H
#define STACK_THREAD_ENTRY_H

#include <stdbool.h>
#include <sys/types.h>

#include "symbol/native_frames.h"
#include "target/memory_reader.h"

/* Whether the function with this name starts threads or programs. */
bool thread_entry__is_name(const char *function);

/*
 * Whether the return address `address`, whose frame is `frame`, is in such a function. `pid` 0: the
 * process is gone.
 */
bool thread_entry__is(struct memory_reader *memory, const struct native_frame *frame,
		      uint64_t address, pid_t pid);

#endif
