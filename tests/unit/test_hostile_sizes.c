// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is large on purpose: files with a million symbols, headers that lie, mappings and names without end. Time is
 * to grow with the size, not with its square: with four times as much it may take ten times as long, where the
 * square would take sixteen. Measured is what the thread has run, the best of some tries.
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/table.h"
#include "elf_builder.h"
#include "model/kernels.h"
#include "model/model.h"
#include "model/names.h"
#include "output/report_json.h"
#include "symbol/kernel_name.h"
#include "symbol/native_frames.h"
#include "symbol/perf_map.h"
#include "symbol/process_map.h"
#include "target/cuda_library.h"
#include "target/loader_cache.h"
#include "target/proc_maps.h"

#define MS 1000000ull
#define TRIES 2
#define GROWTH_MAX 10
/* Where the smaller one is that quick, a busy machine's caches say more than the code. */
#define TOO_QUICK (2 * MS)

/* Sanitizers take their time and their memory. */
#if defined(__SANITIZE_ADDRESS__)
#define SLOWER 10
#else
#define SLOWER 1
#endif

typedef void (*work_fn)(size_t size);

static uint64_t spent(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static uint64_t time_of(work_fn work, size_t size)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin = spent(), took;

		work(size);
		took = spent() - begin;
		if (took < best)
			best = took;
	}
	return best;
}

static void assert_linear(const char *what, work_fn work, size_t size)
{
	uint64_t small = time_of(work, size), large = time_of(work, 4 * size);

	print_message("%s: %zu in %.1f ms, %zu in %.1f ms\n", what, size, (double)small / MS, 4 * size, (double)large / MS);
	assert_true(large < GROWTH_MAX * (small > TOO_QUICK ? small : TOO_QUICK));
}

static size_t resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *in;

	malloc_trim(0);
	in = fopen("/proc/self/statm", "re");

	assert_non_null(in);
	assert_int_equal(fscanf(in, "%*u %lu", &pages), 1);
	fclose(in);
	return pages * 4096;
}

/* --- ELF files --- */

/* A file of as many symbols as are asked for, names of 70 characters: a million make 100 MB. */
struct symbols_file {
	size_t symbols, segments;
	bool at_one_place;
	int fd;
};

static void write_at(int fd, const void *data, size_t size, uint64_t offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));

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
			.st_value = file->at_one_place ? TEXT_VADDR : TEXT_VADDR + at * 16,
			.st_size = file->at_one_place ? 16 + i : 16,
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
		[1] = {
			.sh_type = SHT_SYMTAB,
			.sh_link = 2,
			.sh_offset = symbols,
			.sh_entsize = sizeof(Elf64_Sym),
			.sh_size = file->symbols * sizeof(Elf64_Sym),
		},
		[2] = {.sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = file->symbols * NAME_ROOM},
	};
	Elf64_Phdr *headers = calloc(segments, sizeof(*headers));

	assert_non_null(headers);
	file->fd = memfd_create("hostile", MFD_CLOEXEC);
	assert_true(file->fd >= 0);
	assert_int_equal(ftruncate(file->fd, (off_t)(sections_at + sizeof(sections) + code)), 0);
	/* The last is the one that all functions are in. */
	for (size_t i = 0; i < segments; i++)
		headers[i] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, i * 4096, i * 4096, 4096, 4096, 4096};
	headers[segments - 1] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, TEXT_VADDR, TEXT_VADDR, code, code, 4096};
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

/* What the file is that is worked on. */
static struct symbols_file current;

static void walk_symbols(size_t size)
{
	struct elf_file *elf = open_copy(current.fd);
	struct elf_symbol symbol;
	size_t count = 0;

	assert_int_equal(elf_file__each_function(elf, ELF_TABLE_FULL, NULL, count_function, &count), 0);
	assert_int_equal(count, size);
	assert_int_equal(elf_file__find_function(elf, "_PyEval_EvalFrameDefault", &symbol), -ENOENT);
	elf_file__free(elf);
}

static void find_addresses(size_t size)
{
	struct elf_file *elf = open_copy(current.fd);

	for (uint64_t i = 0; i < size / 100; i++) {
		uint64_t offset;
		char *name;
		int ret = elf_file__symbol_at(elf, TEXT_VADDR + i * (current.at_one_place ? 1 : 16) + 3, &name, &offset);

		assert_true(ret == 0 || current.at_one_place);
		free(name);
	}
	assert_true(elf_file__index_size(elf) <= 64u << 20);
	elf_file__free(elf);
}

static void compare_files(const char *what, work_fn work, struct symbols_file file, size_t size)
{
	uint64_t took[2];

	for (int i = 0; i < 2; i++) {
		struct stat stat;

		current = file;
		current.symbols = i ? 4 * size : size;
		make_symbols_file(&current);
		assert_int_equal(fstat(current.fd, &stat), 0);
		took[i] = time_of(work, current.symbols);
		print_message("%s: %zu symbols, %.0f MB: %.1f ms\n", what, current.symbols, (double)stat.st_size / 1e6,
			      (double)took[i] / MS);
		close(current.fd);
	}
	assert_true(took[1] < GROWTH_MAX * (took[0] > TOO_QUICK ? took[0] : TOO_QUICK));
}

/* Held up is who reads it: half a second for 100 MB is what a slow machine may take. */
static void million_symbols(void **state)
{
	(void)state;
	compare_files("walked", walk_symbols, (struct symbols_file){0}, 250000);
	compare_files("indexed, one in 100 looked up", find_addresses, (struct symbols_file){0}, 250000);
	compare_files("all at one address", find_addresses, (struct symbols_file){.at_one_place = true}, 100000);
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

/* What a header says where nothing is true of it. */
struct lie {
	const char *what;
	Elf64_Ehdr header;
	Elf64_Shdr section; /* all of them are so */
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
		 {.sh_type = SHT_STRTAB, .sh_link = 1, .sh_offset = UINT64_MAX - 10, .sh_size = UINT64_MAX},
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

/* Sparse, with the largest tables that are believed: 8 million symbols, 256 MiB of names. */
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
		[1] = {.sh_type = SHT_SYMTAB, .sh_link = 2, .sh_offset = 1u << 20, .sh_entsize = 24, .sh_size = 24ull << 23},
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
	print_message("a name sought in 8,388,608 symbols: %.1f ms\n", (double)(spent() - begin) / MS);
	assert_true(spent() - begin < SLOWER * 5000 * MS);
	elf_file__free(elf);
}

/* --- names of kernels --- */

static struct launch_key key_of(size_t i)
{
	return (struct launch_key){.kernel = {.handle = 0x7f0000000000ull + i * 64, .slot = 1}};
}

/* Found without a name first, then each gets its name. */
static void name_kernels(size_t size)
{
	struct kernel_table *table = kernel_table__new();
	struct process process = {.pid = 1};
	char name[64];

	for (size_t i = 0; i < size; i++) {
		struct launch_key key = key_of(i);

		assert_int_equal(kernel_table__set(table, &key, 1, NULL), 0);
	}
	for (size_t i = 0; i < size; i++) {
		struct launch_key key = key_of(i);

		snprintf(name, sizeof(name), "_Z%zuhostile_kernel_%zui", strlen("hostile_kernel_") + 5, 10000 + i % 90000);
		assert_int_equal(kernel_table__set(table, &key, 2, name), 0);
	}
	assert_int_equal(kernel_table__list(table, &process), 0);
	assert_int_equal(process.launches, 2 * size);
	process.kernel_table = table;
	process__clear(&process);
}

struct name_notice {
	union {
		struct record_name record;
		char bytes[sizeof(struct record_name) + KERNEL_NAME_MAX + 1];
	};
};

static void give_name(struct name_store *store, size_t i, size_t length)
{
	static struct name_notice notice;

	notice.record = (struct record_name){
		.header = {.type = RECORD_KERNEL_NAME, .slot = 1},
		.handle = 0x7f0000000000ull + i * 64,
		.module = 1 + i,
		.source = NAME_GIVEN,
		.length = (uint16_t)length,
	};
	memset(notice.record.name, 'a', length);
	notice.record.name[length] = '\0';
	snprintf(notice.record.name, 32, "_Z%zu", i);
	notice.record.name[strlen(notice.record.name)] = 'k';
	assert_int_equal(name_store__add(store, &notice.record, notice.record.name), 0);
}

/* As many unloads as names, of modules of which nothing is known. */
static void unload_modules(size_t size)
{
	struct name_store *store = name_store__new();

	for (size_t i = 0; i < size; i++)
		give_name(store, i, 40);
	for (size_t i = 0; i < size; i++)
		name_store__unload(store, 1, UINT64_MAX - i, (uint32_t)i + 1);
	for (size_t i = 0; i < size; i++)
		name_store__forget(store, (uint32_t)i + 2);
	name_store__free(store);
}

static void hundred_thousand_kernels(void **state)
{
	(void)state;
	assert_linear("kernels named", name_kernels, 25000);
	assert_linear("modules unloaded", unload_modules, 25000);
}

/* A program that goes on asking for kernels by names as long as they may be. */
static void names_are_bounded(void **state)
{
	size_t before = resident_bytes(), grown;
	struct name_store *store = name_store__new();
	struct kernel_table *table = kernel_table__new();
	char name[KERNEL_NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		give_name(store, i, KERNEL_NAME_MAX);
	grown = resident_bytes() - before;
	print_message("100,000 names of %d bytes: %zu MiB are kept\n", KERNEL_NAME_MAX, grown >> 20);
	assert_true(grown < SLOWER * (100ull << 20));
	name_store__free(store);
	for (size_t i = 0; i < 100000; i++) {
		struct launch_key key = key_of(i);

		memset(name, 'b', KERNEL_NAME_MAX);
		name[KERNEL_NAME_MAX] = '\0';
		name[snprintf(name, sizeof(name), "k%zu", i)] = 'b';
		assert_int_equal(kernel_table__set(table, &key, 1, name), 0);
	}
	grown = resident_bytes() - before;
	print_message("100,000 kernels of such names: %zu MiB\n", grown >> 20);
	assert_true(grown < SLOWER * (200ull << 20));
	kernel_table__free(table);
}

/* "S1_" stands for a type that came before: a pair of two such is twice as long. */
static void exploding_names(void **state)
{
	struct kernel_table *table = kernel_table__new();
	uint64_t begin = spent();
	size_t before = resident_bytes();
	char name[1024];

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		struct launch_key key = key_of(i);
		size_t at = (size_t)snprintf(name, sizeof(name), "_Z7k%06zuSt4pairIiiE", i);

		for (int depth = 0; depth < 9; depth++)
			at += (size_t)snprintf(name + at, sizeof(name) - at, "S_IS%d_S%d_E", depth, depth);
		assert_int_equal(kernel_table__set(table, &key, 1, name), 0);
	}
	print_message("10,000 names that explode: %.1f ms, %zu MiB\n", (double)(spent() - begin) / MS,
		      (resident_bytes() - before) >> 20);
	assert_true(spent() - begin < SLOWER * 3000 * MS);
	assert_true(resident_bytes() - before < SLOWER * (100ull << 20));
	kernel_table__free(table);
}

/* --- tables --- */

struct entry {
	uint64_t key;
	UT_hash_handle hh;
};

/* Keys that uthash's own function, the same everywhere, puts into one chain of a table of up to 65,536. */
static void choose_keys(uint64_t *keys, size_t count)
{
	uint64_t key = 0x7f0000000000ull;

	for (size_t i = 0; i < count; key += 16) {
		unsigned int hash;

		HASH_JEN(&key, sizeof(key), hash);
		if (!(hash & 0xffff))
			keys[i++] = key;
	}
}

static uint64_t time_of_table(const uint64_t *keys, size_t count)
{
	struct entry *entries = calloc(count, sizeof(*entries)), *table = NULL, *found;
	uint64_t begin = spent();

	assert_non_null(entries);
	for (size_t i = 0; i < count; i++) {
		entries[i].key = keys[i];
		HASH_FIND(hh, table, &keys[i], sizeof(keys[i]), found);
		assert_null(found);
		HASH_ADD(hh, table, key, sizeof(keys[i]), &entries[i]);
	}
	for (size_t i = 0; i < count; i++)
		HASH_FIND(hh, table, &keys[i], sizeof(keys[i]), found);
	HASH_CLEAR(hh, table);
	begin = spent() - begin;
	free(entries);
	return begin;
}

static void chosen_handles(void **state)
{
	enum {
		COUNT = 3000
	};
	static uint64_t keys[COUNT], plain[COUNT];
	uint64_t chosen = UINT64_MAX, usual = UINT64_MAX, took;

	(void)state;
	choose_keys(keys, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		plain[i] = 0x7f0000000000ull + 16 * i;
	for (int i = 0; i < 5; i++) {
		took = time_of_table(plain, COUNT);
		usual = took < usual ? took : usual;
		took = time_of_table(keys, COUNT);
		chosen = took < chosen ? took : chosen;
	}
	print_message("%d handles: %.2f ms, chosen to collide: %.2f ms\n", COUNT, (double)usual / MS, (double)chosen / MS);
	assert_true(chosen < 4 * usual);
}

/* --- mappings --- */

static void map_pieces(size_t size)
{
	struct process_map *map = process_map__new(getpid());
	int ret = process_map__read(map, NULL);

	(void)size;
	assert_int_equal(ret, 0);
	process_map__free(map);
}

static int count_mapping(const struct mapping *mapping, void *arg)
{
	(void)mapping;
	++*(size_t *)arg;
	return 0;
}

/* Every other page of a file is executable, so that none is one mapping with the next. */
static uint64_t time_of_mappings(size_t count)
{
	size_t size = count * 4096, lines = 0;
	int fd = memfd_create("mapped", MFD_CLOEXEC);
	uint64_t took;
	char *at;

	assert_true(fd >= 0 && !ftruncate(fd, (off_t)size));
	at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	for (size_t i = 0; i + 1 < count; i += 2)
		assert_int_equal(mprotect(at + i * 4096, 4096, PROT_READ | PROT_EXEC), 0);
	proc_maps__each(getpid(), count_mapping, &lines);
	assert_true(lines >= count - 2);
	took = time_of(map_pieces, count);
	print_message("%zu mappings: %.1f ms\n", lines, (double)took / MS);
	munmap(at, size);
	close(fd);
	return took;
}

/* As many as the kernel lets a process have, less some of its own. */
static void many_mappings(void **state)
{
	uint64_t small = time_of_mappings(16000), large = time_of_mappings(64000);

	(void)state;
	assert_true(large < GROWTH_MAX * (small > TOO_QUICK ? small : TOO_QUICK));
}

static void map_libraries(const char *folder, size_t count, bool map)
{
	char path[256];

	for (size_t i = 0; i < count; i++) {
		static const struct test_symbol symbols[] = {{"f", FUNCTION_VADDR(0), 64, 0, 1}, {0}};
		static struct test_image image;
		FILE *out;

		snprintf(path, sizeof(path), "%s/lib%zu.so", folder, i);
		if (!map) {
			unlink(path);
			continue;
		}
		if (!image.size)
			image = build_elf(&(struct test_elf){.full = symbols});
		out = fopen(path, "w+e");
		assert_non_null(out);
		/* Its code is zeros that are nowhere: the file is small. */
		assert_int_equal(fwrite(image.bytes, 1, 4096, out), 4096);
		assert_int_equal(fseek(out, (long)DATA_OFFSET, SEEK_SET), 0);
		assert_int_equal(fwrite(image.bytes + DATA_OFFSET, 1, image.size - DATA_OFFSET, out), image.size - DATA_OFFSET);
		fflush(out);
		assert_ptr_not_equal(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), TEXT_OFFSET), MAP_FAILED);
		fclose(out);
	}
}

/* All of them are opened as they are seen, no more than a thousand at once. */
static void thousands_of_libraries(void **state)
{
	char folder[] = "/tmp/gpuprobe-hostile-XXXXXX";
	struct native_frames *frames = native_frames__new(true, NULL);
	struct native_process *process = native_process__new(getpid());

	(void)state;
	assert_non_null(mkdtemp(folder));
	map_libraries(folder, 4000, true);
	for (int i = 0; i < 5; i++) {
		uint64_t begin = spent();

		native_frames__read(frames, process);
		print_message("4,000 libraries, reading %d: %.1f ms\n", i, (double)(spent() - begin) / MS);
		assert_true(spent() - begin < SLOWER * 2000 * MS);
	}
	native_process__free(process);
	native_frames__free(frames);
	map_libraries(folder, 4000, false);
	rmdir(folder);
}

/* --- other files --- */

/* Entries that all name another file. */
static void endless_cache(void **state)
{
	char folder[] = "/tmp/gpuprobe-hostile-XXXXXX", path[128];
	const uint32_t count = 200000, begin = 48 + count * 24;
	struct path_list list;
	struct error err = {""};
	uint64_t took = spent();
	FILE *out;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/etc", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/ld.so.cache");
	out = fopen(path, "we");
	assert_non_null(out);
	fprintf(out, "glibc-ld.so.cache1.1");
	fwrite((uint32_t[7]){count, count + 14}, 4, 7, out);
	for (uint32_t i = 0; i < count; i++)
		fwrite((uint32_t[6]){0x0303, begin, begin + 13 + i}, 4, 6, out);
	fwrite("libcuda.so.1", 13, 1, out);
	for (uint32_t i = 0; i < count; i++)
		fputc('/', out);
	fputc('\0', out);
	fclose(out);
	assert_int_equal(loader_cache__find_cuda(folder, &list, &err), -E2BIG);
	took = spent() - took;
	print_message("%u libraries in the loader's cache: %.1f ms\n", count, (double)took / MS);
	assert_true(took < SLOWER * 2000 * MS);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(million_symbols),
		cmocka_unit_test(many_segments),
		cmocka_unit_test(lying_headers),
		cmocka_unit_test(largest_tables),
		cmocka_unit_test(hundred_thousand_kernels),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(exploding_names),
		cmocka_unit_test(chosen_handles),
		cmocka_unit_test(many_mappings),
		cmocka_unit_test(thousands_of_libraries),
		cmocka_unit_test(endless_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
