/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where threads begin. A stack that was followed to there is whole.
 *
 * Told by the function's name: that which libc, the loader or Go's runtime
 * starts a thread or a program in. Where the file was stripped of that name,
 * told by the code behind the call, which in these functions can only end the
 * thread or the process.
 */
#ifndef STACK_THREAD_ENTRY_H
#define STACK_THREAD_ENTRY_H

#include <stdbool.h>
#include <sys/types.h>

#include "symbol/native_frames.h"
#include "target/memory_reader.h"

/* Whether a function of this name is one of these. */
bool thread_entry__is_name(const char *function);

/* Whether `address`, a return address which `frame` is of, lies in such a function. `pid` 0: the process is gone. */
bool thread_entry__is(struct memory_reader *memory, const struct native_frame *frame, uint64_t address, pid_t pid);

#endif
