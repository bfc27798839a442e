/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files of watched processes, opened once, with their symbols and debug information. They are
 * identified by device, inode, size and change time; the least recently used is dropped first.
 *
 * A file's separate debug file is searched when the file is opened, while its process exists
 * (symbol/debug_file.h). A candidate that only its CRC can confirm is read at the first look-up in
 * the file, and debuginfod, if enabled, is used then, too. Names come from the first of .symtab,
 * the debug file's .symtab, and .dynsym that exists.
 */
#ifndef SYMBOL_SYMBOL_CACHE_H
#define SYMBOL_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "symbol/debug_file.h"

struct Elf; /* libelf's */
struct debuginfod;
struct elf_file;
struct source_lines;
struct symbol_cache;

/* Identifies a file; all zero if unknown. No padding: it is hashed and compared as bytes. */
struct file_key {
	uint64_t device, inode, size, changed_s, changed_ns;
};

/* A file in the cache. Valid until the next call of symbol_cache__open, __trim or __clear. */
struct symbol_file {
	struct file_key key;
	struct elf_file *elf;	       /* NULL: not an ELF file, which is also worth remembering */
	struct elf_file *debug;	       /* the separate debug file, or NULL */
	struct linked_files linked;    /* candidates for the debug file */
	struct file_crcs *crcs;	       /* the cache's */
	struct debuginfod *debuginfod; /* to be used for it; NULL: not, or not any more */
	struct source_lines *lines;    /* NULL: not read */
	bool looked_for_lines;
	struct Elf *frames; /* NULL: not opened, or there is no frame information */
	uint64_t frames_size;
	bool looked_for_frames;
	uint64_t names_ns; /* CPU time spent on readable names of its functions */
	uint64_t used;	   /* value of the cache's clock at its last use */
};

/*
 * Keeps at most `max_files` files open (1 or more), including debug files. Returns NULL if out of
 * memory.
 */
struct symbol_cache *symbol_cache__new(size_t max_files);
void symbol_cache__free(struct symbol_cache *cache);

/* Uses debuginfod for debug files of all files opened from now on. It must outlive the cache. */
void symbol_cache__ask(struct symbol_cache *cache, struct debuginfod *debuginfod);

/*
 * Opens the file of `fd`, and takes ownership of `fd`. If the file is new and `pid` is not 0, its
 * debug file is searched in the root of that process and in gpuprobe's; `path` is the file's own,
 * in the process. Returns 0 or a negative errno.
 */
int symbol_cache__open(struct symbol_cache *cache, int fd, pid_t pid, const char *path,
		       struct symbol_file **out);

/* Opens the vdso, which is not in a file: a copy in memory. Returns 0 or a negative errno. */
int symbol_cache__open_vdso(struct symbol_cache *cache, struct symbol_file **out);

/* The file with this key; NULL if it is not in the cache, or not any more. */
struct symbol_file *symbol_cache__find(struct symbol_cache *cache, const struct file_key *key);

/* Closes all files. */
void symbol_cache__clear(struct symbol_cache *cache);

/* Drops files above the limits. Call it after look-ups, which make a file's tables grow. */
void symbol_cache__trim(struct symbol_cache *cache);

/*
 * The first look-up of a name or a line may take as long as debuginfod__find if the file needs
 * debuginfod.
 *
 * Finds the symbol that contains the byte at `file_offset`: *name (malloc, as in the file), *offset
 * from its start. Returns -ENOENT if there is none.
 */
int symbol_file__name(struct symbol_file *file, uint64_t file_offset, char **name,
		      uint64_t *offset);

/*
 * Finds the source file's path (malloc) and line of the byte at `file_offset`; -ENOENT if no debug
 * information has them.
 */
int symbol_file__line(struct symbol_file *file, uint64_t file_offset, char **path, uint32_t *line);

/*
 * The file for libdw, or NULL if it has no plausible call frame information; *size: its memory in
 * bytes. `file` owns the handle. To keep it, take another reference (elf_begin), which outlives the
 * file with everything that has been read by then.
 */
struct Elf *symbol_file__frames(struct symbol_file *file, uint64_t *size);

#endif
