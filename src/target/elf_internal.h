/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by elf_file.c (headers), elf_dynamic.c (PT_DYNAMIC, and where the tables are) and
 * elf_symbols.c (their contents). Not for other files.
 */
#ifndef TARGET_ELF_INTERNAL_H
#define TARGET_ELF_INTERNAL_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "target/elf_file.h"

/* Where a symbol table is in the file; checked against the file's size. */
struct symbol_table {
	uint64_t symbols; /* offset of the first Elf64_Sym */
	uint64_t count;
	uint64_t strings; /* offset of the names */
	uint64_t strings_size;
	bool present;
	bool broken; /* there is one, but it is implausible */
};

struct indexed_symbol {
	uint64_t value;
	uint32_t size;
	uint32_t name; /* offset in the strings; top two bits: rank among names of one address */
};

struct symbol_index {
	struct indexed_symbol *symbols; /* sorted by value, global ones first */
	size_t count, capacity;
	enum elf_table table;
	bool built;
};

struct elf_file {
	int fd;
	char *name;
	struct stat stat;
	Elf64_Phdr *segments;
	size_t segment_count;
	size_t loaded_count; /* the first of these are PT_LOAD */
	bool dynamic;
	bool debug; /* a separate debug file */
	char *soname;
	char *interpreter;
	uint8_t build_id[64];
	size_t build_id_size;
	char *debug_link;
	uint32_t debug_crc;
	struct symbol_table tables[2]; /* by enum elf_table */
	struct symbol_index index;
};

/* Larger tables are refused: a watched process could make gpuprobe read for minutes. */
#define ELF_STRINGS_MAX (256u << 20)
#define ELF_SYMBOLS_MAX (1u << 23)

/*
 * Reads exactly `size` bytes. Returns 0, -EBADMSG if the file ends before, or another negative
 * errno.
 */
int elf_internal__read_all(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);

/* Whether [offset, offset + size) is within the file. */
bool elf_internal__in_file(const struct elf_file *file, uint64_t offset, uint64_t size);

/*
 * Returns the string at `offset`, of at most `max` bytes with its zero, malloc'd; NULL if there is
 * none.
 */
char *elf_internal__string(const struct elf_file *file, uint64_t offset, size_t max);

/* As elf_file__vaddr_to_offset; with `executable` only in an executable segment. */
bool elf_internal__map(const struct elf_file *file, uint64_t vaddr, bool executable,
		       uint64_t *offset);

/*
 * Reads PT_DYNAMIC: sets soname, and the location of the dynamic symbol table unless the section
 * headers gave it. Ignores malformed parts.
 */
void elf_dynamic__read(struct elf_file *file, const Elf64_Phdr *segment);

/* Reads the section headers, and sets the locations of the symbol tables that they give. */
void elf_sections__read(struct elf_file *file, const Elf64_Ehdr *header);

#endif
