/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files for libelf and libdw, which believe a file in how many sections it
 * has and how long their names are: a few KB on disk, most of it holes, would
 * ask for any number of gigabytes.
 */
#ifndef SYMBOL_BOUNDED_ELF_H
#define SYMBOL_BOUNDED_ELF_H

struct Elf; /* libelf's */

/*
 * The file that `fd` is open on, which stays the caller's and must be open as
 * long as anything is read. NULL where it is none for 64 bits, or has more
 * sections or longer names of them than any linked file. To be ended with
 * elf_end. What is not looked at before: a file that is written to meanwhile.
 */
struct Elf *bounded_elf__open(int fd);

#endif
