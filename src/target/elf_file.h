/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file of x86-64, as far as placing probes and naming functions needs
 * it. The file may belong to a watched process: it is read with pread (a
 * mapping could be truncated under us), every size is bounded and every
 * offset checked, and file offsets come from the program headers alone, as
 * they do for the kernel and the loader.
 */
#ifndef TARGET_ELF_FILE_H
#define TARGET_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

struct elf_file;

/* Bytes of code at a function's start that say how it can be probed. */
#define ELF_CODE_SIZE 16

enum elf_table {
	ELF_TABLE_DYNAMIC = 0, /* .dynsym: what the file exports */
	ELF_TABLE_FULL,	       /* .symtab: everything, where it was not stripped */
};

/* A defined function. */
struct elf_symbol {
	const char *name;     /* without @VERSION; valid during the callback only */
	uint64_t value;	      /* virtual address */
	uint64_t size;	      /* bytes; 0 where the file does not say */
	uint64_t file_offset; /* of its first byte */
	uint32_t name_offset; /* of the name in its table's strings */
	bool global;	      /* global or weak; false for local */
	bool weak;
};

/* Returns 0 to go on; anything else ends the iteration, which returns it. */
typedef int (*elf_symbol_fn)(const struct elf_symbol *symbol, void *arg);

/*
 * Opens the file at `path` for reading. It must be a regular file, ELF,
 * 64-bit little-endian, for x86-64, an executable or a shared object; if not:
 * -ENOEXEC (or -EFBIG for a file of absurd size), or the errno of open(2).
 * The caller frees *out.
 */
int elf_file__open(const char *path, struct elf_file **out, struct error *err);

/*
 * The same for an open file; `name` is for messages. Takes over `fd`, which
 * is closed by elf_file__free, and at once where this fails.
 */
int elf_file__open_fd(int fd, const char *name, struct elf_file **out, struct error *err);

/*
 * The same for a separate debug file (objcopy --only-keep-debug), whose
 * segments have addresses and no contents: for its symbols only.
 */
int elf_file__open_debug_fd(int fd, const char *name, struct elf_file **out, struct error *err);

void elf_file__free(struct elf_file *file);

/* The open file, which stays the elf_file's. */
int elf_file__fd(const struct elf_file *file);

/* What the file was opened as, for messages. */
const char *elf_file__name(const struct elf_file *file);

/* What fstat(2) said when it was opened. */
const struct stat *elf_file__stat(const struct elf_file *file);

/* DT_SONAME, or NULL. */
const char *elf_file__soname(const struct elf_file *file);

/* The number after ".so." in the soname (13 of libcudart.so.13), or -1. */
int elf_file__soname_major(const struct elf_file *file);

/* The loader named by PT_INTERP, or NULL (static executables, most libraries). */
const char *elf_file__interpreter(const struct elf_file *file);

/* Whether it is linked with a library (DT_NEEDED) whose name begins with `prefix`. */
bool elf_file__needs(const struct elf_file *file, const char *prefix);

/* The GNU build id; 0 bytes where there is none. *id belongs to the file. */
size_t elf_file__build_id(const struct elf_file *file, const uint8_t **id);

/*
 * The name of the separate debug file that .gnu_debuglink tells, a base name,
 * and the CRC of its contents. NULL where there is none; it belongs to the file.
 */
const char *elf_file__debug_link(const struct elf_file *file, uint32_t *crc);

/* Whether the file has the table. */
bool elf_file__has_table(const struct elf_file *file, enum elf_table table);

/* Between virtual addresses and offsets in the file, by PT_LOAD. False: not mapped from it. */
bool elf_file__vaddr_to_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *offset);
bool elf_file__offset_to_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr);

/* Reads up to `size` bytes at `offset`; returns how many (0 at the end), or a negative errno. */
long elf_file__read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);

/*
 * Calls `fn` for each defined function (STT_FUNC; indirect functions are left
 * out) of a table that lies in an executable segment and whose name begins
 * with `prefix` (NULL or "" for all of them). Returns 0, what `fn` returned, -ENOMEM,
 * -EIO, or -EBADMSG for tables that cannot be true; a file without the table
 * has no functions in it. A name of 16 KiB or more is skipped.
 */
int elf_file__each_function(struct elf_file *file, enum elf_table table, const char *prefix,
			    elf_symbol_fn fn, void *arg);

/* Whether a table of its symbols has more entries, or more bytes of names, than these. */
bool elf_file__has_more_symbols(const struct elf_file *file, uint64_t symbols, uint64_t name_bytes);

/*
 * Finds the function `name`, first in .dynsym, then in .symtab. *symbol is
 * filled, its name being the caller's `name`. -ENOENT where there is none.
 */
int elf_file__find_function(struct elf_file *file, const char *name, struct elf_symbol *symbol);

/* Whether the file takes the function `name` from a library, by .dynsym. False for one that cannot be read. */
bool elf_file__imports(struct elf_file *file, const char *name);

/*
 * The virtual address of the variable `name`, which is sought first in .dynsym,
 * then in .symtab. Returns 0, -ENOENT or another errno.
 */
int elf_file__find_object(struct elf_file *file, const char *name, uint64_t *value);

/* How many bytes that variable has; 0 where there is none, or the file does not tell. */
uint64_t elf_file__object_size(struct elf_file *file, const char *name);

/* The virtual address of the section `name`, where it is loaded. False: there is none. */
bool elf_file__find_section(const struct elf_file *file, const char *name, uint64_t *vaddr);

/* Whether the file itself has DWARF's source lines (.debug_line). */
bool elf_file__has_lines(const struct elf_file *file);

/*
 * The function that `vaddr` lies in: *name (malloc, without @VERSION) and
 * *offset, the bytes from its start. A function of unknown size covers its
 * first byte only. Of several names at one address a global one is taken, then
 * a local one, then a weak one, and of equals the first in the table of
 * strings. The first call builds an index, kept with the file (16 bytes a
 * function). -ENOENT where no symbol covers the address.
 */
int elf_file__symbol_at(struct elf_file *file, uint64_t vaddr, char **name, uint64_t *offset);

/* Bytes of memory that the index of elf_file__symbol_at takes now. */
size_t elf_file__index_size(const struct elf_file *file);

#endif
