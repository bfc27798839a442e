/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRCs of whole files, which a watched process may have made as large and as
 * many as it likes: a file is read once, by what device, inode, size and time of change
 * tell, in pieces if need be, and all files together are given 256 MiB at once
 * and 64 MiB a second after that, a twentieth of a CPU.
 */
#ifndef SYMBOL_FILE_CRC_H
#define SYMBOL_FILE_CRC_H

#include <stdint.h>

struct elf_file;
struct file_crcs;

/* NULL without memory. */
struct file_crcs *file_crcs__new(void);
void file_crcs__free(struct file_crcs *crcs);

/*
 * 0 and *crc; -EAGAIN: not read to its end yet, what it has been given is used
 * up: to be asked again later; -EFBIG: larger than 1 GiB, or -EIO.
 */
int file_crcs__find(struct file_crcs *crcs, const struct elf_file *file, uint32_t *crc);

#endif
