// SPDX-License-Identifier: BSD-2-Clause
// Looks at call frame information before libdw does, see frame_info.h.
#include "symbol/frame_info.h"

#include <gelf.h>
#include <string.h>

#define SECTION_BYTES_MAX (256ull << 20)

/* The section with this name, NULL where there is none in the file. */
static Elf_Scn *find_section(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;

		if (name && strcmp(name, wanted) == 0)
			return header->sh_type == SHT_NOBITS ? NULL : section;
	}
	return NULL;
}

struct Elf *frame_info__open(int fd, uint64_t *size)
{
	GElf_Shdr header;
	Elf *elf;

	*size = 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && find_section(elf, ".eh_frame", &header) && header.sh_size <= SECTION_BYTES_MAX) {
		*size = header.sh_size;
		return elf;
	}
	elf_end(elf);
	return NULL;
}
