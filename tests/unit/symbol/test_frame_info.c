// SPDX-License-Identifier: BSD-2-Clause
// Which call frame information is accepted: what linkers write is, and what would mislead libdw is
// not.
#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forged_program.h"

/* Information that would make libdw take gigabytes. */
static void absurd_frame_information_is_refused(void **state)
{
	static const uint8_t usual[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset + 16, 1};
	static const uint8_t absurd[] = {DW_CFA_undefined, 0xff, 0xff, 0xff, 0x7f};
	struct forged forged = copy_program();
	uint8_t *at =
		memmem(forged.bytes + forged.frames, forged.frames_size, usual, sizeof(usual));

	(void)state;
	write_forged(&forged);
	assert_true(is_believed(&forged));
	drop_forged(&forged);
	assert_non_null(at);
	memcpy(at, absurd, sizeof(absurd));
	write_forged(&forged);
	assert_false(is_believed(&forged));
	drop_forged(&forged);
	memcpy(at, usual, sizeof(usual));
	/* The table points into the middle of an entry. */
	forged.bytes[forged.frames + 12 + 4] += 4;
	write_forged(&forged);
	assert_false(is_believed(&forged));
	drop_forged(&forged);
	free(forged.bytes);
}

/* The header of the section with this name in the copy, for changes. */
static Elf64_Shdr *section_of(struct forged *forged, const char *wanted, char **name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)forged->bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(forged->bytes + header->e_shoff);
	char *names = (char *)forged->bytes + sections[header->e_shstrndx].sh_offset;

	for (int i = 0; i < header->e_shnum; i++) {
		*name = names + sections[i].sh_name;
		if (strcmp(*name, wanted) == 0)
			return &sections[i];
	}
	fail_msg("no section %s", wanted);
	return NULL;
}

static void assert_believed(struct forged *forged, bool expected)
{
	write_forged(forged);
	assert_int_equal(is_believed(forged), expected);
	drop_forged(forged);
}

/* LLVM's linker gives the section its own type; not every file has a search table. */
static void frame_information_of_other_linkers_is_read(void **state)
{
	static const uint8_t usual[] = {'z',  'R', 0, 1,
					0x78, 16,  1, DW_EH_PE_pcrel | DW_EH_PE_sdata4};
	struct forged forged = copy_program();
	char *name;
	Elf64_Shdr *frames = section_of(&forged, ".eh_frame", &name);
	uint8_t *cie =
		memmem(forged.bytes + frames->sh_offset, frames->sh_size, usual, sizeof(usual));

	(void)state;
	frames->sh_type = SHT_X86_64_UNWIND;
	assert_believed(&forged, true);
	frames->sh_type = SHT_NOTE;
	assert_believed(&forged, false);
	frames->sh_type = SHT_PROGBITS;
	section_of(&forged, ".eh_frame_hdr", &name);
	name[1] = 'x';
	assert_believed(&forged, true);
	/* Addresses in a nonexistent encoding. */
	assert_non_null(cie);
	cie[7] = DW_EH_PE_pcrel | 5;
	assert_believed(&forged, false);
	free(forged.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absurd_frame_information_is_refused),
		cmocka_unit_test(frame_information_of_other_linkers_is_read),
	};

	return cmocka_run_group_tests_name("frame_info", tests, NULL, NULL);
}
