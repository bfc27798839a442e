/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings of a Python process. */
#ifndef SYMBOL_PYTHON_TEXT_H
#define SYMBOL_PYTHON_TEXT_H

#include <sys/types.h>

#include "symbol/python_offsets.h"
#include "target/memory_reader.h"

#define PYTHON_TEXT_MAX 1024 /* characters that are read of one; the rest is left out */

/*
 * The str at `address` in UTF-8, malloc'd. What is no character there (half of
 * a surrogate pair, which stands for a byte of a file's name that is no UTF-8)
 * becomes U+FFFD, as does NUL. NULL where its type is not offsets->text_type, it cannot be true, or without memory.
 */
char *python_text__read(struct memory_reader *memory, pid_t pid, const struct python_offsets *offsets, uint64_t address);

/*
 * `count` characters of `width` bytes (1, 2 or 4) in UTF-8. Returns the length
 * without the NUL; `text` has room for 4 bytes a character and the NUL.
 */
size_t python_text__encode(const void *characters, size_t count, unsigned int width, char *text);

#endif
