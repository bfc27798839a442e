// SPDX-License-Identifier: BSD-2-Clause
// Opening ELF files and finding functions in them, true files and damaged ones.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "elf_builder.h"
#include "target/elf_file.h"
#include "target/probe_site.h"

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

static struct elf_file *open_image(const struct test_image *image)
{
	struct elf_file *file;
	struct error err = {""};

	if (elf_file__open_fd(image_fd(image, image->size), "image", &file, &err))
		fail_msg("%s", err.text);
	return file;
}

static struct elf_file *open_built(const struct test_elf *elf)
{
	struct test_image image = build_elf(elf);
	struct elf_file *file = open_image(&image);

	free(image.bytes);
	return file;
}

static int print_symbol(const struct elf_symbol *symbol, void *arg)
{
	fprintf(arg, "%s %llx %llx%s\n", symbol->name, (unsigned long long)symbol->value,
		(unsigned long long)symbol->file_offset, symbol->global ? "" : " local");
	return 0;
}

static char *list(struct elf_file *file, enum elf_table table, const char *prefix)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(elf_file__each_function(file, table, prefix, print_symbol, out), 0);
	fclose(out);
	return text;
}

static void assert_list(struct elf_file *file, enum elf_table table, const char *prefix,
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
		{"libcuda.so.1", 1},
		{"libcudart.so", -1},
		{"libcudart.so.", -1},
		{"libcudart.so.12x", -1},
		{"libcudart.so.-3", -1},
		{"x.so.99999999999999", -1},
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
	const struct test_elf elf = {.dynamic = exported, .full = inside, .interpreter = "/lib64/ld.so"};
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

static void assert_at(struct elf_file *file, uint64_t vaddr, const char *expected,
		      uint64_t expected_offset)
{
	uint64_t offset;
	char *name;

	assert_int_equal(elf_file__symbol_at(file, vaddr, &name, &offset), 0);
	assert_string_equal(name, expected);
	assert_int_equal(offset, expected_offset);
	free(name);
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
	assert_int_equal(elf_file__each_function(file, ELF_TABLE_DYNAMIC, NULL, stop_at_second,
						 &calls),
			 -EINTR);
	assert_int_equal(calls, 2);
	elf_file__free(file);
}

/* The test program itself, whose code in memory must be what the offsets lead to. */
static void agrees_with_the_loader(void **state)
{
	struct elf_file *file, *libc;
	struct elf_symbol symbol;
	struct error err;
	uint8_t code[ELF_CODE_SIZE];
	uint64_t offset;
	char *name;

	(void)state;
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
	assert_int_equal(elf_file__open(elf_file__interpreter(file), &libc, &err), 0);
	assert_int_equal(elf_file__find_function(libc, "_dl_debug_state", &symbol), 0);
	elf_file__free(libc);
	elf_file__free(file);
}

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

/* Asks for everything; only that it returns, and stays in bounds, matters. */
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
			uint8_t value = (rand_r(&seed) & 1) ? (uint8_t)rand_r(&seed) : values[rand_r(&seed) % 6];

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

static void a_lying_table_is_told(void **state)
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

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Many symbols that share one very long name would take hours, each byte counted again. */
static void overlapping_names_end(void **state)
{
	enum {
		COUNT = 200000,
		LENGTH = 16000
	};
	struct test_symbol *symbols = calloc(COUNT + 1, sizeof(*symbols));
	char *name = malloc(LENGTH + 1);
	struct test_elf elf = {.full = symbols};
	struct test_image image;
	struct elf_file *file;
	size_t functions = 0;
	double start;

	(void)state;
	memset(name, 'c', LENGTH);
	name[LENGTH] = '\0';
	for (size_t i = 0; i < COUNT; i++)
		symbols[i] = (struct test_symbol){i ? "x" : name, FUNCTION_VADDR(1), 1, 0, 1};
	image = build_elf(&elf);
	for (size_t i = 1; i <= COUNT; i++)
		((Elf64_Sym *)(image.bytes + image.full_symbols))[i].st_name = 1;
	file = open_image(&image);
	start = seconds();
	assert_int_equal(elf_file__each_function(file, ELF_TABLE_FULL, "c", count_one, &functions),
			 -EBADMSG);
	assert_true(seconds() - start < 5);
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
	struct test_symbol *symbols = calloc(COUNT + 1, sizeof(*symbols));
	char *names = malloc(COUNT * 32ul);
	struct test_elf elf = {.full = symbols};
	struct test_image image;
	struct elf_file *file;
	size_t functions = 0;
	double start, walked;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(names + i * 32, 32, "_ZN5torch8function%zuEv", i);
		symbols[i] = (struct test_symbol){names + i * 32, TEXT_VADDR + i % TEXT_SIZE,
						  1, 0, 1};
	}
	image = build_elf(&elf);
	file = open_image(&image);
	start = seconds();
	assert_int_equal(elf_file__each_function(file, ELF_TABLE_FULL, "", count_one, &functions),
			 0);
	walked = seconds() - start;
	assert_int_equal(functions, COUNT);
	assert_true(walked < 1);
	assert_at(file, TEXT_VADDR + 77, "_ZN5torch8function77Ev", 0);
	elf_file__free(file);
	free(image.bytes);
	free(symbols);
	free(names);
}

static void knows_cheap_instructions(void **state)
{
	static const struct {
		uint8_t code[8];
		size_t size;
		bool fast;
	} cases[] = {
		{{0x55}, 1, true},	       /* push %rbp */
		{{0x41, 0x57}, 2, true},       /* push %r15 */
		{{0x41}, 1, false},	       /* cut short */
		{{0x90}, 1, true},	       /* nop */
		{{0x66, 0x90}, 2, true},       /* xchg %ax,%ax */
		{{0xe9, 1, 2, 3, 4}, 5, true}, /* jmp */
		{{0xeb, 1}, 2, true},
		{{0xe8, 1, 2, 3, 4}, 5, true},	      /* call */
		{{0x74, 1}, 2, true},		      /* je */
		{{0x0f, 0x84, 1, 2, 3, 4}, 6, true},  /* je, near */
		{{0x66, 0xe8, 1, 2}, 4, false},	      /* 16-bit call */
		{{0xf3, 0x0f, 0x1e, 0xfa}, 4, false}, /* endbr64 */
		{{0x0f, 0x1f, 0x44, 0, 0}, 5, false}, /* multi-byte nop */
		{{0x48, 0x83, 0xec, 0x08}, 4, false}, /* sub $8,%rsp */
		{{0xb8, 1, 0, 0, 0}, 5, false},	      /* mov $1,%eax */
		{{0x66, 0x55}, 2, false},	      /* push %bp */
		{{0xc3}, 1, false},
		{{0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66}, 7, false},
		{{0}, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (probe_site__is_fast(cases[i].code, cases[i].size) != cases[i].fast)
			fail_msg("case %zu", i);
	}
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
		cmocka_unit_test(refuses_what_is_no_elf_file),
		cmocka_unit_test(refuses_other_kinds),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(survives_being_cut_short),
		cmocka_unit_test(survives_being_cut_while_open),
		cmocka_unit_test(a_lying_table_is_told),
		cmocka_unit_test(overlapping_names_end),
		cmocka_unit_test(a_million_symbols_are_quick),
		cmocka_unit_test(knows_cheap_instructions),
	};

	return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
