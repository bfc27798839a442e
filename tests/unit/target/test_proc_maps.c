// SPDX-License-Identifier: BSD-2-Clause
// /proc/PID/maps: its lines, including odd ones, and how the files behind them are reached.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "no_valgrind.h"
#include "target/proc_maps.h"

struct seen {
	struct mapping mapping;
	const char *path; /* until the next is kept */
	size_t count;
};

static int keep(const struct mapping *mapping, void *arg)
{
	static char path[4096];
	struct seen *seen = arg;

	seen->mapping = *mapping;
	snprintf(path, sizeof(path), "%s", mapping->path);
	seen->mapping.path = seen->path = path;
	seen->count++;
	return 0;
}

static struct seen parse(const char *text)
{
	struct seen seen = {.count = 0};
	char *copy = strdup(text);

	assert_int_equal(proc_maps__each_line(copy, keep, &seen), 0);
	free(copy);
	return seen;
}

/* The maximum length of a path that can be opened, and one byte more. */
static void drops_paths_too_long(void **state)
{
	static char text[8192];
	char path[4097];
	struct seen seen;

	(void)state;
	for (int length = 4095; length <= 4096; length++) {
		memset(path, 'p', sizeof(path));
		path[0] = '/';
		path[length] = '\0';
		snprintf(text, sizeof(text),
			 "1000-2000 r-xp 00000000 fe:1b 12 %s (deleted)\n3000-4000 r-xp 00000000 "
			 "fe:1b 13 /next\n",
			 path);
		seen = parse(text);
		assert_int_equal(seen.count, 2);
		assert_string_equal(seen.path, "/next");
		assert_false(seen.mapping.path_too_long);
		*strchr(text, '\n') = '\0';
		seen = parse(text);
		assert_int_equal(seen.count, 1);
		assert_int_equal(seen.mapping.inode, 12);
		assert_true(seen.mapping.executable && seen.mapping.deleted);
		assert_int_equal(seen.mapping.path_too_long, length == 4096);
		assert_int_equal(mapping__is_file(&seen.mapping), length == 4095);
		assert_string_equal(seen.path, length == 4095 ? path : "");
	}
}

static void parses_a_line(void **state)
{
	struct seen seen = parse("7f2a3c000000-7f2a3c021000 r-xp 0001f000 fe:1b 1234567890"
				 "                 /usr/lib/libcuda.so.1\n");

	(void)state;
	assert_int_equal(seen.count, 1);
	assert_true(seen.mapping.start == 0x7f2a3c000000);
	assert_true(seen.mapping.end == 0x7f2a3c021000);
	assert_int_equal(seen.mapping.file_offset, 0x1f000);
	assert_true(seen.mapping.executable);
	assert_false(seen.mapping.deleted);
	assert_int_equal(major(seen.mapping.device), 0xfe);
	assert_int_equal(minor(seen.mapping.device), 0x1b);
	assert_int_equal(seen.mapping.inode, 1234567890);
	assert_string_equal(seen.path, "/usr/lib/libcuda.so.1");
	assert_true(mapping__is_file(&seen.mapping));
}

static void parses_other_lines(void **state)
{
	struct seen seen;

	(void)state;
	seen = parse("1000-2000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.path, "");
	assert_false(seen.mapping.executable);
	assert_false(mapping__is_file(&seen.mapping));
	seen = parse("1000-2000 rw-p 00000000 00:00 0");
	assert_int_equal(seen.count, 1);
	seen = parse("1000-2000 r-xp 0 00:00 0    [vdso]\n");
	assert_string_equal(seen.path, "[vdso]");
	assert_false(mapping__is_file(&seen.mapping));
	seen = parse("1000-2000 r-xp 0 00:01 77    /memfd:x (deleted)\n");
	assert_true(seen.mapping.deleted);
	assert_string_equal(seen.path, "/memfd:x");
	seen = parse("1000-2000 r-xp 0 00:01 77    /tmp/a b (copy)\n");
	assert_false(seen.mapping.deleted);
	assert_string_equal(seen.path, "/tmp/a b (copy)");
	seen = parse("1000-2000 r-xp 0 00:01 77    /tmp/two\\012lines\\012\\101 (deleted)\n");
	assert_string_equal(seen.path, "/tmp/two\nlines\n\\101");
	assert_true(seen.mapping.deleted);
	seen = parse("ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]\n");
	assert_true(seen.mapping.start == 0xffffffffff600000);
	assert_true(seen.mapping.executable);
}

static void skips_what_is_no_line(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"x",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xpq 0 0:0 0 /a",
		"1000-2000 r-xp 0 0 0 /a",
		"1000-2000 r-xp 0 0:0",
		"1000-2000 r-xp z 0:0 0 /a",
		"2000-1000 r-xp 0 0:0 1 /a",
		"1000-1000 r-xp 0 0:0 1 /a",
		"-1000-2000 r-xp 0 0:0 1 /a",
		"1000-2000 r-xp 0 0:0 x /a",
		"10000000000000000000-2 r-xp 0 0:0 1 /a",
		"1000-2000 r-xp  0 0:0 1 /a",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (parse(lines[i]).count)
			fail_msg("taken: %s", lines[i]);
	}
	assert_int_equal(
		parse("garbage\n1000-2000 r-xp 0 0:0 1 /a\n\n1000-2000 r-xp 0 0:0 1 /b\n").count,
		2);
}

struct search {
	uint64_t address;
	struct seen seen;
};

static int match(const struct mapping *mapping, void *arg)
{
	struct search *search = arg;

	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	keep(mapping, &search->seen);
	return 5;
}

static void same_file(char *path, const char *other)
{
	struct stat a, b;

	assert_non_null(path);
	assert_int_equal(stat(path, &a), 0);
	assert_int_equal(stat(other, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	free(path);
}

static void finds_this_program(void **state)
{
	struct search search = {.address = (uintptr_t)finds_this_program};

	(void)state;
	not_under_valgrind();
	assert_int_equal(proc_maps__each(getpid(), match, &search), 5);
	assert_true(search.seen.mapping.executable);
	assert_true(mapping__is_file(&search.seen.mapping));
	if (geteuid() == 0)
		same_file(mapping__map_files_path(&search.seen.mapping, getpid()),
			  "/proc/self/exe");
}

/* The kernel's spelling of a deleted file with a newline in its name. */
static void finds_a_deleted_file(void **state)
{
	char path[] = "/tmp/gpuprobe\ntest-XXXXXX", *map_files;
	int fd = mkstemp(path);
	struct search search = {0};
	struct stat stat_buffer;
	void *memory;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8192), 0);
	memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
	unlink(path);
	search.address = (uintptr_t)memory;
	assert_int_equal(proc_maps__each(getpid(), match, &search), 5);
	assert_string_equal(search.seen.path, path);
	assert_true(search.seen.mapping.deleted);
	assert_int_equal(search.seen.mapping.file_offset, 4096);
	map_files = mapping__map_files_path(&search.seen.mapping, getpid());
	if (geteuid() == 0)
		assert_int_equal(stat(map_files, &stat_buffer), 0);
	free(map_files);
	munmap(memory, 4096);
	close(fd);
}

static void no_process_no_maps(void **state)
{
	struct seen seen = {.count = 0};

	(void)state;
	assert_int_equal(proc_maps__each(999999999, keep, &seen), -ESRCH);
	assert_int_equal(seen.count, 0);
}

static void knows_names_like_cudas(void **state)
{
	static const char *const of_cuda[] = {"/usr/lib/libcuda.so.1", "/a b/libcudart.so.13",
					      "/memfd:libcuda.so.1 (deleted)",
					      "/libcuda.so (deleted)"};
	static const char *const others[] = {"/usr/lib/libcuda.so.1/x",
					     "/lib/liblibcuda.so",
					     "libcuda.so",
					     "",
					     "[heap]",
					     "/memfd:x",
					     "/memfd:",
					     "/memfd/xlibcuda.so"};

	(void)state;
	for (size_t i = 0; i < sizeof(of_cuda) / sizeof(*of_cuda); i++)
		assert_true(mapping__is_named_like_cuda(of_cuda[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(mapping__is_named_like_cuda(others[i]));
	assert_string_equal(mapping__base_name("/memfd:libcuda.so.1"), "libcuda.so.1");
	assert_string_equal(mapping__base_name("/a/b"), "b");
	assert_null(mapping__base_name("[stack]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_a_line),      cmocka_unit_test(drops_paths_too_long),
		cmocka_unit_test(parses_other_lines), cmocka_unit_test(skips_what_is_no_line),
		cmocka_unit_test(finds_this_program), cmocka_unit_test(finds_a_deleted_file),
		cmocka_unit_test(no_process_no_maps), cmocka_unit_test(knows_names_like_cudas),
	};

	return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
