/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks how much libdw would make of the debug sections of an ELF file, before it reads them. The
 * file may be a watched process's, and a few KB of it can demand gigabytes. Sections are compressed
 * a thousandfold. libdw makes a structure of 1 KB for each unit, whose header may be as short as
 * four bytes, and one for each abbreviation before the unit's own.
 */
#ifndef SYMBOL_DEBUG_SECTIONS_H
#define SYMBOL_DEBUG_SECTIONS_H

#include <stdint.h>

struct Elf; /* libelf's, from bounded_elf.h */

/* For all sections, as in the file and unpacked. */
#define DEBUG_SECTIONS_BYTES_MAX (512ull << 20)

struct debug_section {
	const uint8_t *at; /* unpacked; libelf owns it, until elf_end */
	uint64_t size;	   /* 0 if there is none */
};

/*
 * Finds the section of that name, for example ".debug_line". Returns -EBADMSG and no section if
 * libdw might choose another one, because there are several or one of split units (.dwo), neither
 * of which linked files have; or if it cannot be read.
 */
int debug_sections__find(struct Elf *elf, const char *wanted, struct debug_section *found);

/*
 * Returns 0, and sets *size to the approximate memory of the sections, their units and
 * abbreviations. -ENOENT: there is no line table, or it cannot be read; -EFBIG: more than libdw may
 * use; -EBADMSG: libdw would read beyond a section's end.
 */
int debug_sections__check(struct Elf *elf, uint64_t *size);

#endif
