/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The separate debug file of a stripped ELF file, where distributions and debuggers put it: by
 * build id (.build-id/xx/….debug under /usr/lib/debug), and by .gnu_debuglink (beside the file, in
 * .debug/ there, under /usr/lib/debug). The root of the file's process is searched first, then
 * gpuprobe's own.
 *
 * The network is used only if the user has set DEBUGINFOD_URLS. Then files in the cache of
 * debuginfod's client are used, and missing ones are requested from its servers
 * (symbol/debuginfod.h) when something in the file is to be named.
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

/*
 * Open files that .gnu_debuglink may mean. Their CRC decides, for which they must be read
 * completely.
 */
struct linked_files {
	struct elf_file *files[LINKED_FILES_MAX];
	size_t count;
	uint32_t crc;
};

/*
 * `pid` is a process that has the file mapped, `path` the file's path in that process's root (NULL:
 * unknown). A debug file is accepted if its build id is that of `elf`. If one of the two has no
 * build id, candidates of the link are returned in *linked, which the caller clears. The caller
 * frees the result. NULL if there is none.
 */
struct elf_file *debug_file__open(const struct elf_file *elf, pid_t pid, const char *path,
				  struct linked_files *linked);

void linked_files__clear(struct linked_files *linked);

/*
 * Returns the first file that has the CRC, which the caller frees, and clears the others. NULL if
 * there is none, or with *later set if it is not known yet: call again later.
 */
struct elf_file *linked_files__take(struct linked_files *linked, struct file_crcs *crcs,
				    bool *later);

/* Whether to request a debug file from servers: it has a build id, but lacks names or lines. */
bool debug_file__is_wanted(const struct elf_file *elf);

/*
 * Requests the debug file from debuginfod's servers, as debuginfod__find does: this may take
 * seconds the first time. The caller frees it. NULL if there is none, or with *later set if there
 * is none yet.
 */
struct elf_file *debug_file__fetch(const struct elf_file *elf, struct debuginfod *debuginfod,
				   bool *later);

#endif
