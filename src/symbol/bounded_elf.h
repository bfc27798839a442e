/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens ELF files safely for libelf and libdw, which trust a file's number of sections and the
 * length of their names: a few KB on disk, most of it holes, could demand any number of gigabytes.
 */
#ifndef SYMBOL_BOUNDED_ELF_H
#define SYMBOL_BOUNDED_ELF_H

struct Elf; /* libelf's */

/*
 * Opens the file of `fd`, which stays the caller's and must be open while anything is read. Returns
 * NULL if it is no 64-bit ELF file, or has more sections or longer section names than any linked
 * file. Close it with elf_end. A file that changes after this check is not covered.
 */
struct Elf *bounded_elf__open(int fd);

#endif
