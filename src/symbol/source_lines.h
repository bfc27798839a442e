/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source file and line of an address, from an ELF file's DWARF, which libdw reads. The file may be
 * a watched process's, so it is read and never mapped (it could be truncated). Files whose debug
 * information takes more than 512 MiB in memory, or that have more than 65,536 units, are skipped
 * (symbol/debug_sections.h), and so are line tables of more than 4 MiB of one compilation unit. No
 * other file is opened: neither split debug information (.dwo) nor supplementary files (dwz).
 * Inlined functions are not distinguished: the line is that of the instruction, in whichever source
 * file it is.
 */
#ifndef SYMBOL_SOURCE_LINES_H
#define SYMBOL_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

struct source_lines;

/*
 * `fd` stays the caller's and open. Returns NULL if there is no debug information, or if out of
 * memory.
 */
struct source_lines *source_lines__new(int fd);
void source_lines__free(struct source_lines *lines);

/* Returns 0, the path (malloc) as the compiler recorded it, and the line; -ENOENT if unknown. */
int source_lines__find(struct source_lines *lines, uint64_t vaddr, char **path, uint32_t *line);

/* Approximate memory in bytes; 0 for NULL. */
size_t source_lines__size(const struct source_lines *lines);

#endif
