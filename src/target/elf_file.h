/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An x86-64 ELF file, to the extent needed for placing probes and naming functions. The file may
 * belong to a watched process: it is read with pread (a mapping could be truncated under us), every
 * size is bounded and every offset checked. File offsets come from the program headers only, as in
 * the kernel and the loader.
 */
#ifndef TARGET_ELF_FILE_H
#define TARGET_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

struct elf_file;

/* Bytes of code at a function's start that decide how it can be probed. */
#define ELF_CODE_SIZE 16

enum elf_table {
	ELF_TABLE_DYNAMIC = 0, /* .dynsym: what the file exports */
	ELF_TABLE_FULL,	       /* .symtab: everything, unless it was stripped */
};

/* A defined function. */
struct elf_symbol {
	const char *name;     /* without @VERSION; valid during the callback only */
	uint64_t value;	      /* virtual address */
	uint64_t size;	      /* bytes; 0 if the file does not say */
	uint64_t file_offset; /* of its first byte */
	uint32_t name_offset; /* of the name in its table's strings */
	bool global;	      /* global or weak; false for local */
	bool weak;
};

/* Returns 0 to go on; any other value ends the iteration, which returns it. */
typedef int (*elf_symbol_fn)(const struct elf_symbol *symbol, void *arg);

/*
 * Opens the file at `path` for reading. It must be a regular file, ELF, 64-bit little-endian, for
 * x86-64, an executable or a shared object; otherwise returns -ENOEXEC (-EFBIG for a file of absurd
 * size), or the errno of open(2). The caller frees *out.
 */
int elf_file__open(const char *path, struct elf_file **out, struct error *err);

/*
 * The same for an open file; `name` is for messages. Takes ownership of `fd`: elf_file__free closes
 * it, as does this function on failure.
 */
int elf_file__open_fd(int fd, const char *name, struct elf_file **out, struct error *err);

/*
 * The same for a separate debug file (objcopy --only-keep-debug), whose segments have addresses but
 * no contents; only for its symbols.
 */
int elf_file__open_debug_fd(int fd, const char *name, struct elf_file **out, struct error *err);

void elf_file__free(struct elf_file *file);

/* The open file; `file` owns the descriptor. */
int elf_file__fd(const struct elf_file *file);

/* The name under which the file was opened, for messages. */
const char *elf_file__name(const struct elf_file *file);

/* The result of fstat(2) when the file was opened. */
const struct stat *elf_file__stat(const struct elf_file *file);

/* DT_SONAME, or NULL. */
const char *elf_file__soname(const struct elf_file *file);

/* The number after ".so." in the soname (13 for libcudart.so.13), or -1. */
int elf_file__soname_major(const struct elf_file *file);

/* The loader in PT_INTERP, or NULL (static executables, most libraries). */
const char *elf_file__interpreter(const struct elf_file *file);

/* Whether the file is linked with a library (DT_NEEDED) whose name begins with `prefix`. */
bool elf_file__needs(const struct elf_file *file, const char *prefix);

/* The GNU build id; 0 bytes if there is none. The file owns *id. */
size_t elf_file__build_id(const struct elf_file *file, const uint8_t **id);

/*
 * The name of the separate debug file from .gnu_debuglink, a base name, and the CRC of its
 * contents. NULL if there is none; the file owns it.
 */
const char *elf_file__debug_link(const struct elf_file *file, uint32_t *crc);

/* Whether the file has the table. */
bool elf_file__has_table(const struct elf_file *file, enum elf_table table);

/*
 * Convert between virtual addresses and file offsets, by PT_LOAD. False: not mapped from the file.
 */
bool elf_file__vaddr_to_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *offset);
bool elf_file__offset_to_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr);

/*
 * Reads up to `size` bytes at `offset`; returns the number of bytes (0 at the end), or a negative
 * errno.
 */
long elf_file__read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);

/*
 * Calls `fn` for each defined function (STT_FUNC, without indirect functions) of a table that is in
 * an executable segment and whose name begins with `prefix` (NULL or "": all). Returns 0, what `fn`
 * returned, -ENOMEM, -EIO, or -EBADMSG for an implausible table; a file without the table has no
 * functions in it. Skips names of 16 KiB or more.
 */
int elf_file__each_function(struct elf_file *file, enum elf_table table, const char *prefix,
			    elf_symbol_fn fn, void *arg);

/* Whether one of its symbol tables has more entries, or more bytes of names, than these. */
bool elf_file__has_more_symbols(const struct elf_file *file, uint64_t symbols, uint64_t name_bytes);

/*
 * Finds the function `name`, first in .dynsym, then in .symtab. Fills *symbol, whose name is the
 * caller's `name`. Returns -ENOENT if there is none.
 */
int elf_file__find_function(struct elf_file *file, const char *name, struct elf_symbol *symbol);

/*
 * Whether the file imports the function `name` from a library, by .dynsym. False if the table
 * cannot be read.
 */
bool elf_file__imports(struct elf_file *file, const char *name);

/*
 * Sets *value to the virtual address of the variable `name`, looked up first in .dynsym, then in
 * .symtab. Returns 0, -ENOENT or another negative errno.
 */
int elf_file__find_object(struct elf_file *file, const char *name, uint64_t *value);

/* The size of that variable in bytes; 0 if there is none, or the file does not say. */
uint64_t elf_file__object_size(struct elf_file *file, const char *name);

/*
 * Sets *vaddr to the virtual address of the loaded section `name`. Returns false if there is none.
 */
bool elf_file__find_section(const struct elf_file *file, const char *name, uint64_t *vaddr);

/* Contents of a section in the file. */
struct elf_section {
	uint64_t offset, size;
};

/*
 * Finds section `name`, which is not loaded and has contents in the file. Returns false if there
 * is none, or it is not within the file.
 */
bool elf_file__find_contents(const struct elf_file *file, const char *name,
			     struct elf_section *section);

/* Whether the file itself has DWARF's source lines (.debug_line). */
bool elf_file__has_lines(const struct elf_file *file);

/*
 * Finds the function that contains `vaddr`: *name (malloc, without @VERSION) and *offset, the bytes
 * from its start. A function of unknown size covers only its first byte. Among several names at one
 * address, global ones come first, then local ones, then weak ones; among equals the first in the
 * string table. The first call builds an index, kept with the file (16 bytes per function). Returns
 * -ENOENT if no symbol covers the address.
 */
int elf_file__symbol_at(struct elf_file *file, uint64_t vaddr, char **name, uint64_t *offset);

/* The current memory of the index of elf_file__symbol_at, in bytes. */
size_t elf_file__index_size(const struct elf_file *file);

#endif
