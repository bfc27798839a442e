/* SPDX-License-Identifier: BSD-2-Clause */
/* Build ids as text, as they are part of the names of debug files. */
#ifndef SYMBOL_BUILD_ID_H
#define SYMBOL_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_SIZE_MAX 64 /* bytes; of elf_file__build_id as well */
#define BUILD_ID_TEXT_SIZE (2 * BUILD_ID_SIZE_MAX + 1)

/* Two hexadecimal digits for each of `size` bytes, BUILD_ID_SIZE_MAX at most, and the text's end. */
void build_id__write(const uint8_t *id, size_t size, char text[BUILD_ID_TEXT_SIZE]);

#endif
