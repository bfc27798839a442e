/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files of watched processes, opened once, with what their symbols and
 * their debug information tell: known by device, inode, size and time of
 * change, the least recently used leaving first.
 *
 * A file's separate debug file is looked for when the file is opened, while its
 * process is there (symbol/debug_file.h); one that only its CRC can tell is read
 * when something is first looked up, and debuginfod, if it is to be asked,
 * when something is first looked up in the file. Names come from .symtab, the debug
 * file's .symtab or .dynsym, the first of them that there is.
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

/* Which file it is: all zero where it is not known. No padding: it is hashed and compared as bytes. */
struct file_key {
	uint64_t device, inode, size, changed_s, changed_ns;
};

/* A file in the cache. Valid until the next call of symbol_cache__open, __trim or __clear. */
struct symbol_file {
	struct file_key key;
	struct elf_file *elf;	       /* NULL: it is no ELF file, which is worth knowing too */
	struct elf_file *debug;	       /* the separate debug file, or NULL */
	struct linked_files linked;    /* one of them may be the debug file */
	struct file_crcs *crcs;	       /* the cache's */
	struct debuginfod *debuginfod; /* to be asked for that; NULL: not, or not any more */
	struct source_lines *lines;    /* NULL: not read */
	bool looked_for_lines;
	struct Elf *frames; /* NULL: not opened, or there is no frame information */
	uint64_t frames_size;
	bool looked_for_frames;
	uint64_t names_ns; /* CPU time that its functions' readable names have taken */
	uint64_t used;	   /* value of the cache's clock */
};

/* NULL without memory. At most `max_files` files (1 or more) are kept open, debug files included. */
struct symbol_cache *symbol_cache__new(size_t max_files);
void symbol_cache__free(struct symbol_cache *cache);

/* Has debuginfod asked for debug files of what is opened from now on. It must outlive the cache. */
void symbol_cache__ask(struct symbol_cache *cache, struct debuginfod *debuginfod);

/*
 * The file that `fd` is open on, which is taken over. For a file that is new
 * and where `pid` is not 0, its debug file is looked for in the root of that
 * process and in gpuprobe's; `path` is the file's own, in the process. Returns
 * 0 or a negative errno.
 */
int symbol_cache__open(struct symbol_cache *cache, int fd, pid_t pid, const char *path, struct symbol_file **out);

/* The vdso, which is in no file: a copy in memory. Returns 0 or a negative errno. */
int symbol_cache__open_vdso(struct symbol_cache *cache, struct symbol_file **out);

/* The file with this key, NULL where it is not in the cache (any more). */
struct symbol_file *symbol_cache__find(struct symbol_cache *cache, const struct file_key *key);

/* Closes all files. */
void symbol_cache__clear(struct symbol_cache *cache);

/* Drops what is too much: to be called after look-ups, which make a file's tables grow. */
void symbol_cache__trim(struct symbol_cache *cache);

/*
 * Of a file that debuginfod is to be asked about, the first look-up of a name or
 * a line may take as long as debuginfod__find says.
 *
 * The symbol that the byte at `file_offset` lies in: *name (malloc, as it is
 * in the file), *offset from its start. -ENOENT where there is none.
 */
int symbol_file__name(struct symbol_file *file, uint64_t file_offset, char **name, uint64_t *offset);

/*
 * The source file's path (malloc) and line of the byte at `file_offset`; -ENOENT
 * where no debug information tells.
 */
int symbol_file__line(struct symbol_file *file, uint64_t file_offset, char **path, uint32_t *line);

/*
 * The file for libdw, where it has call frame information that can be believed,
 * else NULL; *size: bytes that this takes in memory. The handle is the file's;
 * who wants to keep it takes another reference (elf_begin), which outlives the
 * file with all that has been read by then.
 */
struct Elf *symbol_file__frames(struct symbol_file *file, uint64_t *size);

#endif
