// SPDX-License-Identifier: BSD-2-Clause
// Versions of libraries from the names of installed Python wheels, of files that the test maps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ps/libraries.h"
#include "ps/wheels.h"

static void expect(const char *entry, enum ps_library_kind kind, const char *expected)
{
	char version[PS_VERSION_SIZE] = "";

	assert_int_equal(ps_wheels__parse(entry, version), kind);
	assert_string_equal(version, expected);
}

static void test_names(void **state)
{
	(void)state;
	expect("nvidia_nccl_cu12-2.27.3.dist-info", PS_NCCL, "2.27.3");
	expect("nvidia_cuda_runtime-13.0.48.dist-info", PS_CUDART, "13.0.48");
	expect("nvidia_cudnn_cu11-9.1.0.70.dist-info", PS_CUDNN, "9.1.0.70");
}

static void test_other_names(void **state)
{
	static const char *const names[] = {
		"nvidia_nccl_cu12",
		"nvidia_nccl_cu12-.dist-info",
		"nvidia_nccl_cu12-2.27.3",
		"nvidia_nccl_cu12-2.27.3.dist-info.bak",
		"nvidia_nccl_cu12-2.27.3rc1.dist-info",
		"nvidia_nccl_cu12-2\033.dist-info",
		"nvidia_nccl_extra-2.27.3.dist-info",
		"nvidia_nccl_cu12-1.2.3.4.5.6.7.8.9.10.11.12.13.14.dist-info",
		"nvidia_cuda_nvrtc_cu12-12.6.77.dist-info",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		expect(names[i], PS_LIBRARY_KINDS, "");
}

/* --- a mapped library --- */

#define LIBRARY "/nvidia/nccl/lib/libnccl.so.2"

struct installed {
	char site[64];
	char path[128]; /* of the library */
	void *mapping;
};

static void make_directory(const struct installed *installed, const char *below)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", installed->site, below);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void install(struct installed *installed)
{
	int fd;

	strcpy(installed->site, "/tmp/gpuprobe-wheels-XXXXXX");
	assert_non_null(mkdtemp(installed->site));
	make_directory(installed, "/nvidia");
	make_directory(installed, "/nvidia/nccl");
	make_directory(installed, "/nvidia/nccl/lib");
	snprintf(installed->path, sizeof(installed->path), "%s" LIBRARY, installed->site);
	fd = open(installed->path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	installed->mapping = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(installed->mapping, MAP_FAILED);
	close(fd);
}

static void uninstall(const struct installed *installed)
{
	char command[128];

	munmap(installed->mapping, 4096);
	snprintf(command, sizeof(command), "rm -r %s", installed->site);
	assert_int_equal(system(command), 0);
}

static void expect_version(const char *version)
{
	struct ps_wheels *wheels = ps_wheels__new();

	assert_non_null(wheels);
	/* The second time, the directory is not read again. */
	for (int i = 0; i < 2; i++) {
		struct ps_libraries libraries;

		assert_int_equal(ps_libraries__read(getpid(), &libraries), 0);
		ps_wheels__complete(wheels, getpid(), &libraries);
		assert_true(libraries.list[PS_NCCL].mapped);
		assert_string_equal(libraries.list[PS_NCCL].version, version);
	}
	ps_wheels__free(wheels);
}

static void test_an_installed_wheel(void **state)
{
	struct installed installed;

	(void)state;
	install(&installed);
	expect_version("2");
	make_directory(&installed, "/nvidia_nccl_cu12-2.27.3.dist-info");
	make_directory(&installed, "/nvidia_cudnn_cu12-9.1.0.70.dist-info");
	expect_version("2.27.3");
	uninstall(&installed);
}

/* It is unknown which of them the file is from. */
static void test_two_wheels(void **state)
{
	struct installed installed;

	(void)state;
	install(&installed);
	make_directory(&installed, "/nvidia_nccl_cu12-2.27.3.dist-info");
	make_directory(&installed, "/nvidia_nccl_cu11-2.14.3.dist-info");
	expect_version("2");
	uninstall(&installed);
}

static void test_another_major_version(void **state)
{
	struct installed installed;

	(void)state;
	install(&installed);
	make_directory(&installed, "/nvidia_nccl_cu12-20.1.dist-info");
	expect_version("2");
	uninstall(&installed);
}

/* pip has put another version in its place. */
static void test_a_deleted_file(void **state)
{
	struct installed installed;

	(void)state;
	install(&installed);
	make_directory(&installed, "/nvidia_nccl_cu12-2.27.3.dist-info");
	assert_int_equal(unlink(installed.path), 0);
	expect_version("2");
	uninstall(&installed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_an_installed_wheel),
		cmocka_unit_test(test_two_wheels),
		cmocka_unit_test(test_another_major_version),
		cmocka_unit_test(test_a_deleted_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
