// SPDX-License-Identifier: BSD-2-Clause
// Opens ELF files for libelf; see bounded_elf.h.
#include "symbol/bounded_elf.h"

#include <gelf.h>
#include <stdbool.h>
#include <unistd.h>

/* Linked files have some hundred bytes. libelf reads all of them. */
#define NAMES_BYTES_MAX (1u << 20)

/*
 * The header's count only goes up to 65,279 sections, more than any program has. Files with a count
 * elsewhere are refused, because libelf would make a structure for as many as the file says.
 */
static bool has_few_sections(int fd)
{
	Elf64_Ehdr header;

	return pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_shnum;
}

static bool names_are_short(Elf *elf)
{
	Elf_Scn *section;
	GElf_Shdr header;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		return false;
	section = elf_getscn(elf, names);
	return section && gelf_getshdr(section, &header) && header.sh_size <= NAMES_BYTES_MAX &&
	       !(header.sh_flags & SHF_COMPRESSED);
}

struct Elf *bounded_elf__open(int fd)
{
	Elf *elf;

	if (!has_few_sections(fd))
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && names_are_short(elf))
		return elf;
	elf_end(elf);
	return NULL;
}
