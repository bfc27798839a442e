// SPDX-License-Identifier: BSD-2-Clause
// Deliberately large input: mappings, their paths, and the loader's cache. Time must grow with the
// size, not with its square.
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
#include "model/model.h"
#include "symbol/native_frames.h"
#include "symbol/process_map.h"
#include "target/loader_cache.h"
#include "target/proc_maps.h"

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
		cmocka_unit_test(many_mappings),	  cmocka_unit_test(paths_without_end),
		cmocka_unit_test(text_without_end),	  cmocka_unit_test(path_of_newlines),
		cmocka_unit_test(kept_paths_are_bounded), cmocka_unit_test(thousands_of_libraries),
		cmocka_unit_test(endless_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
