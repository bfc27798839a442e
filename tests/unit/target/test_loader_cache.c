// SPDX-License-Identifier: BSD-2-Clause
// The loader's cache: both formats, damage, and the directories used without it.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/loader_cache.h"

#define X86_64 0x0303

struct entry {
	int32_t flags;
	const char *key, *value;
};

static const struct entry entries[] = {
	{X86_64, "libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13"},
	{X86_64, "libcudart.so.12", "/opt/cuda-12/lib64/libcudart.so.12"},
	{X86_64, "libcudart.so", "/usr/local/cuda/lib64/libcudart.so"},
	{X86_64, "libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"},
	{X86_64, "libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"},
	{0x0003, "libcuda.so.1", "/usr/lib/i386-linux-gnu/libcuda.so.1"},
	{X86_64, "libcuda.so", "/usr/lib/x86_64-linux-gnu/libcuda.so"},
	{X86_64, "libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6"},
	{X86_64, "libcuda.so.1", "relative/libcuda.so.1"},
};

static const char *const expected[] = {
	"/usr/local/cuda/lib64/libcudart.so.13",
	"/opt/cuda-12/lib64/libcudart.so.12",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
};

struct cache {
	char bytes[4096];
	size_t size, start; /* offset of the new format */
};

static void put(struct cache *cache, const void *data, size_t size)
{
	assert_true(cache->size + size <= sizeof(cache->bytes));
	memcpy(cache->bytes + cache->size, data, size);
	cache->size += size;
}

static void put_u32(struct cache *cache, uint32_t value)
{
	put(cache, &value, sizeof(value));
}

static struct cache make_cache(bool old_format_before)
{
	const uint32_t count = sizeof(entries) / sizeof(*entries);
	struct cache cache = {.size = 0};
	uint32_t at = 48 + count * 24;

	if (old_format_before) {
		put(&cache, "ld.so-1.7.0", 12);
		put_u32(&cache, 3);
		put(&cache, (char[36]){0}, 36);
		put(&cache, (char[4]){0}, 4); /* pads to a multiple of 8 */
	}
	cache.start = cache.size;
	put(&cache, "glibc-ld.so.cache1.1", 20);
	put_u32(&cache, count);
	put_u32(&cache, 1000);
	put(&cache, (char[20]){0}, 20);
	for (uint32_t i = 0; i < count; i++) {
		put_u32(&cache, (uint32_t)entries[i].flags);
		put_u32(&cache, at);
		at += (uint32_t)strlen(entries[i].key) + 1;
		put_u32(&cache, at);
		at += (uint32_t)strlen(entries[i].value) + 1;
		put(&cache, (char[12]){0}, 12);
	}
	for (uint32_t i = 0; i < count; i++) {
		put(&cache, entries[i].key, strlen(entries[i].key) + 1);
		put(&cache, entries[i].value, strlen(entries[i].value) + 1);
	}
	return cache;
}

static int make_root(void **state)
{
	char *root = strdup("/tmp/gpuprobe-test-XXXXXX"), path[128];

	if (!root || !mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/etc", root);
	*state = root;
	return mkdir(path, 0700);
}

static int remove_root(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", (char *)*state);
	free(*state);
	return system(command);
}

static void write_cache(const char *root, const void *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/etc/ld.so.cache", root);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

static void assert_found(const char *root, const char *const *paths, size_t count)
{
	struct path_list list;
	struct error err = {""};

	if (loader_cache__find_cuda(root, &list, &err))
		fail_msg("%s", err.text);
	assert_int_equal(list.count, count);
	for (size_t i = 0; i < count; i++) {
		char path[256];
		bool found = false;

		snprintf(path, sizeof(path), "%s%s", root, paths[i]);
		for (size_t j = 0; j < count; j++)
			found |= strcmp(list.paths[j], path) == 0;
		if (!found)
			fail_msg("%s is not in the list", path);
	}
	path_list__clear(&list);
	assert_int_equal(list.count, 0);
}

static void reads_the_new_format(void **state)
{
	struct cache cache = make_cache(false);

	write_cache(*state, cache.bytes, cache.size);
	assert_found(*state, expected, 3);
}

static void reads_the_new_format_behind_the_old(void **state)
{
	struct cache cache = make_cache(true);

	assert_int_equal(cache.start % 8, 0);
	write_cache(*state, cache.bytes, cache.size);
	assert_found(*state, expected, 3);
}

static void refuses_what_is_no_cache(void **state)
{
	static const char *const contents[] = {"", "x", "ld.so-1.7.0\0\0\0\0\0", "hello, world"};
	struct path_list list;
	struct error err;

	for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
		write_cache(*state, contents[i], i == 2 ? 16 : strlen(contents[i]));
		assert_int_equal(loader_cache__find_cuda(*state, &list, &err), -EBADMSG);
		assert_non_null(strstr(err.text, "ldconfig"));
		assert_null(list.paths);
		assert_int_equal(list.count, 0);
	}
}

/*
 * In a container anything may be in its place: gpuprobe neither waits for it nor reads it
 * completely.
 */
static void refuses_what_is_no_file_or_too_large(void **state)
{
	struct path_list list;
	struct error err;
	char path[128];

	snprintf(path, sizeof(path), "%s/etc/ld.so.cache", (char *)*state);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(loader_cache__find_cuda(*state, &list, &err), -EBADMSG);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(loader_cache__find_cuda(*state, &list, &err), -EBADMSG);
	rmdir(path);
	write_cache(*state, "glibc-ld.so.cache1.1", 20);
	assert_int_equal(truncate(path, 1ll << 40), 0);
	assert_int_equal(loader_cache__find_cuda(*state, &list, &err), -EBADMSG);
	assert_null(list.paths);
}

static void bounds_every_number(void **state)
{
	for (int old = 0; old < 2; old++) {
		struct cache good = make_cache(old);
		struct path_list list;

		for (size_t size = 0; size < good.size; size++) {
			write_cache(*state, good.bytes, size);
			if (!loader_cache__find_cuda(*state, &list, NULL))
				path_list__clear(&list);
		}
		for (size_t at = 0; at < good.start + 48 + 24 * 3; at++) {
			struct cache bad = good;

			bad.bytes[at] = (char)0xff;
			write_cache(*state, bad.bytes, bad.size);
			if (!loader_cache__find_cuda(*state, &list, NULL))
				path_list__clear(&list);
		}
	}
}

static void a_string_out_of_bounds_is_refused(void **state)
{
	struct cache cache = make_cache(false);
	uint32_t offset = (uint32_t)cache.size;
	struct path_list list;

	memcpy(cache.bytes + 48 + 4, &offset, sizeof(offset));
	write_cache(*state, cache.bytes, cache.size);
	assert_int_equal(loader_cache__find_cuda(*state, &list, NULL), -EBADMSG);
	/* The last byte is in bounds: an empty string. */
	offset--;
	memcpy(cache.bytes + 48 + 4, &offset, sizeof(offset));
	write_cache(*state, cache.bytes, cache.size);
	assert_int_equal(loader_cache__find_cuda(*state, &list, NULL), 0);
	assert_int_equal(list.count, 2);
	path_list__clear(&list);
	/* Without its zero, the string ends with the file. */
	cache.bytes[cache.size - 1] = 'l';
	write_cache(*state, cache.bytes, cache.size);
	assert_int_equal(loader_cache__find_cuda(*state, &list, NULL), 0);
	path_list__clear(&list);
}

static void without_a_cache_directories_are_searched(void **state)
{
	static const char *const found[] = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
					    "/usr/local/cuda/lib64/libcudart.so.13"};
	static const char *const files[] = {
		"usr/lib/x86_64-linux-gnu/libcuda.so.1",
		"usr/lib/x86_64-linux-gnu/libcuda.so",
		"usr/lib/x86_64-linux-gnu/libc.so.6",
		"usr/local/cuda/lib64/libcudart.so.13",
	};
	char empty[48] = "glibc-ld.so.cache1.1", command[512];

	assert_found(*state, NULL, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(command, sizeof(command), "cd '%s' && install -D /dev/null %s",
			 (char *)*state, files[i]);
		assert_int_equal(system(command), 0);
	}
	assert_found(*state, found, 2);
	/* If there is a cache, a library that it lacks is not found. */
	write_cache(*state, empty, sizeof(empty));
	assert_found(*state, NULL, 0);
}

/* This machine's own cache. */
static void reads_the_real_cache(void **state)
{
	struct path_list list;

	(void)state;
	if (access("/etc/ld.so.cache", R_OK))
		skip();
	assert_int_equal(loader_cache__find_cuda("", &list, NULL), 0);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.paths[i][0], '/');
	path_list__clear(&list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_the_new_format),
		TEST(reads_the_new_format_behind_the_old),
		TEST(refuses_what_is_no_cache),
		TEST(refuses_what_is_no_file_or_too_large),
		TEST(bounds_every_number),
		TEST(a_string_out_of_bounds_is_refused),
		TEST(without_a_cache_directories_are_searched),
		cmocka_unit_test(reads_the_real_cache),
	};

	return cmocka_run_group_tests_name("ldcache", tests, NULL, NULL);
}
