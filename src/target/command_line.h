/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of a process, which lies in its memory and may have become anything. */
#ifndef TARGET_COMMAND_LINE_H
#define TARGET_COMMAND_LINE_H

#include <stddef.h>

#include "target/memory_reader.h"
#include "target/proc.h"

/*
 * Its words with blanks between them, raw, and cut to `size` - 1 bytes; `info` is of proc__info. 0; or as memory_reader__read, or
 * -ENODATA where there is none: the text is empty then.
 */
int command_line__read(struct memory_reader *memory, const struct process_info *info, char *text, size_t size);

#endif
