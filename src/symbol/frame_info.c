// SPDX-License-Identifier: BSD-2-Clause
// Checks call frame information before libdw reads it; see frame_info.h.
//
// An instruction may name a register that makes libdw take gigabytes, or remember states endlessly.
// The search table may lead libdw into the middle of an entry, where it reads something else.
#include "symbol/frame_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/bounded_elf.h"

#define SECTION_BYTES_MAX (256ull << 20)
/* Without a search table libdw reads all entries, and keeps several times their size. */
#define UNSORTED_BYTES_MAX (16ull << 20)
#define REGISTERS_MAX 128
#define REMEMBERED_MAX 64 /* at a time; compilers use a handful */
#define CIES_KNOWN 64
#define POINTER_SIZES 0x0f
/* The only table format that linkers produce and libdw searches. */
#define TABLE_VERSION 1
#define TABLE_FORM (DW_EH_PE_datarel | DW_EH_PE_sdata4)
#define TABLE_AT 12

struct bytes {
	const uint8_t *at, *end;
};

/* What an FDE needs from its CIE. */
struct cie {
	uint64_t offset;
	uint8_t pointer_form;
	bool augmented, known;
};

struct check {
	const unsigned char *ident;
	Elf_Data *data;
	GElf_Shdr section;
	uint64_t *begins; /* one bit for each 4-byte position: an entry begins there */
	struct cie cies[CIES_KNOWN];
};

static bool skip(struct bytes *bytes, uint64_t count)
{
	if (count > (uint64_t)(bytes->end - bytes->at))
		return false;
	bytes->at += count;
	return true;
}

static bool read_uleb(struct bytes *bytes, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; bytes->at < bytes->end && shift < 64; shift += 7) {
		uint8_t byte = *bytes->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool skip_leb(struct bytes *bytes)
{
	uint64_t ignored;

	return read_uleb(bytes, &ignored);
}

static bool skip_register(struct bytes *bytes)
{
	uint64_t number;

	return read_uleb(bytes, &number) && number < REGISTERS_MAX;
}

static bool skip_block(struct bytes *bytes)
{
	uint64_t size;

	return read_uleb(bytes, &size) && skip(bytes, size);
}

static bool skip_pointer(struct bytes *bytes, uint8_t form)
{
	switch (form & POINTER_SIZES) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: return skip(bytes, 8);
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4: return skip(bytes, 4);
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2: return skip(bytes, 2);
	case DW_EH_PE_uleb128:
	case DW_EH_PE_sleb128: return skip_leb(bytes);
	default: return false;
	}
}

static bool skip_operands(struct bytes *bytes, uint8_t operation, uint8_t pointer_form)
{
	switch (operation) {
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
	case DW_CFA_GNU_window_save: return true;
	case DW_CFA_set_loc: return skip_pointer(bytes, pointer_form);
	case DW_CFA_advance_loc1: return skip(bytes, 1);
	case DW_CFA_advance_loc2: return skip(bytes, 2);
	case DW_CFA_advance_loc4: return skip(bytes, 4);
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_GNU_args_size: return skip_leb(bytes);
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register: return skip_register(bytes);
	case DW_CFA_register:
		/* Two of them. NOLINTNEXTLINE(misc-redundant-expression) */
		return skip_register(bytes) && skip_register(bytes);
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_GNU_negative_offset_extended: return skip_register(bytes) && skip_leb(bytes);
	case DW_CFA_def_cfa_expression: return skip_block(bytes);
	case DW_CFA_expression:
	case DW_CFA_val_expression: return skip_register(bytes) && skip_block(bytes);
	default: return false;
	}
}

static bool instructions_are_sane(struct bytes bytes, uint8_t pointer_form)
{
	unsigned int remembered = 0;

	while (bytes.at < bytes.end) {
		uint8_t operation = *bytes.at++;

		if ((operation & 0xc0) == DW_CFA_offset) {
			if (!skip_leb(&bytes))
				return false;
			continue;
		}
		if (operation & 0xc0) /* DW_CFA_advance_loc, DW_CFA_restore: a single byte */
			continue;
		if (operation == DW_CFA_remember_state && ++remembered > REMEMBERED_MAX)
			return false;
		if (operation == DW_CFA_restore_state && remembered-- == 0)
			return false;
		if (!skip_operands(&bytes, operation, pointer_form))
			return false;
	}
	return true;
}

/* Reads the address format used in the FDEs of a CIE. */
static bool read_augmentation(const Dwarf_CIE *entry, struct cie *cie)
{
	struct bytes bytes = {entry->augmentation_data,
			      entry->augmentation_data + entry->augmentation_data_size};
	const char *letter = entry->augmentation;

	cie->pointer_form = DW_EH_PE_absptr;
	cie->augmented = *letter == 'z';
	if (!cie->augmented)
		return *letter == '\0';
	while (*++letter) {
		uint8_t form;

		if (*letter == 'S' || *letter == 'B')
			continue;
		if (!strchr("LRP", *letter) || bytes.at == bytes.end)
			return false;
		form = *bytes.at++;
		if (*letter == 'R')
			cie->pointer_form = form;
		else if (*letter == 'P' && !skip_pointer(&bytes, form))
			return false;
	}
	return true;
}

static bool begins_at(const struct check *check, uint64_t offset)
{
	return offset < check->data->d_size && offset % 4 == 0 &&
	       check->begins[offset / 256] >> offset / 4 % 64 & 1;
}

static bool cie_is_sane(struct check *check, uint64_t offset, const Dwarf_CIE *entry)
{
	struct cie *cie = &check->cies[offset / 4 % CIES_KNOWN];
	struct bytes instructions = {entry->initial_instructions, entry->initial_instructions_end};

	*cie = (struct cie){.offset = offset, .known = true};
	return read_augmentation(entry, cie) && entry->return_address_register < REGISTERS_MAX &&
	       instructions_are_sane(instructions, cie->pointer_form);
}

/* An entry of check->cies that another CIE has replaced is read again. */
static const struct cie *find_cie(struct check *check, uint64_t offset)
{
	struct cie *cie = &check->cies[offset / 4 % CIES_KNOWN];
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (cie->known && cie->offset == offset)
		return cie;
	if (!begins_at(check, offset) ||
	    dwarf_next_cfi(check->ident, check->data, true, offset, &next, &entry) ||
	    entry.CIE_id != DW_CIE_ID_64)
		return NULL;
	return cie_is_sane(check, offset, &entry.cie) ? cie : NULL;
}

static bool fde_is_sane(struct check *check, const Dwarf_FDE *entry)
{
	const struct cie *cie = find_cie(check, entry->CIE_pointer);
	struct bytes bytes = {entry->start, entry->end};

	return cie && skip_pointer(&bytes, cie->pointer_form) &&
	       skip_pointer(&bytes, cie->pointer_form) && (!cie->augmented || skip_block(&bytes)) &&
	       instructions_are_sane(bytes, cie->pointer_form);
}

static bool entries_are_sane(struct check *check)
{
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	int ret;

	while (!(ret = dwarf_next_cfi(check->ident, check->data, true, offset, &next, &entry))) {
		if (next <= offset || offset % 4)
			return false;
		check->begins[offset / 256] |= 1ull << offset / 4 % 64;
		if (entry.CIE_id == DW_CIE_ID_64 ? !cie_is_sane(check, offset, &entry.cie) :
						   !fde_is_sane(check, &entry.fde))
			return false;
		offset = next;
	}
	return ret > 0;
}

/* .eh_frame_hdr: version, formats, address of .eh_frame, count, and (code, FDE) for each. */
static bool table_is_sane(const struct check *check, const GElf_Shdr *header, const Elf_Data *data)
{
	const uint8_t *bytes = data->d_buf;
	uint32_t count;

	if (data->d_size < TABLE_AT || bytes[0] != TABLE_VERSION || bytes[2] != DW_EH_PE_udata4 ||
	    bytes[3] != TABLE_FORM)
		return false;
	memcpy(&count, bytes + 8, sizeof(count));
	if (count > (data->d_size - TABLE_AT) / 8)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		int32_t entry;

		memcpy(&entry, bytes + TABLE_AT + 8 * (size_t)i + 4, sizeof(entry));
		if (!begins_at(check,
			       header->sh_addr + (uint64_t)(int64_t)entry - check->section.sh_addr))
			return false;
	}
	return true;
}

/*
 * Finds the section with this name; NULL if there is none. Returns false if there are two, or if it
 * is larger than any library's, or has no contents.
 */
static bool find_section(Elf *elf, const char *wanted, Elf_Scn **found, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	GElf_Shdr candidate;
	size_t names;

	*found = NULL;
	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &candidate) ?
					   elf_strptr(elf, names, candidate.sh_name) :
					   NULL;

		if (!name || strcmp(name, wanted) != 0)
			continue;
		if (*found || candidate.sh_type == SHT_NOBITS ||
		    candidate.sh_size > SECTION_BYTES_MAX)
			return false;
		*header = candidate;
		*found = section;
	}
	return true;
}

/*
 * LLVM's tools give .eh_frame the type that the ABI defines for it, which libdw 0.188 does not
 * know.
 */
static bool make_known(Elf_Scn *section, GElf_Shdr *header)
{
	if (header->sh_type == SHT_PROGBITS)
		return true;
	if (header->sh_type != SHT_X86_64_UNWIND)
		return false;
	header->sh_type = SHT_PROGBITS;
	return gelf_update_shdr(section, header) != 0;
}

/* Without a table the section must be smaller. */
static bool check_table(const struct check *check, Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *section;
	Elf_Data *data;

	if (!find_section(elf, ".eh_frame_hdr", &section, &header))
		return false;
	if (!section)
		return check->data->d_size <= UNSORTED_BYTES_MAX;
	data = elf_rawdata(section, NULL);
	return data && data->d_buf && table_is_sane(check, &header, data);
}

static bool is_sane(Elf *elf, uint64_t *size)
{
	struct check check = {.ident = (const unsigned char *)elf_getident(elf, NULL)};
	Elf_Scn *section;
	bool sane;

	if (!check.ident || !find_section(elf, ".eh_frame", &section, &check.section) || !section ||
	    !make_known(section, &check.section))
		return false;
	check.data = elf_rawdata(section, NULL);
	if (!check.data || !check.data->d_buf)
		return false;
	check.begins = calloc(check.data->d_size / 256 + 1, sizeof(*check.begins));
	if (!check.begins)
		return false;
	sane = entries_are_sane(&check) && check_table(&check, elf);
	free(check.begins);
	/* Adds half for the search table and for entries that have been read. */
	*size = check.data->d_size + check.data->d_size / 2;
	return sane;
}

struct Elf *frame_info__open(int fd, uint64_t *size)
{
	Elf *elf = bounded_elf__open(fd);

	*size = 0;
	if (elf && is_sane(elf, size))
		return elf;
	elf_end(elf);
	*size = 0;
	return NULL;
}
