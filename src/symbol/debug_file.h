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
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct debuginfod;
struct elf_file;
struct file_crcs;

/* Beside the file, in .debug/ there, under /usr/lib/debug. */
#define LINKED_FILES_MAX 3

/* Open files that .gnu_debuglink may mean: their CRCs, for which they have to be read whole, will tell. */
struct linked_files {
	struct elf_file *files[LINKED_FILES_MAX];
	size_t count;
	uint32_t crc;
};

/*
 * `pid` is that of a process that has the file mapped, `path` the file's in that
 * process's root (NULL: not known). A file is taken if its build id is that of
 * `elf`; where one of the two has none, files that the link may mean are in *linked, to be
 * cleared by the caller, who frees the result as well. NULL: there is none.
 */
struct elf_file *debug_file__open(const struct elf_file *elf, pid_t pid, const char *path, struct linked_files *linked);

void linked_files__clear(struct linked_files *linked);

/*
 * The first that has the CRC; the others are cleared. The caller frees it. NULL: there
 * is none, or it is not known yet, *later being set: to be asked again.
 */
struct elf_file *linked_files__take(struct linked_files *linked, struct file_crcs *crcs, bool *later);

/* Whether servers are worth asking: it has a build id, and no names or no lines of its own. */
bool debug_file__is_wanted(const struct elf_file *elf);

/*
 * Asks debuginfod's servers, as debuginfod__find does: may take seconds the
 * first time. The caller frees it. NULL: there is none, or none yet, *later being set.
 */
struct elf_file *debug_file__fetch(const struct elf_file *elf, struct debuginfod *debuginfod, bool *later);

#endif
