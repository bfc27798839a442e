// SPDX-License-Identifier: BSD-2-Clause
// Deliberately large ELF files, and files whose headers lie. Time must grow with the size, not with
// its square.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_builder.h"
#include "growth_of_time.h"
#include "target/cuda_library.h"

/*
 * A file with the requested number of symbols, with names of 70 characters: a million make 100 MB.
 */
struct symbols_file {
	size_t symbols, segments;
	bool at_one_address;
	int fd;
};

static void write_at(int fd, const void *data, size_t size, uint64_t offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t n =
			pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));

		assert_true(n > 0);
		done += (size_t)n;
	}
}

#define NAME_ROOM 76

static void write_symbols(const struct symbols_file *file, uint64_t symbols, uint64_t strings)
{
	Elf64_Sym *entries = calloc(file->symbols, sizeof(*entries));
	char *names = calloc(file->symbols, NAME_ROOM);

	assert_true(entries && names);
	for (size_t i = 0; i < file->symbols; i++) {
		uint64_t at = (i * 2654435761u) % file->symbols;

		snprintf(names + i * NAME_ROOM, NAME_ROOM, "_ZN7hostile9namespace%048zuEv", i);
		entries[i] = (Elf64_Sym){
			.st_name = (uint32_t)(i * NAME_ROOM),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = file->at_one_address ? TEXT_VADDR : TEXT_VADDR + at * 16,
			.st_size = file->at_one_address ? 16 + i : 16,
		};
	}
	write_at(file->fd, entries, file->symbols * sizeof(*entries), symbols);
	write_at(file->fd, names, file->symbols * NAME_ROOM, strings);
	free(entries);
	free(names);
}

static void make_symbols_file(struct symbols_file *file)
{
	size_t segments = file->segments ? file->segments : 1, code = file->symbols * 16 + 4096;
	uint64_t symbols = 0x20000, strings = symbols + file->symbols * sizeof(Elf64_Sym);
	uint64_t sections_at = strings + file->symbols * NAME_ROOM;
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)segments,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shoff = sections_at,
	};
	Elf64_Shdr sections[3] = {
		[1] =
			{
				.sh_type = SHT_SYMTAB,
				.sh_link = 2,
				.sh_offset = symbols,
				.sh_entsize = sizeof(Elf64_Sym),
				.sh_size = file->symbols * sizeof(Elf64_Sym),
			},
		[2] = {.sh_type = SHT_STRTAB,
		       .sh_offset = strings,
		       .sh_size = file->symbols * NAME_ROOM},
	};
	Elf64_Phdr *headers = calloc(segments, sizeof(*headers));

	assert_non_null(headers);
	file->fd = memfd_create("hostile", MFD_CLOEXEC);
	assert_true(file->fd >= 0);
	assert_int_equal(ftruncate(file->fd, (off_t)(sections_at + sizeof(sections) + code)), 0);
	/* The last segment contains all functions. */
	for (size_t i = 0; i < segments; i++)
		headers[i] =
			(Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, i * 4096, i * 4096, 4096, 4096, 4096};
	headers[segments - 1] =
		(Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, TEXT_VADDR, TEXT_VADDR, code, code, 4096};
	write_at(file->fd, &header, sizeof(header), 0);
	write_at(file->fd, headers, segments * sizeof(*headers), sizeof(header));
	write_at(file->fd, sections, sizeof(sections), sections_at);
	write_symbols(file, symbols, strings);
	free(headers);
}

static int count_function(const struct elf_symbol *symbol, void *arg)
{
	(void)symbol;
	++*(size_t *)arg;
	return 0;
}

static struct elf_file *open_copy(int fd)
{
	struct elf_file *elf;
	struct error err = {""};

	assert_int_equal(elf_file__open_fd(dup(fd), "hostile", &elf, &err), 0);
	return elf;
}

/* The file that the measured function uses. */
static struct symbols_file current;

static void walk_symbols(size_t size)
{
	struct elf_file *elf = open_copy(current.fd);
	struct elf_symbol symbol;
	size_t count = 0;

	assert_int_equal(elf_file__each_function(elf, ELF_TABLE_FULL, NULL, count_function, &count),
			 0);
	assert_int_equal(count, size);
	assert_int_equal(elf_file__find_function(elf, "_PyEval_EvalFrameDefault", &symbol),
			 -ENOENT);
	elf_file__free(elf);
}

static void find_addresses(size_t size)
{
	struct elf_file *elf = open_copy(current.fd);

	for (uint64_t i = 0; i < size / 100; i++) {
		uint64_t offset;
		char *name;
		int ret = elf_file__symbol_at(
			elf, TEXT_VADDR + i * (current.at_one_address ? 1 : 16) + 3, &name,
			&offset);

		assert_true(ret == 0 || current.at_one_address);
		free(name);
	}
	assert_true(elf_file__index_size(elf) <= 64u << 20);
	elf_file__free(elf);
}

static void compare_files(const char *what, work_fn work, struct symbols_file file, size_t size)
{
	uint64_t took = 0;

	for (int i = 0; i < 2; i++) {
		struct stat stat;

		current = file;
		current.symbols = i ? GROWTH * size : size;
		make_symbols_file(&current);
		assert_int_equal(fstat(current.fd, &stat), 0);
		took = i ? assert_no_square(took, work, current.symbols) :
			   time_of_small(work, current.symbols);
		print_message("%s: %zu symbols, %.0f MB: %.1f ms\n", what, current.symbols,
			      (double)stat.st_size / 1e6, (double)took / MS);
		close(current.fd);
	}
}

/* The reader is held up: half a second for 100 MB is acceptable on a slow machine. */
static void million_symbols(void **state)
{
	(void)state;
	compare_files("walked", walk_symbols, (struct symbols_file){0}, 62500);
	compare_files("indexed, one in 100 looked up", find_addresses, (struct symbols_file){0},
		      62500);
	compare_files("all at one address", find_addresses,
		      (struct symbols_file){.at_one_address = true}, 25000);
}

static void many_segments(void **state)
{
	struct symbols_file file = {.symbols = 1000, .segments = 1000};
	struct elf_file *elf;
	struct error err = {""};

	(void)state;
	make_symbols_file(&file);
	assert_int_equal(elf_file__open_fd(file.fd, "hostile", &elf, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "segments"));
	file.segments = 64;
	make_symbols_file(&file);
	assert_int_equal(elf_file__open_fd(file.fd, "hostile", &elf, &err), 0);
	assert_int_equal(elf_file__find_function(elf, "none", &(struct elf_symbol){0}), -ENOENT);
	elf_file__free(elf);
}

/* What a lying header claims. */
struct lie {
	const char *what;
	Elf64_Ehdr header;
	Elf64_Shdr section; /* all sections are like this */
	uint64_t file_size; /* sparse */
};

static void read_lie(const struct lie *lie)
{
	const size_t sections = lie->header.e_shnum == 60000 ? 60000 : 2000;
	Elf64_Shdr *copies = calloc(sections, sizeof(*copies));
	int fd = memfd_create("lie", MFD_CLOEXEC);
	Elf64_Ehdr header = lie->header;
	Elf64_Phdr segment = {PT_LOAD, PF_R | PF_X, 0, 0, 0, UINT64_MAX, UINT64_MAX, 4096};
	struct elf_file *elf;
	uint64_t begin = spent(), took, offset;
	size_t before = resident_bytes(), count = 0;
	struct error err = {""};
	char *name;

	assert_true(copies && fd >= 0 && !ftruncate(fd, (off_t)lie->file_size));
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_type = ET_DYN;
	header.e_machine = EM_X86_64;
	header.e_phoff = sizeof(header);
	header.e_phentsize = sizeof(segment);
	if (!header.e_phnum)
		header.e_phnum = 1;
	write_at(fd, &header, sizeof(header), 0);
	write_at(fd, &segment, sizeof(segment), sizeof(header));
	for (size_t i = 0; i < sections; i++)
		copies[i] = lie->section;
	write_at(fd, copies, sections * sizeof(*copies), 4096);
	free(copies);
	if (!elf_file__open_fd(fd, "lie", &elf, &err)) {
		elf_file__each_function(elf, ELF_TABLE_FULL, NULL, count_function, &count);
		elf_file__find_section(elf, ".PyRuntime", &offset);
		if (!elf_file__symbol_at(elf, 4096, &name, &offset))
			free(name);
		elf_file__free(elf);
	}
	took = spent() - begin;
	print_message("%s: %.1f ms, %zu functions\n", lie->what, (double)took / MS, count);
	assert_true(took < SLOWER * 2000 * MS);
	assert_true(resident_bytes() < before + SLOWER * (64u << 20));
}

static void lying_headers(void **state)
{
	const struct lie lies[] = {
		{"65,535 sections that are not there",
		 {.e_shoff = 4096, .e_shnum = 65535, .e_shentsize = 64},
		 {.sh_type = SHT_SYMTAB},
		 200000},
		{"sections counted in the first: 2^63",
		 {.e_shoff = 4096, .e_shentsize = 64},
		 {.sh_type = SHT_SYMTAB, .sh_size = 1ull << 63},
		 200000},
		{"65,535 segments", {.e_phnum = 65535}, {0}, 8u << 20},
		{"2,000 tables of symbols over one another, 64 GiB of them",
		 {.e_shoff = 4096, .e_shnum = 2000, .e_shentsize = 64, .e_shstrndx = 1},
		 {.sh_type = SHT_SYMTAB, .sh_link = 1, .sh_entsize = 24, .sh_size = 1ull << 35},
		 1ull << 36},
		{"tables that are strings as well, 2^64 - 1 bytes",
		 {.e_shoff = 4096, .e_shnum = 2000, .e_shentsize = 64, .e_shstrndx = 5},
		 {.sh_type = SHT_STRTAB,
		  .sh_link = 1,
		  .sh_offset = UINT64_MAX - 10,
		  .sh_size = UINT64_MAX},
		 1ull << 30},
		{"60,000 sections with names without end",
		 {.e_shoff = 4096, .e_shnum = 60000, .e_shentsize = 64, .e_shstrndx = 1},
		 {.sh_type = SHT_PROGBITS, .sh_name = 4096, .sh_flags = SHF_ALLOC, .sh_size = 1},
		 8u << 20},
		{"offsets that wrap around",
		 {.e_shoff = UINT64_MAX - 63, .e_shnum = 3, .e_shentsize = 64, .e_phoff = 64},
		 {0},
		 65536},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		read_lie(&lies[i]);
}

/* Sparse, with the largest tables that are accepted: 8 million symbols, 256 MiB of names. */
static void largest_tables(void **state)
{
	int fd = memfd_create("sparse", MFD_CLOEXEC);
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shoff = 4096,
	};
	Elf64_Phdr segment = {PT_LOAD, PF_R | PF_X, 0, 0, 0, 1u << 30, 1u << 30, 4096};
	Elf64_Shdr sections[3] = {
		[1] = {.sh_type = SHT_SYMTAB,
		       .sh_link = 2,
		       .sh_offset = 1u << 20,
		       .sh_entsize = 24,
		       .sh_size = 24ull << 23},
		[2] = {.sh_type = SHT_STRTAB, .sh_offset = 1u << 20, .sh_size = 256u << 20},
	};
	struct elf_file *elf;
	struct elf_symbol symbol;
	uint64_t begin;

	(void)state;
	assert_true(fd >= 0 && !ftruncate(fd, 2ll << 30));
	write_at(fd, &header, sizeof(header), 0);
	write_at(fd, &segment, sizeof(segment), sizeof(header));
	write_at(fd, sections, sizeof(sections), 4096);
	assert_int_equal(elf_file__open_fd(fd, "sparse", &elf, NULL), 0);
	begin = spent();
	assert_int_equal(elf_file__find_function(elf, "nothing", &symbol), -ENOENT);
	print_message("a name sought in 8,388,608 symbols: %.1f ms\n",
		      (double)(spent() - begin) / MS);
	assert_true(spent() - begin < SLOWER * 5000 * MS);
	elf_file__free(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(million_symbols),
		cmocka_unit_test(many_segments),
		cmocka_unit_test(lying_headers),
		cmocka_unit_test(largest_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
