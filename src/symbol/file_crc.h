/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRCs of whole files. A watched process may make files as large and as many as it likes, so a file
 * (identified by device, inode, size and change time) is read once, in pieces if necessary. All
 * files together may take 256 MiB at once and 64 MiB per second after that, a twentieth of a CPU.
 */
#ifndef SYMBOL_FILE_CRC_H
#define SYMBOL_FILE_CRC_H

#include <stdint.h>

struct elf_file;
struct file_crcs;

/* Returns NULL if out of memory. */
struct file_crcs *file_crcs__new(void);
void file_crcs__free(struct file_crcs *crcs);

/*
 * Returns 0 and *crc. -EAGAIN: the allowance is used up before the end of the file; call again
 * later. -EFBIG: larger than 1 GiB. -EIO.
 */
int file_crcs__find(struct file_crcs *crcs, const struct elf_file *file, uint32_t *crc);

#endif
