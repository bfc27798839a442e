/* SPDX-License-Identifier: BSD-2-Clause */
/* Build ids as text, as used in the names of debug files. */
#ifndef SYMBOL_BUILD_ID_H
#define SYMBOL_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_SIZE_MAX 64 /* bytes; elf_file__build_id has the same limit */
#define BUILD_ID_TEXT_SIZE (2 * BUILD_ID_SIZE_MAX + 1)

/*
 * Writes two hexadecimal digits for each of `size` bytes (at most BUILD_ID_SIZE_MAX), and a
 * terminating zero.
 */
void build_id__write(const uint8_t *id, size_t size, char text[BUILD_ID_TEXT_SIZE]);

#endif
