// SPDX-License-Identifier: BSD-2-Clause
// Deliberately large input: endless names, chosen handles, mappings and files. Time must grow with
// the size, not with its square.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
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
#include "base/table.h"
#include "model/kernels.h"
#include "model/model.h"
#include "model/kernel_names.h"
#include "output/json/report.h"
#include "symbol/kernel_name.h"
#include "symbol/native_frames.h"
#include "symbol/perf_map.h"
#include "symbol/process_map.h"
#include "target/loader_cache.h"
#include "target/proc_maps.h"

/* --- names of kernels --- */

static struct launch_key key_of(size_t i)
{
	return (struct launch_key){.kernel = {.handle = 0x7f0000000000ull + i * 64, .slot = 1}};
}

/* The kernels are first found without names, then each gets its name. */
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

		snprintf(name, sizeof(name), "_Z%zuhostile_kernel_%zui",
			 strlen("hostile_kernel_") + 5, 10000 + i % 90000);
		assert_int_equal(kernel_table__set(table, &key, 2, name), 0);
	}
	assert_int_equal(kernel_table__list(table, &process), 0);
	assert_int_equal(process.launches, 2 * size);
	process.kernel_table = table;
	process__clear(&process);
}

/* Growth of the resident memory in bytes; 0 if it shrank, as when a sanitizer releases memory. */
static size_t grown_since(size_t before)
{
	size_t now = resident_bytes();

	return now > before ? now - before : 0;
}

struct name_notice {
	union {
		struct record_name record;
		char bytes[sizeof(struct record_name) + KERNEL_NAME_MAX + 1];
	};
};

static void give_name(struct kernel_names *store, uint32_t slot, size_t i, size_t length)
{
	static struct name_notice notice;

	notice.record = (struct record_name){
		.header = {.type = RECORD_KERNEL_NAME, .slot = slot},
		.handle = 0x7f0000000000ull + i * 64,
		.module = 1 + i,
		.source = NAME_GIVEN,
		.length = (uint16_t)length,
	};
	memset(notice.record.name, 'a', length);
	notice.record.name[length] = '\0';
	snprintf(notice.record.name, 32, "_Z%zu", i);
	notice.record.name[strlen(notice.record.name)] = 'k';
	assert_int_equal(kernel_names__add(store, &notice.record, notice.record.name), 0);
}

/* As many unloads as names, of unknown modules. */
static void unload_modules(size_t size)
{
	struct kernel_names *store = kernel_names__new();

	for (size_t i = 0; i < size; i++)
		give_name(store, 1, i, 40);
	for (size_t i = 0; i < size; i++)
		kernel_names__unload(store, 1, UINT64_MAX - i, (uint32_t)i + 1);
	for (size_t i = 0; i < size; i++)
		kernel_names__forget(store, (uint32_t)i + 2);
	kernel_names__free(store);
}

static void tens_of_thousands_of_kernels(void **state)
{
	(void)state;
	assert_linear("kernels named", name_kernels, 2500);
	assert_linear("modules unloaded", unload_modules, 2500);
}

/*
 * A module is unloaded: each of its kernels is checked for being over, and addresses are looked up.
 */
static void end_kernels(size_t size)
{
	struct kernel_table *table = kernel_table__new();
	const char *label;

	for (size_t i = 0; i < size; i++) {
		struct launch_key key = key_of(i);

		assert_int_equal(kernel_table__set(table, &key, 1, NULL), 0);
	}
	for (size_t i = 0; i < size; i++) {
		struct launch_key key = key_of(i);

		assert_false(kernel_table__is_over(table, &key.kernel));
		assert_int_equal(kernel_table__retire(table, &key), 0);
		assert_true(kernel_table__is_over(table, &key.kernel));
		assert_true(kernel_table__knows(table, key.kernel.handle, &label));
	}
	kernel_table__free(table);
}

static void unloads_tens_of_thousands_of_kernels(void **state)
{
	(void)state;
	assert_linear("kernels ended", end_kernels, 2500);
}

/*
 * The same with seven processes that want as much as they can get, 448 MiB, and one that has a few.
 */
static void names_of_all_are_bounded(void **state)
{
	struct kernel_key few = {.handle = 0x7f0000000000ull, .slot = 99};
	size_t before = resident_bytes(), grown;
	struct kernel_names *store = kernel_names__new();

	(void)state;
	for (size_t i = 0; i < 100; i++)
		give_name(store, few.slot, i, 100);
	for (uint32_t slot = 0; slot < 7; slot++)
		for (size_t i = 0; i < 17000; i++)
			give_name(store, slot, i, KERNEL_NAME_MAX);
	grown = grown_since(before);
	print_message("17,000 names of %d bytes of each of seven: %zu MiB are kept\n",
		      KERNEL_NAME_MAX, grown >> 20);
	assert_true(grown < SLOWER * (330ull << 20));
	assert_non_null(kernel_names__find(store, &few));
	kernel_names__free(store);
}

/* The same with shown kernels: without a bound it is 470 MiB. */
static void kernels_names_of_all_are_bounded(void **state)
{
	enum {
		TABLES = 7
	};
	struct kernel_table *tables[TABLES + 1];
	size_t before = resident_bytes(), all = 0, grown;
	struct launch_key key = key_of(0);
	char name[KERNEL_NAME_MAX + 1];
	struct kernel_texts texts;

	(void)state;
	memset(name, 'b', KERNEL_NAME_MAX);
	name[KERNEL_NAME_MAX] = '\0';
	for (size_t t = 0; t <= TABLES; t++) {
		tables[t] = kernel_table__new();
		kernel_table__share(tables[t], &all);
		for (size_t i = 0; i < (t < TABLES ? 6000 : 1); i++) {
			key = key_of(i);
			name[snprintf(name, sizeof(name), "k%zu", i)] = 'b';
			assert_int_equal(kernel_table__set(tables[t], &key, 1, name), 0);
		}
	}
	grown = grown_since(before);
	print_message("6,000 kernels of such names of each of %d: %zu MiB\n", TABLES, grown >> 20);
	assert_true(grown < SLOWER * (400ull << 20));
	/* The last process, which has few names, still gets them. */
	assert_true(kernel_table__texts(tables[TABLES], &key.kernel, &texts));
	for (size_t t = 0; t <= TABLES; t++)
		kernel_table__free(tables[t]);
	assert_int_equal(all, 0);
}

/*
 * A program that keeps requesting kernels by names of the greatest length: 120 MB, and 300 if the
 * kernels are shown.
 */
static void names_are_bounded(void **state)
{
	enum {
		COUNT = 30000
	};
	size_t before = resident_bytes(), grown;
	struct kernel_names *store = kernel_names__new();
	struct kernel_table *table = kernel_table__new();
	char name[KERNEL_NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		give_name(store, 1, i, KERNEL_NAME_MAX);
	grown = grown_since(before);
	print_message("%d names of %d bytes: %zu MiB are kept\n", COUNT, KERNEL_NAME_MAX,
		      grown >> 20);
	assert_true(grown < SLOWER * (100ull << 20));
	kernel_names__free(store);
	for (size_t i = 0; i < COUNT; i++) {
		struct launch_key key = key_of(i);

		memset(name, 'b', KERNEL_NAME_MAX);
		name[KERNEL_NAME_MAX] = '\0';
		name[snprintf(name, sizeof(name), "k%zu", i)] = 'b';
		assert_int_equal(kernel_table__set(table, &key, 1, name), 0);
	}
	grown = grown_since(before);
	print_message("%d kernels of such names: %zu MiB\n", COUNT, grown >> 20);
	assert_true(grown < SLOWER * (200ull << 20));
	kernel_table__free(table);
}

/* "S1_" stands for an earlier type: a pair of two such types is twice as long. */
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
			at += (size_t)snprintf(name + at, sizeof(name) - at, "S_IS%d_S%d_E", depth,
					       depth);
		assert_int_equal(kernel_table__set(table, &key, 1, name), 0);
	}
	print_message("10,000 names that explode: %.1f ms, %.0f MiB\n",
		      (double)(spent() - begin) / MS,
		      ((double)resident_bytes() - (double)before) / (1 << 20));
	assert_true(spent() - begin < SLOWER * 3000 * MS);
	assert_true(resident_bytes() < before + SLOWER * (100ull << 20));
	kernel_table__free(table);
}

/* --- tables --- */

struct entry {
	uint64_t key;
	UT_hash_handle hh;
};

/*
 * Keys that uthash's own function, which is the same everywhere, puts into one chain of a table of
 * up to 4,096.
 */
static void choose_keys(uint64_t *keys, size_t count)
{
	uint64_t key = 0x7f0000000000ull;

	for (size_t i = 0; i < count; key += 16) {
		unsigned int hash;

		HASH_JEN(&key, sizeof(key), hash);
		if (!(hash & 0xfff))
			keys[i++] = key;
	}
}

/* Number of key comparisons when each key is looked up once. */
static size_t comparisons_of(const uint64_t *keys, size_t count)
{
	struct entry *entries = calloc(count, sizeof(*entries)), *table = NULL, *found;
	size_t comparisons = 0;

	assert_non_null(entries);
	for (size_t i = 0; i < count; i++) {
		entries[i].key = keys[i];
		HASH_FIND(hh, table, &keys[i], sizeof(keys[i]), found);
		assert_null(found);
		HASH_ADD(hh, table, key, sizeof(keys[i]), &entries[i]);
	}
	for (size_t i = 0; i < table->hh.tbl->num_buckets; i++) {
		size_t chain = table->hh.tbl->buckets[i].count;

		comparisons += chain * (chain + 1) / 2;
	}
	HASH_CLEAR(hh, table);
	free(entries);
	return comparisons;
}

static void chosen_handles(void **state)
{
	enum {
		COUNT = 3000
	};
	static uint64_t keys[COUNT], plain[COUNT];
	size_t chosen, usual;

	(void)state;
	choose_keys(keys, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		plain[i] = 0x7f0000000000ull + 16 * i;
	usual = comparisons_of(plain, COUNT);
	chosen = comparisons_of(keys, COUNT);
	print_message("%d handles: %zu comparisons, chosen to collide: %zu\n", COUNT, usual,
		      chosen);
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

/*
 * Every other page of a file is executable, so that the kernel does not merge mappings. Reading
 * this many may take GROWTH_MAX times as long as `small`; 0: no limit.
 */
static uint64_t time_of_mappings(size_t count, uint64_t small)
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
	took = small ? assert_no_square(small, map_pieces, count) :
		       time_of_small(map_pieces, count);
	print_message("%zu mappings: %.1f ms\n", lines, (double)took / MS);
	munmap(at, size);
	close(fd);
	return took;
}

/* As many as the kernel permits a process, minus some for this process itself. */
static void many_mappings(void **state)
{
	(void)state;
	time_of_mappings(64000, time_of_mappings(4000, 0));
}

/*
 * A file in a directory so deep that its full path is too long for any call; a program creates it
 * by changing directory step by step.
 */
struct deep_file {
	char folder[64];
	char name[256]; /* of each directory */
	size_t depth;
	int before; /* this program's original directory */
	int fd;
};

static void make_deep(struct deep_file *deep, char letter, size_t depth)
{
	snprintf(deep->folder, sizeof(deep->folder), "/tmp/gpuprobe-hostile-XXXXXX");
	memset(deep->name, letter, 200);
	deep->name[200] = '\0';
	deep->depth = depth;
	deep->before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(deep->before >= 0);
	assert_non_null(mkdtemp(deep->folder));
	assert_int_equal(chdir(deep->folder), 0);
	for (size_t i = 0; i < depth; i++) {
		assert_int_equal(mkdir(deep->name, 0700), 0);
		assert_int_equal(chdir(deep->name), 0);
	}
	deep->fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	assert_true(deep->fd >= 0 && !ftruncate(deep->fd, 4096));
}

/* This program is still in the deepest directory. */
static void remove_deep(struct deep_file *deep)
{
	close(deep->fd);
	unlink("f");
	for (size_t i = 0; i < deep->depth; i++) {
		assert_int_equal(chdir(".."), 0);
		rmdir(deep->name);
	}
	assert_int_equal(fchdir(deep->before), 0);
	close(deep->before);
	rmdir(deep->folder);
}

/*
 * Pages with a gap between each two, so that the kernel does not merge them; the last one maps an
 * ordinary file.
 */
#define PLAIN_FILE "/proc/self/exe"

static char *map_deep(const struct deep_file *deep, size_t count)
{
	char *at = mmap(NULL, (2 * count + 1) * 4096, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int plain = open(PLAIN_FILE, O_RDONLY | O_CLOEXEC);

	assert_ptr_not_equal(at, MAP_FAILED);
	for (size_t i = 0; i <= count; i++)
		assert_ptr_not_equal(mmap(at + 2 * i * 4096, 4096, PROT_READ | PROT_EXEC,
					  MAP_PRIVATE | MAP_FIXED, i < count ? deep->fd : plain, 0),
				     MAP_FAILED);
	close(plain);
	return at;
}

struct deep_search {
	uint64_t start, end;   /* what map_deep has mapped */
	size_t deep, too_long; /* mappings of the deep file, and those of them without a path */
	size_t longest;	       /* path */
	bool found;	       /* the other file */
};

static int look_at_deep(const struct mapping *mapping, void *arg)
{
	struct deep_search *search = arg;
	size_t length = strlen(mapping->path);

	if (length > search->longest)
		search->longest = length;
	if (mapping->start < search->start || mapping->start >= search->end || !mapping->executable)
		return 0;
	search->deep += mapping->end < search->end;
	search->too_long += mapping->path_too_long;
	search->found |= mapping->end == search->end && mapping__is_file(mapping);
	return 0;
}

static int read_deep(char *at, size_t count, struct deep_search *search)
{
	*search = (struct deep_search){.start = (uintptr_t)at,
				       .end = (uintptr_t)at + (2 * count + 1) * 4096};
	return proc_maps__each(getpid(), look_at_deep, search);
}

/* The mappings after them are found, and none of their bytes is kept. */
static void paths_without_end(void **state)
{
	enum {
		COUNT = 40
	};
	struct deep_file deep;
	struct deep_search search;
	struct process_map *map = process_map__new(getpid());
	char *at;
	size_t before;

	(void)state;
	make_deep(&deep, 'd', 500);
	at = map_deep(&deep, COUNT);
	assert_int_equal(read_deep(at, COUNT, &search), 0);
	assert_int_equal(search.deep, COUNT);
	assert_int_equal(search.too_long, COUNT);
	assert_true(search.longest < PATH_MAX);
	assert_true(search.found);
	before = mallinfo2().uordblks;
	assert_int_equal(process_map__read(map, NULL), 0);
	assert_true(mallinfo2().uordblks - before < 1 << 20);
	assert_non_null(process_map__find(map, search.end - 1));
	process_map__free(map);
	munmap(at, search.end - search.start);
	remove_deep(&deep);
}

/* 100 MB of text, of which as much is read as 100,000 ordinary mappings have. */
static void text_without_end(void **state)
{
	enum {
		COUNT = 1000
	};
	struct deep_file deep;
	struct deep_search search;
	uint64_t took;
	char *at;

	(void)state;
	make_deep(&deep, 'd', 500);
	at = map_deep(&deep, COUNT);
	took = spent();
	assert_int_equal(read_deep(at, COUNT, &search), -EFBIG);
	took = spent() - took;
	print_message("%d mappings of paths of 100 KB: %.1f ms\n", COUNT, (double)took / MS);
	assert_true(search.deep < COUNT / 2);
	assert_true(took < SLOWER * 2000 * MS);
	munmap(at, search.end - search.start);
	remove_deep(&deep);
}

/* The kernel prints a newline as four characters: the longest line of a path that is passed on. */
static void path_of_newlines(void **state)
{
	struct deep_file deep;
	struct deep_search search;
	char *at;

	(void)state;
	make_deep(&deep, '\n', 20);
	at = map_deep(&deep, 2);
	assert_int_equal(read_deep(at, 2, &search), 0);
	assert_int_equal(search.too_long, 0);
	assert_true(search.longest >= 20 * 201 && search.longest < PATH_MAX);
	assert_true(search.found);
	munmap(at, search.end - search.start);
	remove_deep(&deep);
}

/* Paths of 4,000 bytes, which can be opened: 2 MiB of them are kept. */
static void kept_paths_are_bounded(void **state)
{
	enum {
		COUNT = 2000
	};
	struct process_map *map = process_map__new(getpid());
	struct deep_file deep;
	size_t before;
	char *at;

	(void)state;
	make_deep(&deep, 'd', 19);
	at = map_deep(&deep, COUNT);
	before = mallinfo2().uordblks;
	assert_int_equal(process_map__read(map, NULL), 0);
	print_message("%d mappings of paths of 4 KB: %zu KiB kept\n", COUNT,
		      (mallinfo2().uordblks - before) >> 10);
	assert_true(mallinfo2().uordblks - before < 3 << 20);
	process_map__free(map);
	munmap(at, (2 * COUNT + 1) * 4096);
	remove_deep(&deep);
}

static void map_libraries(const char *folder, size_t count, bool map)
{
	char path[256];

	for (size_t i = 0; i < count; i++) {
		static const struct test_symbol symbols[] = {{"f", FUNCTION_VADDR(0), 64, 0, 1},
							     {0}};
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
		/* Its code is a hole of zeros: the file takes little space. */
		assert_int_equal(fwrite(image.bytes, 1, 4096, out), 4096);
		assert_int_equal(fseek(out, (long)DATA_OFFSET, SEEK_SET), 0);
		assert_int_equal(
			fwrite(image.bytes + DATA_OFFSET, 1, image.size - DATA_OFFSET, out),
			image.size - DATA_OFFSET);
		fflush(out);
		assert_ptr_not_equal(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
					  fileno(out), TEXT_OFFSET),
				     MAP_FAILED);
		fclose(out);
	}
}

/* All of them are opened as they are found, at most a thousand at once. */
static void thousands_of_libraries(void **state)
{
	enum {
		COUNT = 2000
	};
	char folder[] = "/tmp/gpuprobe-hostile-XXXXXX";
	struct native_frames *frames = native_frames__new(true, NULL);
	struct native_process *process = native_process__new(getpid());

	(void)state;
	assert_non_null(mkdtemp(folder));
	map_libraries(folder, COUNT, true);
	for (int i = 0; i < 5; i++) {
		uint64_t begin = spent();

		native_frames__read(frames, process);
		print_message("%d libraries, reading %d: %.1f ms\n", COUNT, i,
			      (double)(spent() - begin) / MS);
		assert_true(spent() - begin < SLOWER * 1000 * MS);
	}
	native_process__free(process);
	native_frames__free(frames);
	map_libraries(folder, COUNT, false);
	rmdir(folder);
}

/* --- other files --- */

/* Entries that each name another file. */
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
		cmocka_unit_test(tens_of_thousands_of_kernels),
		cmocka_unit_test(unloads_tens_of_thousands_of_kernels),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(names_of_all_are_bounded),
		cmocka_unit_test(kernels_names_of_all_are_bounded),
		cmocka_unit_test(exploding_names),
		cmocka_unit_test(chosen_handles),
		cmocka_unit_test(many_mappings),
		cmocka_unit_test(paths_without_end),
		cmocka_unit_test(text_without_end),
		cmocka_unit_test(path_of_newlines),
		cmocka_unit_test(kept_paths_are_bounded),
		cmocka_unit_test(thousands_of_libraries),
		cmocka_unit_test(endless_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
