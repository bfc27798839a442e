/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The separate debug file of a stripped ELF file, where distributions and
 * debuggers put it: by build id (.build-id/xx/….debug under /usr/lib/debug),
 * and by .gnu_debuglink (beside the file, in .debug/ there, under
 * /usr/lib/debug). Looked for in the root of the file's process first, then in
 * gpuprobe's own.
 *
 * Nothing is ever asked of a network. Where the user has set DEBUGINFOD_URLS,
 * what debuginfod's client has in its cache is used.
 */
#ifndef SYMBOL_DEBUG_FILE_H
#define SYMBOL_DEBUG_FILE_H

#include <sys/types.h>

struct elf_file;

/*
 * `pid` is that of a process that has the file mapped, `path` the file's in that
 * process's root (NULL: not known). A file is taken if its build id is that of
 * `elf`, or, where that has none, if its contents have the CRC of the link. The
 * caller frees it; NULL: there is none.
 */
struct elf_file *debug_file__open(const struct elf_file *elf, pid_t pid, const char *path);

#endif
