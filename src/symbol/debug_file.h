/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The separate debug file of a stripped ELF file, where distributions and
 * debuggers put it: by build id (.build-id/xx/….debug under /usr/lib/debug),
 * and by .gnu_debuglink (beside the file, in .debug/ there, under
 * /usr/lib/debug). Looked for in the root of the file's process first, then in
 * gpuprobe's own.
 *
 * A network is asked only where the user has set DEBUGINFOD_URLS: what
 * debuginfod's client has in its cache is used then, and what is missing is
 * asked of its servers (symbol/debuginfod.h), once something is to be named of
 * the file.
 */
#ifndef SYMBOL_DEBUG_FILE_H
#define SYMBOL_DEBUG_FILE_H

#include <stdbool.h>
#include <sys/types.h>

struct debuginfod;
struct elf_file;

/*
 * `pid` is that of a process that has the file mapped, `path` the file's in that
 * process's root (NULL: not known). A file is taken if its build id is that of
 * `elf`, or, where that has none, if its contents have the CRC of the link. The
 * caller frees it; NULL: there is none.
 */
struct elf_file *debug_file__open(const struct elf_file *elf, pid_t pid, const char *path);

/* Whether servers are worth asking: it has a build id, and no names or no lines of its own. */
bool debug_file__is_wanted(const struct elf_file *elf);

/*
 * Asks debuginfod's servers, as debuginfod__find does: may take seconds the
 * first time. The caller frees it. NULL: there is none, or none yet, *later being set.
 */
struct elf_file *debug_file__fetch(const struct elf_file *elf, struct debuginfod *debuginfod, bool *later);

#endif
