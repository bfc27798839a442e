/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source file and line of an address, by an ELF file's DWARF, which libdw
 * reads. The file may be a watched process's: it is read, never mapped (it
 * could be truncated), files whose debug information takes more than 512 MiB in memory,
 * or that have more than 65,536 units, are left alone (symbol/debug_sections.h), and so
 * are line tables of more than 4 MiB of one compilation unit. No other file is opened:
 * neither split debug information (.dwo) nor supplementary files (dwz). Functions that
 * were inlined are not told apart: the line is that of the instruction, in whichever
 * source file it is.
 */
#ifndef SYMBOL_SOURCE_LINES_H
#define SYMBOL_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

struct source_lines;

/* `fd` stays the caller's and open. NULL: there is no debug information, or no memory. */
struct source_lines *source_lines__new(int fd);
void source_lines__free(struct source_lines *lines);

/* The path (malloc), as the compiler had it, and the line; -ENOENT where it is not known. */
int source_lines__find(struct source_lines *lines, uint64_t vaddr, char **path, uint32_t *line);

/* About how many bytes of memory it takes; 0 for NULL. */
size_t source_lines__size(const struct source_lines *lines);

#endif
