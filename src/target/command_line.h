/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of a process. It is in the process's memory, so the process may have changed it.
 */
#ifndef TARGET_COMMAND_LINE_H
#define TARGET_COMMAND_LINE_H

#include <stddef.h>

#include "target/memory_reader.h"
#include "target/proc.h"

/*
 * Reads its words, separated by spaces, raw, and cut to `size` - 1 bytes; `info` comes from
 * proc__info. Returns 0, an error of memory_reader__read, or -ENODATA if there is none; the text is
 * empty after an error.
 */
int command_line__read(struct memory_reader *memory, const struct process_info *info, char *text,
		       size_t size);

/*
 * The same from /proc, which needs no permission, but may wait forever for a process whose memory
 * nobody serves. malloc; NULL if there is none, or if out of memory.
 */
char *command_line__from_proc(pid_t pid);

#endif
