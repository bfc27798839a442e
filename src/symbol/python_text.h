/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings of a Python process. */
#ifndef SYMBOL_PYTHON_TEXT_H
#define SYMBOL_PYTHON_TEXT_H

#include <sys/types.h>

#include "symbol/python_offsets.h"
#include "target/memory_reader.h"

#define PYTHON_TEXT_MAX 1024 /* characters read of one string; the rest is left out */

/*
 * Returns the str at `address` in UTF-8 (malloc). Invalid characters become U+FFFD, as does NUL;
 * half of a surrogate pair stands for a byte of a file name that is not UTF-8. Returns NULL if its
 * type is not offsets->text_type, if it is implausible, or if out of memory.
 */
char *python_text__read(struct memory_reader *memory, pid_t pid,
			const struct python_offsets *offsets, uint64_t address);

#endif
