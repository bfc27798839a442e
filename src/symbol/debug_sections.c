// SPDX-License-Identifier: BSD-2-Clause
// Checks debug sections before libdw reads them; see debug_sections.h.
#include "symbol/debug_sections.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Compilers' output shrinks to a third or a tenth. Only small sections, or ones made for it, shrink
 * to less than this.
 */
#define PACKED_RATIO_MAX 64
#define PACKED_ANYHOW (1u << 20)
/*
 * Several times as many as the largest libraries have (libtorch tens of thousands): 70 MiB in
 * libdw.
 */
#define UNITS_MAX 65536
#define UNIT_SIZE 1100
/* A unit's own abbreviation is usually the first one, and takes about 30 bytes. */
#define ABBREVIATIONS_BYTES_MAX (16u << 20)
#define ABBREVIATION_SIZE 80
#define LEB128_BYTES_MAX 10

struct count {
	struct debug_section abbreviations;
	uint64_t units, read, bytes; /* abbreviations that are read for units, and their bytes */
};

/* Whether libdw reads the section: all of .debug_…, and the name of a supplementary file. */
static bool is_read(const char *name)
{
	return strncmp(name, ".debug_", 7) == 0 || strcmp(name, ".gnu_debugaltlink") == 0;
}

/* Adds a section's size in the file and unpacked. */
static int add_section(Elf_Scn *section, const GElf_Shdr *header, uint64_t *size)
{
	GElf_Chdr compressed = {0};

	if (header->sh_flags & SHF_COMPRESSED && !gelf_getchdr(section, &compressed))
		return -ENOENT;
	if (header->sh_size > DEBUG_SECTIONS_BYTES_MAX ||
	    compressed.ch_size > DEBUG_SECTIONS_BYTES_MAX)
		return -EFBIG;
	if (compressed.ch_size > PACKED_ANYHOW &&
	    compressed.ch_size / PACKED_RATIO_MAX > header->sh_size)
		return -EFBIG;
	*size += header->sh_size + compressed.ch_size;
	return *size > DEBUG_SECTIONS_BYTES_MAX ? -EFBIG : 0;
}

/* Sums up the memory of all sections. */
static int add_sections(Elf *elf, size_t names, uint64_t *size)
{
	bool has_lines = false;
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		int ret;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		/* The older compression format has its size only in its contents. */
		if (name && strncmp(name, ".zdebug_", 8) == 0)
			return -ENOENT;
		if (!name || !is_read(name))
			continue;
		has_lines |= strcmp(name, ".debug_line") == 0;
		ret = add_section(section, &header, size);
		if (ret)
			return ret;
	}
	return has_lines ? 0 : -ENOENT;
}

static int contents(Elf_Scn *section, const GElf_Shdr *header, struct debug_section *bytes)
{
	Elf_Data *data;

	if (header->sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
		return -EBADMSG;
	data = elf_rawdata(section, NULL);
	if (!data || (data->d_size && !data->d_buf))
		return -EBADMSG;
	*bytes = (struct debug_section){.at = data->d_buf, .size = data->d_size};
	return 0;
}

/* Whether libdw may take a section of this name for the wanted one: it may be a split unit's. */
static bool is_taken_for(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return strncmp(name, wanted, length) == 0 &&
	       (!name[length] || strcmp(name + length, ".dwo") == 0);
}

int debug_sections__find(struct Elf *elf, const char *wanted, struct debug_section *found)
{
	Elf_Scn *section = NULL;
	bool is_found = false;
	GElf_Shdr header;
	size_t names;

	*found = (struct debug_section){0};
	if (elf_getshdrstrndx(elf, &names))
		return -EBADMSG;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(elf, names, header.sh_name) :
					   NULL;

		if (!name || !is_taken_for(name, wanted) || header.sh_type == SHT_NOBITS)
			continue;
		if (is_found || name[strlen(wanted)] || contents(section, &header, found)) {
			*found = (struct debug_section){0};
			return -EBADMSG;
		}
		is_found = true;
	}
	return 0;
}

/*
 * Checks that string sections end with a zero: libdw looks for the end of a string without checking
 * the section's end.
 */
static int strings_end(Elf *elf, size_t names)
{
	static const char *const strings[] = {".debug_str", ".debug_line_str"};
	Elf_Scn *section = NULL;
	struct debug_section bytes;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(elf, names, header.sh_name) :
					   NULL;

		if (!name || header.sh_type == SHT_NOBITS ||
		    (strcmp(name, strings[0]) != 0 && strcmp(name, strings[1]) != 0))
			continue;
		if (contents(section, &header, &bytes) || (bytes.size && bytes.at[bytes.size - 1]))
			return -EBADMSG;
	}
	return 0;
}

/* Reads a little-endian number, as in all files that get here; 0 beyond the end. */
static uint64_t number(const struct debug_section *bytes, uint64_t at, size_t size)
{
	uint64_t value = 0;

	if (at <= bytes->size && size <= bytes->size - at)
		memcpy(&value, bytes->at + at, size);
	return value;
}

/* As libdw does: an unterminated or too long number becomes the largest one. */
static uint64_t leb128(const struct debug_section *bytes, uint64_t *at)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < LEB128_BYTES_MAX && *at < bytes->size; i++) {
		uint8_t byte = bytes->at[(*at)++];

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return value;
	}
	return UINT64_MAX;
}

static void skip_abbreviation(const struct debug_section *bytes, uint64_t *at)
{
	uint64_t attribute, form;

	leb128(bytes, at); /* the tag */
	++*at;		   /* whether it has children */
	do {
		attribute = leb128(bytes, at);
		form = leb128(bytes, at);
		if (form == DW_FORM_implicit_const)
			leb128(bytes, at);
	} while ((attribute || form) && *at < bytes->size);
}

/*
 * To find a unit's own abbreviation, libdw keeps all abbreviations before it, again for each unit.
 */
static int count_abbreviations(struct count *count, uint64_t at, uint64_t wanted)
{
	const struct debug_section *bytes = &count->abbreviations;

	while (at < bytes->size) {
		uint64_t start = at, code = leb128(bytes, &at);

		if (!code)
			return 0;
		skip_abbreviation(bytes, &at);
		count->read++;
		count->bytes += at - start;
		if (count->bytes > ABBREVIATIONS_BYTES_MAX)
			return -EFBIG;
		if (code == wanted)
			return 0;
	}
	return 0;
}

/* The size of the header from the version on. */
static uint64_t header_size(uint64_t version, uint64_t type, bool in_types, uint64_t offset_size)
{
	if (version < 5)
		return 2 + offset_size + 1 + (in_types ? 8 + offset_size : 0);
	switch (type) {
	case DW_UT_skeleton:
	case DW_UT_split_compile: return 4 + offset_size + 8;
	case DW_UT_type:
	case DW_UT_split_type: return 4 + offset_size + 8 + offset_size;
	default: return 4 + offset_size;
	}
}

/* `at`: offset of the version; `unit`: the section up to the unit's end. */
static int count_unit(struct count *count, const struct debug_section *unit, uint64_t at,
		      bool in_types, size_t offset_size)
{
	uint64_t version = number(unit, at, 2), type = number(unit, at + 2, 1);
	uint64_t abbreviations = number(unit, at + (version < 5 ? 2 : 4), offset_size);
	uint64_t die = at + header_size(version, type, in_types, offset_size);

	if (++count->units > UNITS_MAX)
		return -EFBIG;
	return count_abbreviations(count, abbreviations, leb128(unit, &die));
}

/* Follows the lengths only: libdw makes no more units than these, and may stop earlier. */
static int count_units(struct count *count, const struct debug_section *section, bool in_types)
{
	uint64_t at = 0;
	int ret = 0;

	while (!ret && at < section->size && section->size - at > 4) {
		uint64_t length = number(section, at, 4), left;
		bool is_long = length == UINT32_MAX;
		struct debug_section unit;

		at += 4;
		if (is_long) {
			length = number(section, at, 8);
			at += 8;
		}
		left = at < section->size ? section->size - at : 0;
		/* The end of such a unit may wrap around to before its start. */
		if (is_long && length > left)
			return -EBADMSG;
		unit = (struct debug_section){.at = section->at,
					      .size = at + (length < left ? length : left)};
		ret = count_unit(count, &unit, at, in_types, is_long ? 8 : 4);
		at += length;
	}
	return ret;
}

int debug_sections__check(struct Elf *elf, uint64_t *size)
{
	struct count count = {.units = 0};
	struct debug_section info, types;
	size_t names;
	int ret;

	*size = 0;
	if (elf_getshdrstrndx(elf, &names))
		return -ENOENT;
	ret = add_sections(elf, names, size);
	ret = ret ? ret : strings_end(elf, names);
	ret = ret ? ret : debug_sections__find(elf, ".debug_abbrev", &count.abbreviations);
	ret = ret ? ret : debug_sections__find(elf, ".debug_info", &info);
	ret = ret ? ret : debug_sections__find(elf, ".debug_types", &types);
	ret = ret ? ret : count_units(&count, &info, false);
	ret = ret ? ret : count_units(&count, &types, true);
	*size += count.units * UNIT_SIZE + count.read * ABBREVIATION_SIZE;
	return ret;
}
