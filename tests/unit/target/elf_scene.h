/* SPDX-License-Identifier: BSD-2-Clause */
/* A library for tests that read ELF files, and the queries about it. Include after cmocka.h. */
#ifndef TESTS_ELF_SCENE_H
#define TESTS_ELF_SCENE_H

#include <stdio.h>

#include "built_elf.h"

#define FUNC(bind) ELF64_ST_INFO(bind, STT_FUNC)

static const struct test_symbol exported[] = {
	{"alpha", FUNCTION_VADDR(1), 64, 0, 1},
	{"beta@@VERS_2", FUNCTION_VADDR(2), 64, 0, 1},
	{"beta@VERS_1", FUNCTION_VADDR(3), 64, 0, 1},
	{"weak", FUNCTION_VADDR(4), 64, FUNC(STB_WEAK), 1},
	{"undefined", FUNCTION_VADDR(5), 64, 0, SHN_UNDEF},
	{"indirect", FUNCTION_VADDR(6), 64, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), 1},
	{"object", FUNCTION_VADDR(7), 64, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1},
	{"in_data", DATA_VADDR + 16, 8, 0, 1},
	{"nowhere", 0xdead0000, 8, 0, 1},
	{"at_the_end", TEXT_VADDR + TEXT_SIZE, 8, 0, 1},
	{NULL, 0, 0, 0, 0},
};

static const struct test_symbol inside[] = {
	{"helper", FUNCTION_VADDR(20), 64, FUNC(STB_LOCAL), 1},
	{"alias_local", FUNCTION_VADDR(21), 32, FUNC(STB_LOCAL), 1},
	{"alias_global@@V", FUNCTION_VADDR(21), 32, FUNC(STB_GLOBAL), 1},
	{"sizeless", FUNCTION_VADDR(30), 0, FUNC(STB_LOCAL), 1},
	{NULL, 0, 0, 0, 0},
};

static inline int print_symbol(const struct elf_symbol *symbol, void *arg)
{
	fprintf(arg, "%s %llx %llx%s\n", symbol->name, (unsigned long long)symbol->value,
		(unsigned long long)symbol->file_offset, symbol->global ? "" : " local");
	return 0;
}

static inline char *list(struct elf_file *file, enum elf_table table, const char *prefix)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(elf_file__each_function(file, table, prefix, print_symbol, out), 0);
	fclose(out);
	return text;
}

static inline void assert_list(struct elf_file *file, enum elf_table table, const char *prefix,
			       const char *expected)
{
	char *text = list(file, table, prefix);

	assert_string_equal(text, expected);
	free(text);
}

static const char exported_list[] = "alpha 411040 1040\n"
				    "beta 411080 1080\n"
				    "beta 4110c0 10c0\n"
				    "weak 411100 1100\n";

static inline void assert_at(struct elf_file *file, uint64_t vaddr, const char *expected,
			     uint64_t expected_offset)
{
	uint64_t offset;
	char *name;

	assert_int_equal(elf_file__symbol_at(file, vaddr, &name, &offset), 0);
	assert_string_equal(name, expected);
	assert_int_equal(offset, expected_offset);
	free(name);
}

#endif
