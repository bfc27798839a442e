// SPDX-License-Identifier: BSD-2-Clause
// ELF files for libelf, see bounded_elf.h.
#include "symbol/bounded_elf.h"

#include <gelf.h>
#include <stdbool.h>
#include <unistd.h>

/* Some hundred bytes in linked files. libelf reads them whole. */
#define NAMES_BYTES_MAX (1u << 20)

/*
 * Not counted in the header are more than 65,279 sections, which no program has: libelf would make a structure
 * for each of as many as the file says.
 */
static bool has_few_sections(int fd)
{
	Elf64_Ehdr header;

	return pread(fd, &header, sizeof(header), 0) == sizeof(header) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_shnum;
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
