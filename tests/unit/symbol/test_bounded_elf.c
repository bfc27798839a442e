// SPDX-License-Identifier: BSD-2-Clause
// Files whose section headers would make libelf take gigabytes: none is opened.
#include <elf.h>
#include <libelf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "symbol/bounded_elf.h"
#include "symbol/frame_info.h"

#define HOLE (256ul << 20)

static size_t largest_resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_maxrss << 10;
}

/* A file with this header and section, followed by a hole. */
static int make_file(const Elf64_Ehdr *header, const Elf64_Shdr *first, const Elf64_Shdr *names)
{
	int fd = memfd_create("sections", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)HOLE + 4096), 0);
	assert_int_equal(pwrite(fd, header, sizeof(*header), 0), sizeof(*header));
	assert_int_equal(pwrite(fd, first, sizeof(*first), (off_t)header->e_shoff), sizeof(*first));
	assert_int_equal(
		pwrite(fd, names, sizeof(*names), (off_t)(header->e_shoff + sizeof(*first))),
		sizeof(*names));
	return fd;
}

static const Elf64_Ehdr usual = {
	.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	.e_type = ET_DYN,
	.e_machine = EM_X86_64,
	.e_version = EV_CURRENT,
	.e_shoff = sizeof(usual),
	.e_ehsize = sizeof(usual),
	.e_shentsize = sizeof(Elf64_Shdr),
	.e_shnum = 2,
	.e_shstrndx = 1,
};
static const Elf64_Shdr no_section;
static const Elf64_Shdr few_names = {.sh_type = SHT_STRTAB, .sh_offset = 4096, .sh_size = 64};

static void assert_opens(const Elf64_Ehdr *header, const Elf64_Shdr *first, const Elf64_Shdr *names,
			 bool expected)
{
	int fd = make_file(header, first, names);
	struct Elf *elf = bounded_elf__open(fd);
	uint64_t size;

	assert_int_equal(elf != NULL, expected);
	elf_end(elf);
	assert_null(frame_info__open(fd, &size)); /* none of them has any */
	close(fd);
}

static void absurd_files(void **state)
{
	const Elf64_Shdr many = {.sh_size = HOLE / sizeof(Elf64_Shdr)};
	Elf64_Shdr long_names = few_names, packed_names = few_names;
	Elf64_Ehdr uncounted = usual, narrow = usual, nameless = usual;
	size_t resident = largest_resident();

	(void)state;
	long_names.sh_size = HOLE;
	packed_names.sh_flags = SHF_COMPRESSED;
	uncounted.e_shnum = 0;
	narrow.e_ident[EI_CLASS] = ELFCLASS32;
	nameless.e_shstrndx = 7;
	assert_opens(&usual, &no_section, &few_names, true);
	assert_opens(&usual, &no_section, &long_names, false);
	assert_opens(&usual, &no_section, &packed_names, false);
	assert_opens(&uncounted, &many, &few_names, false);
	assert_opens(&narrow, &no_section, &few_names, false);
	assert_opens(&nameless, &no_section, &few_names, false);
	assert_true(largest_resident() < resident + (32u << 20));
}

static void what_is_none(void **state)
{
	int fd = memfd_create("empty", MFD_CLOEXEC),
	    own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct Elf *elf = bounded_elf__open(own);

	(void)state;
	assert_null(bounded_elf__open(fd));
	assert_int_equal(write(fd, "\177ELF", 4), 4);
	assert_null(bounded_elf__open(fd));
	assert_null(bounded_elf__open(-1));
	assert_non_null(elf);
	elf_end(elf);
	close(own);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absurd_files),
		cmocka_unit_test(what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
