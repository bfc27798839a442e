// SPDX-License-Identifier: BSD-2-Clause
// Files that are not ELF, or are damaged, cut short, or have endless symbols: refused, or read
// within bounds.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "elf_scene.h"
#include "growth_of_time.h"
#include "no_valgrind.h"

static void refuse_path(const char *path, int expected, const char *text)
{
	struct elf_file *file;
	struct error err = {""};

	assert_int_equal(elf_file__open(path, &file, &err), expected);
	assert_null(file);
	if (!strstr(err.text, text) || !strstr(err.text, path) || strchr(err.text, '\n'))
		fail_msg("message for %s: %s", path, err.text);
}

static void refuses_what_is_no_elf_file(void **state)
{
	static const char script[] = "#!/bin/sh\n\177ELF and then more bytes than a header has, "
				     "but no header\n";
	char directory[] = "/tmp/gpuprobe-test-XXXXXX", path[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
	refuse_path(path, -ENOENT, "No such file");
	refuse_path(directory, -ENOEXEC, "not a regular file");
	refuse_path("/dev/null", -ENOEXEC, "not a regular file");
	assert_int_equal(mkfifo(path, 0600), 0);
	refuse_path(path, -ENOEXEC, "not a regular file");
	unlink(path);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	refuse_path(path, -ENOEXEC, "not an ELF file");
	assert_int_equal(write(fd, script, sizeof(script)), sizeof(script));
	refuse_path(path, -ENOEXEC, "not an ELF file");
	assert_int_equal(ftruncate(fd, 1ll << 40), 0);
	refuse_path(path, -EFBIG, "64 GiB");
	close(fd);
	unlink(path);
	rmdir(directory);
}

static int open_changed(struct test_image *image, size_t at, uint8_t value, struct error *err)
{
	uint8_t old = image->bytes[at];
	struct elf_file *file;
	int ret;

	image->bytes[at] = value;
	ret = elf_file__open_fd(image_fd(image, image->size), "image", &file, err);
	image->bytes[at] = old;
	elf_file__free(file);
	return ret;
}

static void refuses_other_kinds(void **state)
{
	const struct test_elf elf = {.dynamic = exported};
	struct test_image image = build_elf(&elf);
	struct error err;

	(void)state;
	assert_int_equal(open_changed(&image, EI_CLASS, ELFCLASS32, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "64-bit x86-64"));
	assert_int_equal(open_changed(&image, EI_DATA, ELFDATA2MSB, &err), -ENOEXEC);
	assert_int_equal(open_changed(&image, offsetof(Elf64_Ehdr, e_machine), EM_AARCH64, &err),
			 -ENOEXEC);
	assert_int_equal(open_changed(&image, offsetof(Elf64_Ehdr, e_type), ET_REL, &err),
			 -ENOEXEC);
	assert_non_null(strstr(err.text, "neither an executable"));
	assert_int_equal(open_changed(&image, offsetof(Elf64_Ehdr, e_phnum), 0, &err), -ENOEXEC);
	assert_int_equal(open_changed(&image, offsetof(Elf64_Ehdr, e_phnum) + 1, 0xff, &err),
			 -ENOEXEC);
	assert_int_equal(open_changed(&image, offsetof(Elf64_Ehdr, e_phoff) + 7, 0x7f, &err),
			 -ENOEXEC);
	free(image.bytes);
}

static int count_one(const struct elf_symbol *symbol, void *arg)
{
	*(size_t *)arg += symbol->name[0] != '\0';
	return 0;
}

/* Makes every query; it only matters that each returns, and stays in bounds. */
static void use_everything(struct elf_file *file)
{
	struct elf_symbol symbol;
	size_t functions = 0;
	uint64_t offset;
	char *name;

	elf_file__each_function(file, ELF_TABLE_DYNAMIC, NULL, count_one, &functions);
	elf_file__each_function(file, ELF_TABLE_FULL, "", count_one, &functions);
	elf_file__find_function(file, "alpha", &symbol);
	if (!elf_file__symbol_at(file, FUNCTION_VADDR(20) + 3, &name, &offset))
		free(name);
	elf_file__soname_major(file);
}

static void survives_damage(void **state)
{
	const struct test_elf elf = {
		.dynamic = exported,
		.full = inside,
		.soname = "x.so.1",
		.interpreter = "/lib64/ld.so",
	};
	struct test_image image = build_elf(&elf);
	size_t interesting = image.size - DATA_OFFSET + sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Phdr);
	unsigned int seed = 1;
	struct elf_file *file;
	int fd = image_fd(&image, image.size);

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t at[4];
		int changes = 1 + rand_r(&seed) % 4;

		for (int i = 0; i < changes; i++) {
			static const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
			uint8_t value = (rand_r(&seed) & 1) ? (uint8_t)rand_r(&seed) :
							      values[rand_r(&seed) % 6];

			at[i] = (size_t)rand_r(&seed) % interesting;
			if (at[i] >= sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Phdr))
				at[i] += DATA_OFFSET - sizeof(Elf64_Ehdr) - 5 * sizeof(Elf64_Phdr);
			assert_int_equal(pwrite(fd, &value, 1, (off_t)at[i]), 1);
		}
		if (!elf_file__open_fd(dup(fd), "damaged", &file, NULL)) {
			use_everything(file);
			elf_file__free(file);
		}
		for (int i = 0; i < changes; i++)
			assert_int_equal(pwrite(fd, image.bytes + at[i], 1, (off_t)at[i]), 1);
	}
	close(fd);
	free(image.bytes);
}

static void survives_being_cut_short(void **state)
{
	const struct test_elf elf = {.dynamic = exported, .full = inside, .soname = "x.so.1"};
	struct test_image image = build_elf(&elf);
	struct elf_file *file;

	(void)state;
	for (size_t size = 0; size < image.size;
	     size += size < 400 || size >= DATA_OFFSET ? 1 : 4096) {
		int fd;

		if (size > 400 && size < DATA_OFFSET && size + 4096 > DATA_OFFSET)
			size = DATA_OFFSET;
		fd = image_fd(&image, size);
		if (!elf_file__open_fd(fd, "cut", &file, NULL)) {
			use_everything(file);
			elf_file__free(file);
		}
	}
	free(image.bytes);
}

static void survives_being_cut_while_open(void **state)
{
	const struct test_elf elf = {.dynamic = exported, .full = inside};
	struct test_image image = build_elf(&elf);
	int fd = image_fd(&image, image.size);
	size_t functions = 0;
	struct elf_file *file;

	(void)state;
	assert_int_equal(elf_file__open_fd(dup(fd), "image", &file, NULL), 0);
	assert_int_equal(ftruncate(fd, DATA_OFFSET), 0);
	assert_int_equal(elf_file__each_function(file, ELF_TABLE_FULL, NULL, count_one, &functions),
			 -EBADMSG);
	use_everything(file);
	elf_file__free(file);
	close(fd);
	free(image.bytes);
}

static void a_lying_table_is_reported(void **state)
{
	const struct test_elf elf = {.dynamic = exported, .full = inside};
	struct test_image image = build_elf(&elf);
	Elf64_Shdr *sections = (Elf64_Shdr *)(image.bytes + image.sections);
	struct elf_file *file;
	size_t functions = 0;

	(void)state;
	sections[3].sh_size = 1ull << 60;
	file = open_image(&image);
	assert_int_equal(elf_file__each_function(file, ELF_TABLE_FULL, NULL, count_one, &functions),
			 -EBADMSG);
	assert_list(file, ELF_TABLE_DYNAMIC, NULL, exported_list);
	assert_at(file, FUNCTION_VADDR(1), "alpha", 0);
	elf_file__free(file);
	sections[3].sh_size = 5 * sizeof(Elf64_Sym);
	sections[4].sh_size = UINT64_MAX;
	file = open_image(&image);
	assert_int_equal(elf_file__each_function(file, ELF_TABLE_FULL, NULL, count_one, &functions),
			 -EBADMSG);
	elf_file__free(file);
	free(image.bytes);
}

/*
 * Many symbols that share one very long name would take hours if each one's bytes were counted
 * again.
 */
static void overlapping_names_end(void **state)
{
	enum {
		COUNT = 200000,
		LENGTH = 16000
	};
	struct test_elf elf = {0};
	struct test_symbol *symbols;
	char *name;
	struct test_image image;
	struct elf_file *file;
	size_t functions = 0;
	uint64_t begin;

	(void)state;
	not_under_valgrind();
	elf.full = symbols = calloc(COUNT + 1, sizeof(*symbols));
	name = malloc(LENGTH + 1);
	memset(name, 'c', LENGTH);
	name[LENGTH] = '\0';
	for (size_t i = 0; i < COUNT; i++)
		symbols[i] = (struct test_symbol){i ? "x" : name, FUNCTION_VADDR(1), 1, 0, 1};
	image = build_elf(&elf);
	for (size_t i = 1; i <= COUNT; i++)
		((Elf64_Sym *)(image.bytes + image.full_symbols))[i].st_name = 1;
	file = open_image(&image);
	begin = spent();
	assert_int_equal(elf_file__each_function(file, ELF_TABLE_FULL, "c", count_one, &functions),
			 -EBADMSG);
	assert_true(spent() - begin < 5000 * MS);
	elf_file__free(file);
	free(image.bytes);
	free(symbols);
	free(name);
}

static void a_million_symbols_are_quick(void **state)
{
	enum {
		COUNT = 1000000
	};
	struct test_elf elf = {0};
	struct test_symbol *symbols;
	char *names;
	struct test_image image;
	struct elf_file *file;
	size_t functions = 0;
	uint64_t begin, took;

	(void)state;
	not_under_valgrind();
	elf.full = symbols = calloc(COUNT + 1, sizeof(*symbols));
	names = malloc(COUNT * 32ul);
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(names + i * 32, 32, "_ZN5torch8function%zuEv", i);
		symbols[i] =
			(struct test_symbol){names + i * 32, TEXT_VADDR + i % TEXT_SIZE, 1, 0, 1};
	}
	image = build_elf(&elf);
	file = open_image(&image);
	begin = spent();
	assert_int_equal(elf_file__each_function(file, ELF_TABLE_FULL, "", count_one, &functions),
			 0);
	took = spent() - begin;
	assert_int_equal(functions, COUNT);
	assert_true(took < 1000 * MS);
	assert_at(file, TEXT_VADDR + 77, "_ZN5torch8function77Ev", 0);
	elf_file__free(file);
	free(image.bytes);
	free(symbols);
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_what_is_no_elf_file),
		cmocka_unit_test(refuses_other_kinds),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(survives_being_cut_short),
		cmocka_unit_test(survives_being_cut_while_open),
		cmocka_unit_test(a_lying_table_is_reported),
		cmocka_unit_test(overlapping_names_end),
		cmocka_unit_test(a_million_symbols_are_quick),
	};

	return cmocka_run_group_tests_name("elf_damaged", tests, NULL, NULL);
}
