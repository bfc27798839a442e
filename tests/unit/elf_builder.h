/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds small ELF files in memory for the tests. Code starts at file offset 0x1000 and address
 * 0x411000, so that a mistaken offset shows; each function has 64 bytes there. A table that an
 * option leaves out is really absent.
 */
#ifndef TESTS_ELF_BUILDER_H
#define TESTS_ELF_BUILDER_H

#include <assert.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_OFFSET 0x1000u
#define TEXT_VADDR 0x411000ull
#define TEXT_SIZE 0x100000u
#define DATA_OFFSET (TEXT_OFFSET + TEXT_SIZE)
#define DATA_VADDR 0x700000ull
#define FUNCTION_VADDR(n) (TEXT_VADDR + (n)*64ull)
#define FUNCTION_OFFSET(n) (TEXT_OFFSET + (n)*64ull)

enum test_hash {
	HASH_GNU,
	HASH_SYSV,
	HASH_NONE
};

struct test_symbol {
	const char *name;
	uint64_t value;
	uint64_t size;
	unsigned char info; /* ELF64_ST_INFO; 0 means a global function */
	uint16_t section;   /* SHN_UNDEF if undefined; 1 otherwise */
};

struct test_elf {
	const struct test_symbol *dynamic; /* ends with a NULL name */
	const struct test_symbol *full;
	const char *soname;
	const char *interpreter;
	bool no_sections;
	enum test_hash hash;
	uint8_t first_byte; /* of every function; push %rbp if 0 */
};

struct test_image {
	uint8_t *bytes;
	size_t size, capacity;
	/* Offsets, for tests that damage the file. */
	uint64_t full_symbols, full_strings, dynamic_strings, sections;
};

static inline uint64_t image_put(struct test_image *image, const void *data, size_t size)
{
	uint64_t at = (image->size + 15) / 16 * 16;

	if (at + size > image->capacity) {
		image->capacity = (at + size) * 2;
		image->bytes = realloc(image->bytes, image->capacity);
		assert(image->bytes);
	}
	memset(image->bytes + image->size, 0, at - image->size);
	if (data)
		memcpy(image->bytes + at, data, size);
	else
		memset(image->bytes + at, 0, size);
	image->size = at + size;
	return at;
}

static inline size_t count_symbols(const struct test_symbol *symbols)
{
	size_t count = 0;

	while (symbols && symbols[count].name)
		count++;
	return count;
}

/* Writes the symbols (after the empty first one) and their names; `extra` ends the names. */
static inline void put_table(struct test_image *image, const struct test_symbol *symbols,
			     const char *extra, uint64_t *table, uint64_t *strings,
			     uint64_t *strings_size, uint32_t *extra_name)
{
	size_t count = count_symbols(symbols), size = 1, at = 1;
	Elf64_Sym *entries = calloc(count + 1, sizeof(*entries));
	char *names;

	for (size_t i = 0; i < count; i++)
		size += strlen(symbols[i].name) + 1;
	size += extra ? strlen(extra) + 1 : 0;
	names = calloc(1, size);
	assert(entries && names);
	for (size_t i = 0; i < count; i++) {
		entries[i + 1].st_name = (uint32_t)at;
		entries[i + 1].st_value = symbols[i].value;
		entries[i + 1].st_size = symbols[i].size;
		entries[i + 1].st_info =
			symbols[i].info ? symbols[i].info : ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		entries[i + 1].st_shndx = symbols[i].section;
		at += (size_t)(stpcpy(names + at, symbols[i].name) - (names + at)) + 1;
	}
	if (extra) {
		*extra_name = (uint32_t)at;
		strcpy(names + at, extra);
	}
	*table = image_put(image, entries, (count + 1) * sizeof(*entries));
	*strings = image_put(image, names, size);
	*strings_size = size;
	free(entries);
	free(names);
}

/* One bucket and one chain with all symbols are enough: only their count is read. */
static inline uint64_t put_hash(struct test_image *image, enum test_hash kind, size_t count)
{
	uint32_t *words = calloc(count + 16, 4);
	uint64_t at;

	assert(words);
	if (kind == HASH_SYSV) {
		words[0] = 1;
		words[1] = (uint32_t)count + 1;
		at = image_put(image, words, (count + 4) * 4);
	} else {
		words[0] = 1; /* buckets, first symbol, bloom words */
		words[1] = 1;
		words[2] = 1;
		words[6] = count ? 1 : 0;
		if (count)
			words[7 + count - 1] = 1;
		at = image_put(image, words, (7 + count) * 4);
	}
	free(words);
	return at;
}

static inline uint64_t data_vaddr(uint64_t offset)
{
	return offset - DATA_OFFSET + DATA_VADDR;
}

static inline uint64_t put_dynamic(struct test_image *image, const struct test_elf *elf,
				   Elf64_Shdr *table, Elf64_Shdr *strings, size_t *size)
{
	Elf64_Dyn entries[8] = {0};
	uint32_t soname = 0;
	size_t n = 0;

	put_table(image, elf->dynamic, elf->soname, &table->sh_offset, &strings->sh_offset,
		  &strings->sh_size, &soname);
	table->sh_size = (count_symbols(elf->dynamic) + 1) * sizeof(Elf64_Sym);
	entries[n++] = (Elf64_Dyn){DT_SYMTAB, {data_vaddr(table->sh_offset)}};
	entries[n++] = (Elf64_Dyn){DT_STRTAB, {data_vaddr(strings->sh_offset)}};
	entries[n++] = (Elf64_Dyn){DT_STRSZ, {strings->sh_size}};
	if (elf->soname)
		entries[n++] = (Elf64_Dyn){DT_SONAME, {soname}};
	if (elf->hash != HASH_NONE) {
		uint64_t hash = put_hash(image, elf->hash, count_symbols(elf->dynamic));

		entries[n++] = (Elf64_Dyn){elf->hash == HASH_SYSV ? DT_HASH : DT_GNU_HASH,
					   {data_vaddr(hash)}};
	}
	*size = sizeof(entries);
	return image_put(image, entries, sizeof(entries));
}

static inline void fill_code(struct test_image *image, uint8_t first)
{
	uint64_t at = (image->size + 15) / 16 * 16;

	image_put(image, NULL, DATA_OFFSET - at);
	for (uint64_t i = TEXT_OFFSET; i < DATA_OFFSET; i += 64)
		image->bytes[i] = first ? first : 0x55;
	assert(at <= TEXT_OFFSET && image->size == DATA_OFFSET);
}

static inline struct test_image build_elf(const struct test_elf *elf)
{
	static const struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[20];
	} note = {
		{4, 20, NT_GNU_BUILD_ID},
		"GNU",
		{0xab, 0xcd, 0xef},
	};
	struct test_image image = {0};
	Elf64_Phdr segments[5] = {0};
	Elf64_Shdr sections[5] = {0};
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	size_t n = 0, dynamic_size;
	uint64_t at;

	image_put(&image, &header, sizeof(header));
	image_put(&image, segments, sizeof(segments));
	fill_code(&image, elf->first_byte);
	segments[n++] = (Elf64_Phdr){PT_LOAD,	 PF_R | PF_X, TEXT_OFFSET, TEXT_VADDR,
				     TEXT_VADDR, TEXT_SIZE,   TEXT_SIZE,   0x1000};
	at = image_put(&image, &note, sizeof(note));
	segments[n++] = (Elf64_Phdr){PT_NOTE, PF_R, at, 0, 0, sizeof(note), sizeof(note), 4};
	if (elf->interpreter) {
		at = image_put(&image, elf->interpreter, strlen(elf->interpreter) + 1);
		segments[n++] =
			(Elf64_Phdr){PT_INTERP, PF_R, at, 0, 0, strlen(elf->interpreter) + 1, 0, 1};
	}
	if (elf->dynamic) {
		at = put_dynamic(&image, elf, &sections[1], &sections[2], &dynamic_size);
		segments[n++] = (Elf64_Phdr){PT_DYNAMIC, PF_R,	       at,	     data_vaddr(at),
					     0,		 dynamic_size, dynamic_size, 8};
		sections[1].sh_type = SHT_DYNSYM;
		sections[1].sh_entsize = sizeof(Elf64_Sym);
		sections[1].sh_link = 2;
		sections[2].sh_type = SHT_STRTAB;
		image.dynamic_strings = sections[2].sh_offset;
	}
	segments[n++] = (Elf64_Phdr){PT_LOAD,
				     PF_R | PF_W,
				     DATA_OFFSET,
				     DATA_VADDR,
				     DATA_VADDR,
				     image.size - DATA_OFFSET,
				     image.size - DATA_OFFSET,
				     0x1000};
	if (elf->full) {
		put_table(&image, elf->full, NULL, &sections[3].sh_offset, &sections[4].sh_offset,
			  &sections[4].sh_size, NULL);
		sections[3].sh_type = SHT_SYMTAB;
		sections[3].sh_entsize = sizeof(Elf64_Sym);
		sections[3].sh_size = (count_symbols(elf->full) + 1) * sizeof(Elf64_Sym);
		sections[3].sh_link = 4;
		sections[4].sh_type = SHT_STRTAB;
		image.full_symbols = sections[3].sh_offset;
		image.full_strings = sections[4].sh_offset;
	}
	header.e_phnum = (uint16_t)n;
	if (!elf->no_sections) {
		header.e_shoff = image_put(&image, sections, sizeof(sections));
		header.e_shnum = 5;
		image.sections = header.e_shoff;
	}
	memcpy(image.bytes, &header, sizeof(header));
	memcpy(image.bytes + sizeof(header), segments, n * sizeof(*segments));
	return image;
}

/* The image as a file; the caller closes the descriptor. */
static inline int image_fd(const struct test_image *image, size_t size)
{
	int fd = memfd_create("test.elf", MFD_CLOEXEC);
	size_t done = 0;

	assert(fd >= 0);
	while (done < size) {
		ssize_t n = write(fd, image->bytes + done, size - done);

		assert(n > 0);
		done += (size_t)n;
	}
	return fd;
}

#endif
