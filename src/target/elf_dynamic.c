// SPDX-License-Identifier: BSD-2-Clause
// Finds an ELF file's symbol tables: by its section headers or, if those were stripped or are
// wrong, by PT_DYNAMIC, which the loader itself uses.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf_internal.h"

#define SECTIONS_MAX 65536
#define SECTION_NAME_MAX 256
#define DYNAMIC_MAX 4096
#define SONAME_MAX 1024
#define BUCKETS_MAX (1u << 24)
#define CHAIN_MAX 65536

static void set_table(struct elf_file *file, enum elf_table which, const struct symbol_table *found)
{
	struct symbol_table *table = &file->tables[which];

	*table = *found;
	table->present = true;
	table->broken =
		found->count > ELF_SYMBOLS_MAX ||
		!elf_internal__in_file(file, found->symbols, found->count * sizeof(Elf64_Sym)) ||
		!elf_internal__in_file(file, found->strings, found->strings_size) ||
		found->strings_size > ELF_STRINGS_MAX;
}

static uint64_t count_sections(const struct elf_file *file, const Elf64_Ehdr *header)
{
	Elf64_Shdr first;

	if (!header->e_shoff || header->e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	if (header->e_shnum)
		return header->e_shnum;
	if (elf_internal__read_all(file, header->e_shoff, &first, sizeof(first)))
		return 0;
	return first.sh_size;
}

static void read_table_section(struct elf_file *file, enum elf_table which,
			       const Elf64_Shdr *section, const Elf64_Shdr *strings)
{
	struct symbol_table found = {
		.symbols = section->sh_offset,
		.count = section->sh_size / sizeof(Elf64_Sym),
		.strings = strings->sh_offset,
		.strings_size = strings->sh_size,
	};

	if (section->sh_entsize != sizeof(Elf64_Sym) || strings->sh_type != SHT_STRTAB)
		return;
	if (!file->tables[which].present)
		set_table(file, which, &found);
}

#define DEBUG_LINK ".gnu_debuglink"
#define DEBUG_LINK_MAX 512 /* a file name, padding, the CRC */

/* Contents: the file's name with its zero, padded to a multiple of four, and the CRC. */
static void take_debug_link(struct elf_file *file, const Elf64_Shdr *section)
{
	char contents[DEBUG_LINK_MAX];
	size_t length, size = section->sh_size;

	if (file->debug_link || size > sizeof(contents) ||
	    elf_internal__read_all(file, section->sh_offset, contents, size))
		return;
	length = strnlen(contents, size);
	if (!length || (length + 4) / 4 * 4 + sizeof(file->debug_crc) > size ||
	    memchr(contents, '/', length))
		return;
	memcpy(&file->debug_crc, contents + (length + 4) / 4 * 4, sizeof(file->debug_crc));
	file->debug_link = strndup(contents, length);
}

/* Other sections are identified by their types; this one only by its name. */
static void find_debug_link(struct elf_file *file, const Elf64_Shdr *sections, uint64_t count,
			    uint64_t names)
{
	char name[sizeof(DEBUG_LINK)];

	if (names >= count)
		return;
	for (uint64_t i = 0; i < count; i++) {
		const Elf64_Shdr *section = &sections[i];

		if (section->sh_type != SHT_PROGBITS || section->sh_flags ||
		    section->sh_size > DEBUG_LINK_MAX ||
		    elf_internal__read_all(file, sections[names].sh_offset + section->sh_name, name,
					   sizeof(name)))
			continue;
		if (memcmp(name, DEBUG_LINK, sizeof(name)) == 0)
			take_debug_link(file, section);
	}
}

/* Returns all section headers (malloc), *count of them, or NULL. */
static Elf64_Shdr *read_sections(const struct elf_file *file, const Elf64_Ehdr *header,
				 uint64_t *count)
{
	Elf64_Shdr *sections;

	*count = count_sections(file, header);
	if (!*count || *count > SECTIONS_MAX ||
	    !elf_internal__in_file(file, header->e_shoff, *count * sizeof(Elf64_Shdr)))
		return NULL;
	sections = malloc(*count * sizeof(Elf64_Shdr));
	if (sections &&
	    elf_internal__read_all(file, header->e_shoff, sections, *count * sizeof(Elf64_Shdr))) {
		free(sections);
		return NULL;
	}
	return sections;
}

/* Finds a section that is loaded, or one that is not and has contents in the file. */
static bool find_section(const struct elf_file *file, const char *name, bool loaded,
			 Elf64_Shdr *section)
{
	uint64_t count = 0, names;
	bool found = false;
	Elf64_Shdr *sections;
	Elf64_Ehdr header;
	char *text;

	if (elf_internal__read_all(file, 0, &header, sizeof(header)))
		return false;
	sections = read_sections(file, &header, &count);
	if (!sections || header.e_shstrndx >= count)
		goto out;
	names = sections[header.e_shstrndx].sh_offset;
	for (uint64_t i = 0; i < count && !found; i++) {
		if (loaded ? !(sections[i].sh_flags & SHF_ALLOC) :
			     sections[i].sh_flags & SHF_ALLOC || sections[i].sh_type == SHT_NOBITS)
			continue;
		text = elf_internal__string(file, names + sections[i].sh_name, SECTION_NAME_MAX);
		found = text && strcmp(text, name) == 0;
		*section = sections[i];
		free(text);
	}
out:
	free(sections);
	return found;
}

bool elf_file__find_section(const struct elf_file *file, const char *name, uint64_t *vaddr)
{
	Elf64_Shdr section;

	if (!find_section(file, name, true, &section))
		return false;
	*vaddr = section.sh_addr;
	return true;
}

bool elf_file__find_contents(const struct elf_file *file, const char *name,
			     struct elf_section *section)
{
	Elf64_Shdr found;

	if (!find_section(file, name, false, &found) ||
	    !elf_internal__in_file(file, found.sh_offset, found.sh_size))
		return false;
	*section = (struct elf_section){.offset = found.sh_offset, .size = found.sh_size};
	return true;
}

bool elf_file__has_lines(const struct elf_file *file)
{
	Elf64_Shdr section;

	return find_section(file, ".debug_line", false, &section);
}

void elf_sections__read(struct elf_file *file, const Elf64_Ehdr *header)
{
	uint64_t count;
	Elf64_Shdr *sections = read_sections(file, header, &count);

	if (!sections)
		return;
	for (uint64_t i = 0; i < count; i++) {
		const Elf64_Shdr *section = &sections[i];

		if (section->sh_link >= count)
			continue;
		if (section->sh_type == SHT_DYNSYM)
			read_table_section(file, ELF_TABLE_DYNAMIC, section,
					   &sections[section->sh_link]);
		else if (section->sh_type == SHT_SYMTAB)
			read_table_section(file, ELF_TABLE_FULL, section,
					   &sections[section->sh_link]);
	}
	find_debug_link(file, sections, count, header->e_shstrndx);
	free(sections);
}

struct dynamic {
	uint64_t symbols, strings, strings_size, soname, hash, gnu_hash; /* addresses and sizes */
	bool has_soname;
};

static void take_entry(struct dynamic *dynamic, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB: dynamic->symbols = entry->d_un.d_ptr; break;
	case DT_STRTAB: dynamic->strings = entry->d_un.d_ptr; break;
	case DT_STRSZ: dynamic->strings_size = entry->d_un.d_val; break;
	case DT_SONAME:
		dynamic->soname = entry->d_un.d_val;
		dynamic->has_soname = true;
		break;
	case DT_HASH: dynamic->hash = entry->d_un.d_ptr; break;
	case DT_GNU_HASH: dynamic->gnu_hash = entry->d_un.d_ptr; break;
	}
}

static uint64_t last_bucket(const struct elf_file *file, uint64_t offset, uint32_t count)
{
	uint32_t chunk[1024];
	uint64_t last = 0;

	for (uint32_t at = 0; at < count;) {
		uint32_t n = count - at < 1024 ? count - at : 1024;

		if (elf_internal__read_all(file, offset + at * 4ull, chunk, n * 4ull))
			return 0;
		for (uint32_t i = 0; i < n; i++) {
			if (chunk[i] > last)
				last = chunk[i];
		}
		at += n;
	}
	return last;
}

/*
 * A GNU hash table does not give the number of symbols; it follows from the end of the last chain.
 */
static uint64_t count_by_gnu_hash(const struct elf_file *file, uint64_t offset)
{
	uint32_t header[4]; /* buckets, first symbol, bloom words, shift */
	uint64_t buckets, chains, last;
	uint32_t word;

	if (elf_internal__read_all(file, offset, header, sizeof(header)) ||
	    header[0] > BUCKETS_MAX || header[2] > BUCKETS_MAX)
		return 0;
	buckets = offset + sizeof(header) + header[2] * 8ull;
	chains = buckets + header[0] * 4ull;
	last = last_bucket(file, buckets, header[0]);
	if (last < header[1])
		return 0;
	for (unsigned int i = 0; i < CHAIN_MAX; i++, last++) {
		if (elf_internal__read_all(file, chains + (last - header[1]) * 4, &word, 4))
			return 0;
		if (word & 1)
			return last + 1;
	}
	return 0;
}

static uint64_t count_symbols(const struct elf_file *file, const struct dynamic *dynamic)
{
	uint32_t header[2]; /* buckets, symbols */
	uint64_t offset;

	if (dynamic->hash && elf_file__vaddr_to_offset(file, dynamic->hash, &offset) &&
	    !elf_internal__read_all(file, offset, header, sizeof(header)))
		return header[1];
	if (dynamic->gnu_hash && elf_file__vaddr_to_offset(file, dynamic->gnu_hash, &offset))
		return count_by_gnu_hash(file, offset);
	return 0;
}

static void find_dynamic_table(struct elf_file *file, const struct dynamic *dynamic)
{
	struct symbol_table found = {.strings_size = dynamic->strings_size};

	if (!elf_file__vaddr_to_offset(file, dynamic->symbols, &found.symbols) ||
	    !elf_file__vaddr_to_offset(file, dynamic->strings, &found.strings))
		return;
	found.count = count_symbols(file, dynamic);
	set_table(file, ELF_TABLE_DYNAMIC, &found);
}

/* Returns the entries (malloc), *count of them before DT_NULL, or NULL. */
static Elf64_Dyn *read_entries(const struct elf_file *file, const Elf64_Phdr *segment,
			       size_t *count)
{
	size_t room = segment->p_filesz / sizeof(Elf64_Dyn);
	Elf64_Dyn *entries;

	if (room > DYNAMIC_MAX)
		room = DYNAMIC_MAX;
	entries = calloc(room ? room : 1, sizeof(*entries));
	if (entries &&
	    elf_internal__read_all(file, segment->p_offset, entries, room * sizeof(*entries))) {
		free(entries);
		return NULL;
	}
	*count = 0;
	while (entries && *count < room && entries[*count].d_tag != DT_NULL)
		(*count)++;
	return entries;
}

void elf_dynamic__read(struct elf_file *file, const Elf64_Phdr *segment)
{
	struct dynamic dynamic = {0};
	uint64_t strings;
	size_t count = 0;
	Elf64_Dyn *entries = read_entries(file, segment, &count);

	for (size_t i = 0; i < count; i++)
		take_entry(&dynamic, &entries[i]);
	if (dynamic.has_soname && dynamic.soname < dynamic.strings_size &&
	    elf_file__vaddr_to_offset(file, dynamic.strings, &strings))
		file->soname = elf_internal__string(file, strings + dynamic.soname, SONAME_MAX);
	if (!file->tables[ELF_TABLE_DYNAMIC].present)
		find_dynamic_table(file, &dynamic);
	free(entries);
}

static bool has_prefix(const struct elf_file *file, uint64_t offset, const char *prefix)
{
	char *name = elf_internal__string(file, offset, SONAME_MAX);
	bool has = name && !strncmp(name, prefix, strlen(prefix));

	free(name);
	return has;
}

bool elf_file__needs(const struct elf_file *file, const char *prefix)
{
	const Elf64_Phdr *segment = NULL;
	struct dynamic dynamic = {0};
	Elf64_Dyn *entries = NULL;
	uint64_t strings = 0;
	bool needs = false;
	size_t count = 0;

	for (size_t i = 0; i < file->segment_count && !segment; i++)
		if (file->segments[i].p_type == PT_DYNAMIC)
			segment = &file->segments[i];
	if (segment)
		entries = read_entries(file, segment, &count);
	for (size_t i = 0; i < count; i++)
		take_entry(&dynamic, &entries[i]);
	if (!elf_file__vaddr_to_offset(file, dynamic.strings, &strings))
		count = 0;
	for (size_t i = 0; i < count && !needs; i++)
		needs = entries[i].d_tag == DT_NEEDED &&
			entries[i].d_un.d_val < dynamic.strings_size &&
			has_prefix(file, strings + entries[i].d_un.d_val, prefix);
	free(entries);
	return needs;
}
