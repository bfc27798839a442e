// SPDX-License-Identifier: BSD-2-Clause
// Debug information that is small in the file and large in libdw, or that names files which libdw
// would open.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "growth_of_time.h"
#include "symbol/source_lines.h"

#define CODE 0x1000u
#define SECTIONS_MAX 8
#define UNITS_MAX 65536u

struct section {
	const char *name;
	const void *contents;
	size_t size;
	uint64_t flags;
};

static size_t put(int fd, const void *data, size_t size, size_t at)
{
	assert_int_equal(pwrite(fd, data, size, (off_t)at), size);
	return at + size;
}

/* A file of only these sections; they end with an unnamed one. */
static int make_file(const struct section *sections)
{
	Elf64_Shdr headers[SECTIONS_MAX + 2] = {{0}};
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	int fd = memfd_create("dwarf", MFD_CLOEXEC);
	char names[256] = {0};
	size_t at = sizeof(header), name = 1, count = 1;

	for (; sections->name; sections++) {
		headers[count++] = (Elf64_Shdr){
			.sh_name = (uint32_t)name,
			.sh_type = SHT_PROGBITS,
			.sh_flags = sections->flags,
			.sh_offset = at,
			.sh_size = sections->size,
			.sh_addralign = 1,
		};
		at = put(fd, sections->contents, sections->size, at);
		strcpy(names + name, sections->name);
		name += strlen(sections->name) + 1;
	}
	headers[count++] =
		(Elf64_Shdr){.sh_name = 0, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = name};
	at = (put(fd, names, name, at) + 7) / 8 * 8;
	header.e_shoff = at;
	header.e_shnum = (uint16_t)count;
	header.e_shstrndx = (uint16_t)(count - 1);
	put(fd, headers, count * sizeof(*headers), at);
	put(fd, &header, sizeof(header), 0);
	return fd;
}

/* The lines of the file, which is closed. */
static struct source_lines *read_file(const struct section *sections)
{
	int fd = make_file(sections);
	struct source_lines *lines = source_lines__new(fd);

	close(fd);
	return lines;
}

static size_t largest_resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_maxrss << 10;
}

/* Units of DWARF 4 of one byte each, their abbreviation code. */
static uint8_t *make_units(size_t count, uint8_t code)
{
	const uint8_t unit[] = {8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, code};
	uint8_t *units = malloc(count * sizeof(unit));

	assert_non_null(units);
	for (size_t i = 0; i < count; i++)
		memcpy(units + i * sizeof(unit), unit, sizeof(unit));
	return units;
}

static const uint8_t no_lines[16];
static const uint8_t bare_unit[] = {1, DW_TAG_compile_unit, 0, 0, 0, 0};

static struct source_lines *read_units(const char *section, size_t count, const void *abbreviations,
				       size_t size, uint8_t code)
{
	uint8_t *units = make_units(count, code);
	const struct section sections[] = {
		{section, units, count * 12, 0},
		{".debug_abbrev", abbreviations, size, 0},
		{".debug_line", no_lines, sizeof(no_lines), 0},
		{0},
	};
	struct source_lines *lines = read_file(sections);

	free(units);
	return lines;
}

static void many_units(void **state)
{
	size_t before = largest_resident();
	struct source_lines *lines;

	(void)state;
	assert_null(read_units(".debug_info", 1000000, bare_unit, sizeof(bare_unit), 1));
	assert_null(read_units(".debug_types", 1000000, bare_unit, sizeof(bare_unit), 1));
	assert_null(read_units(".debug_info", UNITS_MAX + 1, bare_unit, sizeof(bare_unit), 1));
	assert_true(largest_resident() - before < SLOWER * (64u << 20));
	lines = read_units(".debug_info", UNITS_MAX, bare_unit, sizeof(bare_unit), 1);
	assert_non_null(lines);
	/* The size includes what libdw has made of them. */
	assert_true(source_lines__size(lines) > 64u << 20);
	source_lines__free(lines);
}

/* 16 KB in the file. */
static void packed_units(void **state)
{
	const size_t count = 1000000, size = count * 12;
	uint8_t *units = make_units(count, 1),
		*packed = malloc(sizeof(Elf64_Chdr) + compressBound(size));
	const Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = size, .ch_addralign = 1};
	size_t before = largest_resident();
	uLongf room = compressBound(size);

	(void)state;
	assert_non_null(packed);
	memcpy(packed, &header, sizeof(header));
	assert_int_equal(compress2(packed + sizeof(header), &room, units, size, 9), Z_OK);
	assert_null(read_file((struct section[]){
		{".debug_info", packed, sizeof(header) + room, SHF_COMPRESSED},
		{".debug_abbrev", bare_unit, sizeof(bare_unit), 0},
		{".debug_line", no_lines, sizeof(no_lines), 0},
		{0},
	}));
	assert_true(largest_resident() - before < SLOWER * (64u << 20));
	free(units);
	free(packed);
}

/* Each unit uses the last of 20,000: libdw would make 200 million of them. */
static void many_abbreviations(void **state)
{
	const size_t count = 20000;
	uint8_t *abbreviations = calloc(count + 1, 5);
	size_t before = largest_resident();

	(void)state;
	assert_non_null(abbreviations);
	for (size_t i = 0; i < count; i++)
		memcpy(abbreviations + i * 5,
		       (uint8_t[]){i + 1 < count ? 2 : 1, DW_TAG_compile_unit, 0, 0, 0}, 5);
	assert_null(read_units(".debug_info", 10000, abbreviations, count * 5 + 1, 1));
	assert_true(largest_resident() - before < SLOWER * (64u << 20));
	free(abbreviations);
}

/* One row: the byte at CODE is on line 3 of a.c. */
static const uint8_t one_line[] = {
	52,
	0,
	0,
	0,
	4,
	0,
	27,
	0,
	0,
	0, /* length, version, length of the header */
	1,
	1,
	1,
	0xfb,
	14,
	13, /* what opcodes mean */
	0,
	1,
	1,
	1,
	1,
	0,
	0,
	0,
	1,
	0,
	0,
	1, /* operand counts of the standard opcodes */
	0,
	'a',
	'.',
	'c',
	0,
	0,
	0,
	0,
	0, /* no folders, one file */
	0,
	9,
	DW_LNE_set_address,
	CODE & 0xff,
	CODE >> 8,
	0,
	0,
	0,
	0,
	0,
	0, /* 11 bytes */
	DW_LNS_advance_line,
	2,
	DW_LNS_copy,
	DW_LNS_advance_pc,
	16,
	0,
	1,
	DW_LNE_end_sequence,
};

struct die {
	uint8_t bytes[512];
	size_t size;
};

static void append(struct die *die, const void *data, size_t size)
{
	assert_true(die->size + size <= sizeof(die->bytes));
	memcpy(die->bytes + die->size, data, size);
	die->size += size;
}

/* The header of a DWARF 4 unit, with 16 bytes of code from CODE on and its line table. */
static struct die begin_unit(void)
{
	const uint8_t header[] = {0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1};
	const uint64_t code[] = {CODE, 16};
	struct die die = {.size = 0};

	append(&die, header, sizeof(header));
	append(&die, code, sizeof(code));
	append(&die, (uint8_t[4]){0}, 4);
	return die;
}

static void assert_has_line(struct die *die, const void *abbreviations, size_t size,
			    const char *alternate)
{
	uint32_t length = (uint32_t)die->size - 4, line;
	const char id[20] = "";
	char names[300] = "";
	struct source_lines *lines;
	char *path;

	memcpy(die->bytes, &length, sizeof(length));
	strcpy(names, alternate);
	memcpy(names + strlen(names) + 1, id, sizeof(id));
	lines = read_file((struct section[]){
		{".debug_info", die->bytes, die->size, 0},
		{".debug_abbrev", abbreviations, size, 0},
		{".debug_line", one_line, sizeof(one_line), 0},
		{".gnu_debugaltlink", names, strlen(names) + 1 + sizeof(id), 0},
		{0},
	});
	assert_non_null(lines);
	assert_int_equal(source_lines__find(lines, CODE, &path, &line), 0);
	assert_int_equal(line, 3);
	free(path);
	source_lines__free(lines);
}

/* A pipe without a writer: opening it blocks for ever. */
static void opens_nothing(void **state)
{
	/* clang-format off */
	static const uint8_t skeleton[] = {
		1, DW_TAG_compile_unit, 0, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8,
		DW_AT_stmt_list, DW_FORM_sec_offset, 0xb0, 0x42 /* DW_AT_GNU_dwo_name */, DW_FORM_string,
		DW_AT_comp_dir, DW_FORM_string, 0xb1, 0x42 /* DW_AT_GNU_dwo_id */, DW_FORM_data8, 0, 0, 0,
	};
	static const uint8_t elsewhere[] = {
		1, DW_TAG_compile_unit, 0, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8,
		DW_AT_stmt_list, DW_FORM_sec_offset,
		DW_AT_comp_dir, 0xa1, 0x3e /* DW_FORM_GNU_strp_alt */, 0, 0, 0,
	};
	/* clang-format on */
	char folder[] = "/tmp/gpuprobe-dwarf-XXXXXX", pipe[64];
	struct die die = begin_unit();

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(pipe, sizeof(pipe), "%s/pipe", folder);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	alarm(60);
	append(&die, pipe, strlen(pipe) + 1);
	append(&die, "/", 2);
	append(&die, "12345678", 8);
	assert_has_line(&die, skeleton, sizeof(skeleton), "");
	die = begin_unit();
	append(&die, (uint8_t[4]){0}, 4);
	assert_has_line(&die, elsewhere, sizeof(elsewhere), pipe);
	alarm(0);
	unlink(pipe);
	rmdir(folder);
}

/* libdw stores folder and name together, for each file. */
static void long_folder_of_many_files(void **state)
{
	static const uint8_t abbreviations[] = {
		1,
		DW_TAG_compile_unit,
		0,
		DW_AT_low_pc,
		DW_FORM_addr,
		DW_AT_high_pc,
		DW_FORM_data8,
		DW_AT_stmt_list,
		DW_FORM_sec_offset,
		0,
		0,
		0,
	};
	const size_t folder = 500000, files = 1000, before = sizeof(one_line) - 23 - 8;
	uint8_t *table = calloc(1, sizeof(one_line) + folder + 1 + 5 * files), *at = table;
	size_t resident = largest_resident(), size;
	struct die die = begin_unit();
	struct source_lines *lines;
	uint32_t length, line;
	char *path;

	(void)state;
	assert_non_null(table);
	/* Its header, the folder, no more folders, the files, and its program. */
	memcpy(at, one_line, before);
	memset(at += before, 'd', folder);
	at += folder + 2;
	for (size_t i = 0; i < files; i++, at += 5)
		memcpy(at, "a\0\1\0\0", 5);
	memcpy(at + 1, one_line + sizeof(one_line) - 23, 23);
	size = (size_t)(at + 1 + 23 - table);
	length = (uint32_t)size - 4;
	memcpy(table, &length, sizeof(length));
	length = (uint32_t)(at + 1 - table) - 10;
	memcpy(table + 6, &length, sizeof(length));
	length = (uint32_t)die.size - 4;
	memcpy(die.bytes, &length, sizeof(length));
	lines = read_file((struct section[]){
		{".debug_info", die.bytes, die.size, 0},
		{".debug_abbrev", abbreviations, sizeof(abbreviations), 0},
		{".debug_line", table, size, 0},
		{0},
	});
	assert_non_null(lines);
	assert_int_equal(source_lines__find(lines, CODE, &path, &line), -ENOENT);
	assert_true(largest_resident() < resident + (64u << 20));
	source_lines__free(lines);
	free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_units),
		cmocka_unit_test(packed_units),
		cmocka_unit_test(many_abbreviations),
		cmocka_unit_test(opens_nothing),
		cmocka_unit_test(long_folder_of_many_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
