/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information of ELF files (.eh_frame), as libdw is to
 * read it. libdw believes a file in what costs memory and time: that is looked
 * at before.
 */
#ifndef SYMBOL_FRAME_INFO_H
#define SYMBOL_FRAME_INFO_H

#include <stdint.h>

struct Elf; /* libelf's */

/*
 * The file that `fd` is open on, which stays the caller's and must be open as
 * long as anything is read. NULL where it has no frame information, where that
 * is larger than any library's, or where it asks for what no compiler makes.
 * *size: bytes in memory once it is read. To be ended with elf_end.
 */
struct Elf *frame_info__open(int fd, uint64_t *size);

#endif
