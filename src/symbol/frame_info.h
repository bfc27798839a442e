/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information of ELF files (.eh_frame), checked before libdw reads it: libdw trusts the
 * file in ways that cost memory and time.
 */
#ifndef SYMBOL_FRAME_INFO_H
#define SYMBOL_FRAME_INFO_H

#include <stdint.h>

struct Elf; /* libelf's */

/*
 * Opens the file of `fd`, which stays the caller's and must be open while anything is read. Returns
 * NULL if the file has no frame information, if that is larger than any library's, or if it
 * contains what no compiler produces. *size: bytes in memory once it is read. Close it with
 * elf_end.
 */
struct Elf *frame_info__open(int fd, uint64_t *size);

#endif
