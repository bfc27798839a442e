// SPDX-License-Identifier: BSD-2-Clause
// Opening ELF files and finding functions in them.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/auxv.h>

#include <cmocka.h>

#include "elf_scene.h"
#include "no_valgrind.h"

static void reads_what_a_library_says(void **state)
{
	const struct test_elf elf = {.dynamic = exported, .soname = "libcudart.so.13.0"};
	struct elf_file *file = open_built(&elf);
	const uint8_t *id;
	uint64_t value;

	(void)state;
	assert_string_equal(elf_file__soname(file), "libcudart.so.13.0");
	assert_int_equal(elf_file__soname_major(file), 13);
	assert_null(elf_file__interpreter(file));
	assert_int_equal(elf_file__build_id(file, &id), 20);
	assert_int_equal(id[0], 0xab);
	assert_true(elf_file__vaddr_to_offset(file, TEXT_VADDR + 5, &value));
	assert_int_equal(value, TEXT_OFFSET + 5);
	assert_true(elf_file__offset_to_vaddr(file, TEXT_OFFSET + 5, &value));
	assert_int_equal(value, TEXT_VADDR + 5);
	assert_false(elf_file__vaddr_to_offset(file, TEXT_VADDR - 1, &value));
	assert_false(elf_file__vaddr_to_offset(file, TEXT_VADDR + TEXT_SIZE, &value));
	assert_false(elf_file__offset_to_vaddr(file, TEXT_OFFSET - 1, &value));
	assert_list(file, ELF_TABLE_DYNAMIC, NULL, exported_list);
	assert_list(file, ELF_TABLE_DYNAMIC, "be", "beta 411080 1080\nbeta 4110c0 10c0\n");
	assert_list(file, ELF_TABLE_FULL, NULL, "");
	elf_file__free(file);
	elf_file__free(NULL);
}

static void soname_numbers(void **state)
{
	static const struct {
		const char *soname;
		int major;
	} cases[] = {
		{"libcuda.so.1", 1},	  {"libcudart.so", -1},	   {"libcudart.so.", -1},
		{"libcudart.so.12x", -1}, {"libcudart.so.-3", -1}, {"x.so.99999999999999", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct test_elf elf = {.dynamic = exported, .soname = cases[i].soname};
		struct elf_file *file = open_built(&elf);

		assert_int_equal(elf_file__soname_major(file), cases[i].major);
		elf_file__free(file);
	}
}

static void works_without_section_headers(void **state)
{
	struct test_elf elf = {.dynamic = exported, .soname = "a.so.2", .no_sections = true};
	struct elf_file *file = open_built(&elf);

	(void)state;
	assert_list(file, ELF_TABLE_DYNAMIC, NULL, exported_list);
	assert_int_equal(elf_file__soname_major(file), 2);
	elf_file__free(file);
	elf.hash = HASH_SYSV;
	file = open_built(&elf);
	assert_list(file, ELF_TABLE_DYNAMIC, NULL, exported_list);
	elf_file__free(file);
	elf.hash = HASH_NONE;
	file = open_built(&elf);
	assert_list(file, ELF_TABLE_DYNAMIC, NULL, "");
	elf_file__free(file);
}

static void reads_a_static_executable(void **state)
{
	const struct test_elf elf = {.full = inside};
	struct elf_file *file = open_built(&elf);

	(void)state;
	assert_null(elf_file__soname(file));
	assert_int_equal(elf_file__soname_major(file), -1);
	assert_list(file, ELF_TABLE_FULL, "h", "helper 411500 1500 local\n");
	elf_file__free(file);
}

static void finds_by_name(void **state)
{
	const struct test_elf elf = {
		.dynamic = exported, .full = inside, .interpreter = "/lib64/ld.so"};
	struct elf_file *file = open_built(&elf);
	struct elf_symbol symbol;
	uint64_t value;

	(void)state;
	assert_string_equal(elf_file__interpreter(file), "/lib64/ld.so");
	assert_int_equal(elf_file__find_function(file, "beta", &symbol), 0);
	assert_int_equal(symbol.file_offset, FUNCTION_OFFSET(2));
	assert_string_equal(symbol.name, "beta");
	assert_int_equal(elf_file__find_function(file, "helper", &symbol), 0);
	assert_false(symbol.global);
	assert_int_equal(elf_file__find_function(file, "bet", &symbol), -ENOENT);
	assert_int_equal(elf_file__find_function(file, "undefined", &symbol), -ENOENT);
	assert_int_equal(elf_file__find_function(file, "in_data", &symbol), -ENOENT);
	assert_int_equal(elf_file__find_object(file, "object", &value), 0);
	assert_int_equal(value, FUNCTION_VADDR(7));
	assert_int_equal(elf_file__find_object(file, "alpha", &value), -ENOENT);
	elf_file__free(file);
}

static void assert_nothing_at(struct elf_file *file, uint64_t vaddr)
{
	uint64_t offset;
	char *name;

	assert_int_equal(elf_file__symbol_at(file, vaddr, &name, &offset), -ENOENT);
	assert_null(name);
}

static void names_addresses(void **state)
{
	struct test_elf elf = {.dynamic = exported, .full = inside};
	struct elf_file *file = open_built(&elf);

	(void)state;
	assert_at(file, FUNCTION_VADDR(20), "helper", 0);
	assert_at(file, FUNCTION_VADDR(20) + 63, "helper", 63);
	assert_at(file, FUNCTION_VADDR(21), "alias_global", 0);
	assert_at(file, FUNCTION_VADDR(30), "sizeless", 0);
	assert_nothing_at(file, FUNCTION_VADDR(30) + 1);
	assert_nothing_at(file, FUNCTION_VADDR(21) + 32);
	assert_nothing_at(file, TEXT_VADDR);
	assert_true(elf_file__index_size(file) > 0);
	elf_file__free(file);
	elf.full = NULL;
	file = open_built(&elf);
	assert_at(file, FUNCTION_VADDR(1), "alpha", 0);
	elf_file__free(file);
}

/* Whatever their order in the table, and whatever lies within them. */
static void chooses_among_names(void **state)
{
	static const struct test_symbol names[] = {
		{"weak", FUNCTION_VADDR(1), 64, ELF64_ST_INFO(STB_WEAK, STT_FUNC), 1},
		{"local", FUNCTION_VADDR(1), 64, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1},
		{"global", FUNCTION_VADDR(1), 64, 0, 1},
		{"global_too", FUNCTION_VADDR(1), 64, 0, 1},
		{"weak_2", FUNCTION_VADDR(2), 64, ELF64_ST_INFO(STB_WEAK, STT_FUNC), 1},
		{"local_2", FUNCTION_VADDR(2), 64, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1},
		{"sizeless_3", FUNCTION_VADDR(3), 0, 0, 1},
		{"local_3", FUNCTION_VADDR(3), 64, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1},
		{"outer", FUNCTION_VADDR(4), 64, 0, 1},
		{"inner", FUNCTION_VADDR(4) + 8, 8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1},
		{"indirect", FUNCTION_VADDR(5), 64, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), 1},
		{"direct", FUNCTION_VADDR(5), 64, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1},
		{0},
	};
	struct test_elf elf = {.full = names};
	struct elf_file *file = open_built(&elf);

	(void)state;
	assert_at(file, FUNCTION_VADDR(1) + 1, "global", 1);
	assert_at(file, FUNCTION_VADDR(2), "local_2", 0);
	assert_at(file, FUNCTION_VADDR(3), "sizeless_3", 0);
	assert_at(file, FUNCTION_VADDR(3) + 1, "local_3", 1);
	assert_at(file, FUNCTION_VADDR(4) + 9, "inner", 1);
	assert_at(file, FUNCTION_VADDR(4) + 17, "outer", 17);
	assert_at(file, FUNCTION_VADDR(5), "direct", 0);
	elf_file__free(file);
}

static int stop_at_second(const struct elf_symbol *symbol, void *arg)
{
	(void)symbol;
	return ++*(int *)arg == 2 ? -EINTR : 0;
}

static void a_callback_can_stop(void **state)
{
	const struct test_elf elf = {.dynamic = exported};
	struct elf_file *file = open_built(&elf);
	int calls = 0;

	(void)state;
	assert_int_equal(
		elf_file__each_function(file, ELF_TABLE_DYNAMIC, NULL, stop_at_second, &calls),
		-EINTR);
	assert_int_equal(calls, 2);
	elf_file__free(file);
}

/* The test program itself: its code in memory must match the bytes at the offsets. */
static void agrees_with_the_loader(void **state)
{
	struct elf_file *file, *libc;
	struct elf_symbol symbol;
	struct error err;
	uint8_t code[ELF_CODE_SIZE];
	uint64_t offset;
	char *name;

	(void)state;
	not_under_valgrind();
	assert_int_equal(elf_file__open("/proc/self/exe", &file, &err), 0);
	assert_int_equal(elf_file__find_function(file, "main", &symbol), 0);
	assert_int_equal(elf_file__read(file, symbol.file_offset, code, sizeof(code)),
			 sizeof(code));
	assert_int_equal(elf_file__symbol_at(file, symbol.value, &name, &offset), 0);
	assert_string_equal(name, "main");
	free(name);
	assert_non_null(strstr(elf_file__interpreter(file), "ld-linux"));
	assert_int_equal(elf_file__find_function(file, "open_built", &symbol), 0);
	assert_false(symbol.global);
	assert_int_equal(elf_file__read(file, symbol.file_offset, code, sizeof(code)),
			 sizeof(code));
	assert_memory_equal(code, (void *)(uintptr_t)open_built, sizeof(code));
	assert_true(elf_file__needs(file, "libcmocka.so"));
	assert_false(elf_file__needs(file, "libcuda.so"));
	assert_int_equal(elf_file__open(elf_file__interpreter(file), &libc, &err), 0);
	assert_int_equal(elf_file__find_function(libc, "_dl_debug_state", &symbol), 0);
	assert_false(elf_file__needs(libc, "lib"));
	elf_file__free(libc);
	elf_file__free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_a_library_says),
		cmocka_unit_test(soname_numbers),
		cmocka_unit_test(works_without_section_headers),
		cmocka_unit_test(reads_a_static_executable),
		cmocka_unit_test(finds_by_name),
		cmocka_unit_test(names_addresses),
		cmocka_unit_test(chooses_among_names),
		cmocka_unit_test(a_callback_can_stop),
		cmocka_unit_test(agrees_with_the_loader),
	};

	return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
