/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libdw would make of the debug sections of an ELF file, found out before
 * it does. The file may be a watched process's, and a few KB of it can ask for
 * gigabytes: sections are compressed a thousandfold, and libdw makes a
 * structure of one KB for each unit, whose header need not be longer than four
 * bytes, and one for each abbreviation before that of the unit.
 */
#ifndef SYMBOL_DEBUG_SECTIONS_H
#define SYMBOL_DEBUG_SECTIONS_H

#include <stdint.h>

struct Elf; /* libelf's, of bounded_elf.h */

/* Of all sections, as they are in the file and unpacked. */
#define DEBUG_SECTIONS_BYTES_MAX (512ull << 20)

struct debug_section {
	const uint8_t *at; /* unpacked; libelf's, until elf_end */
	uint64_t size;	   /* 0: there is none */
};

/*
 * The section of that name, ".debug_line". -EBADMSG, and none, where libdw may take another one for it: of several,
 * or of split units (.dwo), neither of which linked files have; or where it cannot be read.
 */
int debug_sections__find(struct Elf *elf, const char *wanted, struct debug_section *found);

/*
 * 0 and *size: about what the sections, their units and abbreviations take in
 * memory. -ENOENT: there is no table of lines, or it cannot be read; -EFBIG: it
 * is more than libdw is given; -EBADMSG: libdw would read beyond a section's end.
 */
int debug_sections__check(struct Elf *elf, uint64_t *size);

#endif
