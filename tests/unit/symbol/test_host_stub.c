// SPDX-License-Identifier: BSD-2-Clause
// Kernels named by a host function's address, and by a handle in a live process.
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf_builder.h"
#include "growth_of_time.h"
#include "no_valgrind.h"
#include "symbol/host_stub.h"
#include "symbol/remote_name.h"

#define S 1000000000ull

/* Host functions as nvcc names them. */
void _Z4vaddPfS_i(float *a, float *b, int n);
void _Z28__device_stub__Z4vmulPfS_S_iPfS_S_i(void);

__attribute__((noinline)) void _Z4vaddPfS_i(float *a, float *b, int n)
{
	for (int i = 0; i < n; i++)
		a[i] += b[i];
}

__attribute__((noinline)) void _Z28__device_stub__Z4vmulPfS_S_iPfS_S_i(void)
{
	__asm__ volatile("nop; nop; nop");
}

static void assert_named(struct host_stubs *stubs, uint64_t address, const char *expected)
{
	char *name;
	int ret = host_stub__name(stubs, getpid(), address, &name);

	if (ret)
		fail_msg("no name for %s: %d", expected, ret);
	assert_string_equal(name, expected);
	free(name);
}

static void assert_unnamed(struct host_stubs *stubs, uint64_t address)
{
	char *name;

	assert_int_equal(host_stub__name(stubs, getpid(), address, &name), -ENOENT);
	assert_null(name);
}

static void names_host_functions(void **state)
{
	struct host_stubs *stubs = host_stubs__new(2);
	int on_stack = 0;
	char *name;

	(void)state;
	for (int round = 0; round < 3; round++) {
		assert_named(stubs, (uintptr_t)_Z4vaddPfS_i, "_Z4vaddPfS_i");
		assert_named(stubs, (uintptr_t)_Z28__device_stub__Z4vmulPfS_S_iPfS_S_i,
			     "_Z4vmulPfS_S_i");
	}
	assert_unnamed(stubs, (uintptr_t)_Z4vaddPfS_i + 1);
	assert_unnamed(stubs, (uintptr_t)&on_stack);
	assert_unnamed(stubs, 8);
	assert_unnamed(stubs, UINT64_MAX);
	assert_int_equal(host_stub__name(stubs, 999999999, 8, &name), -ESRCH);
	host_stubs__free(stubs);
	host_stubs__free(NULL);
}

/*
 * Every other page of a file is executable, and these pages are before the code that is looked up.
 */
static char *map_pieces(size_t count)
{
	int fd = memfd_create("mapped", MFD_CLOEXEC);
	char *at;

	assert_true(fd >= 0 && !ftruncate(fd, (off_t)(count * 4096)));
	at = mmap((void *)0x10000000, count * 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
		  fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	for (size_t i = 0; i + 1 < count; i += 2)
		assert_int_equal(mprotect(at + i * 4096, 4096, PROT_READ | PROT_EXEC), 0);
	close(fd);
	return at;
}

/* As many as one reading of the counters looks up. */
static void names_of_a_process_with_many_mappings(void **state)
{
	struct host_stubs *stubs;
	uint64_t begin;
	char *pieces;

	(void)state;
	not_under_valgrind();
	stubs = host_stubs__new(2);
	pieces = map_pieces(64000);
	begin = spent();
	for (int i = 0; i < 64; i++)
		assert_named(stubs, (uintptr_t)_Z4vaddPfS_i, "_Z4vaddPfS_i");
	print_message("64 names among 64,000 mappings: %.1f ms\n", (double)(spent() - begin) / MS);
	assert_true(spent() - begin < SLOWER * 500 * MS);
	munmap(pieces, 64000 * 4096);
	/* Unmapped code is not looked up before that is reported. */
	host_stubs__forget(stubs, 1);
	assert_named(stubs, (uintptr_t)_Z4vaddPfS_i, "_Z4vaddPfS_i");
	assert_unnamed(stubs, (uintptr_t)pieces);
	host_stubs__free(stubs);
}

static unsigned int open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	unsigned int count = 0;

	assert_non_null(files);
	while (readdir(files))
		count++;
	closedir(files);
	return count;
}

/* The file would keep its file system busy. */
static void closes_what_nobody_asks_about(void **state)
{
	struct host_stubs *stubs = host_stubs__new(2);
	unsigned int before = open_files();
	uint64_t now = 100 * S;

	(void)state;
	for (int round = 0; round < 2; round++) {
		assert_named(stubs, (uintptr_t)_Z4vaddPfS_i, "_Z4vaddPfS_i");
		host_stubs__forget(stubs, now);
		host_stubs__forget(stubs, now + 29 * S);
		assert_int_equal(open_files(), before + 1);
		assert_named(stubs, (uintptr_t)_Z4vaddPfS_i, "_Z4vaddPfS_i");
		host_stubs__forget(stubs, now + 31 * S);
		host_stubs__forget(stubs, now + 60 * S);
		assert_int_equal(open_files(), before + 1);
		host_stubs__forget(stubs, now + 62 * S);
		assert_int_equal(open_files(), before);
		now += 1000 * S;
	}
	host_stubs__free(stubs);
}

struct image {
	void *memory;
	int fd;
};

/* A library whose function 1 has the given name, mapped as by a loader; its file has no name. */
static struct image map_library(const char *function)
{
	const struct test_symbol symbols[] = {{function, FUNCTION_VADDR(1), 64, 0, 1},
					      {NULL, 0, 0, 0, 0}};
	const struct test_elf elf = {.dynamic = symbols};
	struct test_image built = build_elf(&elf);
	struct image image = {.fd = image_fd(&built, built.size)};

	free(built.bytes);
	image.memory =
		mmap(NULL, TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, image.fd, TEXT_OFFSET);
	assert_ptr_not_equal(image.memory, MAP_FAILED);
	return image;
}

static void unmap_library(struct image *image)
{
	munmap(image->memory, TEXT_SIZE);
	close(image->fd);
}

/* More files than the cache holds, each requested again after its eviction. */
static void the_cache_is_bounded(void **state)
{
	struct host_stubs *stubs = host_stubs__new(2);
	struct image images[5];
	char names[5][16];

	(void)state;
	if (geteuid() != 0)
		skip(); /* deleted files are only reachable through map_files */
	for (int i = 0; i < 5; i++) {
		snprintf(names[i], sizeof(names[i]), "_Z2k%dv", i);
		images[i] = map_library(names[i]);
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 5; i++)
			assert_named(stubs, (uintptr_t)images[i].memory + 64, names[i]);
	}
	assert_unnamed(stubs, (uintptr_t)images[0].memory);
	for (int i = 0; i < 5; i++)
		unmap_library(&images[i]);
	host_stubs__free(stubs);
}

static void a_name_must_be_one(void **state)
{
	struct host_stubs *stubs = host_stubs__new(1);
	struct image image;

	(void)state;
	if (geteuid() != 0)
		skip();
	image = map_library("evil\033[2Jname");
	assert_unnamed(stubs, (uintptr_t)image.memory + 64);
	unmap_library(&image);
	host_stubs__free(stubs);
}

static void a_changed_file_is_read_again(void **state)
{
	struct host_stubs *stubs = host_stubs__new(4);
	struct image image;

	(void)state;
	if (geteuid() != 0)
		skip();
	image = map_library("_Z3onev");
	assert_named(stubs, (uintptr_t)image.memory + 64, "_Z3onev");
	assert_int_equal(ftruncate(image.fd, TEXT_OFFSET), 0);
	assert_unnamed(stubs, (uintptr_t)image.memory + 64);
	unmap_library(&image);
	host_stubs__free(stubs);
}

static void what_is_no_elf_file_has_no_names(void **state)
{
	struct host_stubs *stubs = host_stubs__new(1);
	int fd = memfd_create("text", MFD_CLOEXEC);
	void *memory;

	(void)state;
	assert_int_equal(ftruncate(fd, 8192), 0);
	memory = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (geteuid() == 0) {
		assert_unnamed(stubs, (uintptr_t)memory);
		assert_unnamed(stubs, (uintptr_t)memory);
	}
	munmap(memory, 8192);
	close(fd);
	host_stubs__free(stubs);
}

/* Three pages, the last of them unmapped, in a child with the same memory. */
struct remote {
	pid_t pid;
	char *pages;
};

static struct remote start_remote(char *pages)
{
	struct remote remote = {.pages = pages, .pid = fork()};

	if (remote.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(remote.pid > 0);
	return remote;
}

static char *map_pages(void)
{
	char *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(munmap(pages + 2 * 4096, 4096), 0);
	return pages;
}

/* A handle at the start of the pages, with its name at offset `at`. */
static uint64_t put_name(char *pages, size_t at, const char *name)
{
	uint64_t address = (uintptr_t)pages + at;

	memcpy(pages + at, name, strlen(name) + 1);
	memcpy(pages + 8, &address, sizeof(address));
	return (uintptr_t)pages;
}

static void check_remote(char *pages, uint64_t handle, int expected, const char *text)
{
	struct remote remote = start_remote(pages);
	char name[REMOTE_NAME_SIZE];
	int ret = remote_name__read(NULL, remote.pid, handle, name);

	kill(remote.pid, SIGKILL);
	waitpid(remote.pid, NULL, 0);
	assert_int_equal(ret, expected);
	if (!ret)
		assert_string_equal(name, text);
}

static void reads_names_of_live_processes(void **state)
{
	static const char name[] = "_Z17convolution_part1PKfPfi";
	char *pages = map_pages(), longest[KERNEL_NAME_MAX + 2];
	uint64_t handle, address;

	(void)state;
	check_remote(pages, put_name(pages, 64, name), 0, name);
	/* Ends with the last byte before the unmapped page, and crosses a page. */
	check_remote(pages, put_name(pages, 2 * 4096 - sizeof(name), name), 0, name);
	check_remote(pages, put_name(pages, 4096 - 5, name), 0, name);
	memset(longest, 'k', sizeof(longest));
	longest[KERNEL_NAME_MAX] = '\0';
	check_remote(pages, put_name(pages, 4095, longest), 0, longest);
	longest[KERNEL_NAME_MAX] = 'k';
	longest[KERNEL_NAME_MAX + 1] = '\0';
	check_remote(pages, put_name(pages, 64, longest), -EINVAL, NULL);
	check_remote(pages, put_name(pages, 64, ""), -EINVAL, NULL);
	check_remote(pages, put_name(pages, 64, "a\nb"), -EINVAL, NULL);
	/* No zero before the end of the mapped memory. */
	handle = put_name(pages, 4096, "x");
	memset(pages + 4096, 'k', 4096);
	check_remote(pages, handle, -EFAULT, NULL);
	address = 8;
	memcpy(pages + 8, &address, sizeof(address));
	check_remote(pages, handle, -EFAULT, NULL);
	address = UINT64_MAX;
	memcpy(pages + 8, &address, sizeof(address));
	check_remote(pages, handle, -EFAULT, NULL);
	check_remote(pages, 8, -EFAULT, NULL);
	check_remote(pages, UINT64_MAX - 4, -EFAULT, NULL);
	munmap(pages, 2 * 4096);
}

static void nobody_has_no_names(void **state)
{
	char name[REMOTE_NAME_SIZE];

	(void)state;
	assert_int_equal(remote_name__read(NULL, 999999999, 4096, name), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_host_functions),
		cmocka_unit_test(names_of_a_process_with_many_mappings),
		cmocka_unit_test(closes_what_nobody_asks_about),
		cmocka_unit_test(the_cache_is_bounded),
		cmocka_unit_test(a_name_must_be_one),
		cmocka_unit_test(a_changed_file_is_read_again),
		cmocka_unit_test(what_is_no_elf_file_has_no_names),
		cmocka_unit_test(reads_names_of_live_processes),
		cmocka_unit_test(nobody_has_no_names),
	};

	return cmocka_run_group_tests_name("stub", tests, NULL, NULL);
}
