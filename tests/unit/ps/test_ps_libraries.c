// SPDX-License-Identifier: BSD-2-Clause
// NVIDIA's libraries and their versions, by the names of mapped files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ps/libraries.h"

static void expect(const char *path, int kind, const char *version)
{
	struct ps_libraries libraries = {0};

	ps_libraries__add(&libraries, path);
	for (int i = 0; i < PS_LIBRARY_KINDS; i++)
		assert_int_equal(libraries.list[i].mapped, i == kind);
	if (kind >= 0)
		assert_string_equal(libraries.list[kind].version, version);
}

static void test_names(void **state)
{
	(void)state;
	expect("/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.03", PS_DRIVER, "580.159.03");
	expect("/usr/local/cuda/lib64/libcudart.so.13.0.48", PS_CUDART, "13.0.48");
	expect("/venv/nvidia/nccl/lib/libnccl.so.2", PS_NCCL, "2");
	expect("/lib/libcudnn.so", PS_CUDNN, "");
	expect("/memfd:libcudart.so.12", PS_CUDART, "12");
}

static void test_other_names(void **state)
{
	(void)state;
	expect("/lib/libcudnn_ops.so.9.1.0", -1, NULL);
	expect("/lib/libcudadebugger.so.1", -1, NULL);
	expect("/lib/libcuda.sound", -1, NULL);
	expect("/lib/libcuda.so.1/file", -1, NULL);
	expect("[heap]", -1, NULL);
}

/* Anyone may name a file like this. */
static void test_odd_versions(void **state)
{
	(void)state;
	expect("/lib/libcuda.so.12evil\033[2J", PS_DRIVER, "");
	expect("/lib/libcuda.so.", PS_DRIVER, "");
	expect("/lib/libcuda.so.1.2.3.4.5.6.7.8.9.10.11.12.13.14", PS_DRIVER, "");
}

/* The more exact of two names, in either order. */
static void test_two_files(void **state)
{
	static const char *const paths[] = {"/a/libcudart.so.12", "/b/libcudart.so.12.8.90",
					    "/a/libcudart.so.12"};

	(void)state;
	for (int first = 0; first < 2; first++) {
		struct ps_libraries libraries = {0};

		ps_libraries__add(&libraries, paths[first]);
		ps_libraries__add(&libraries, paths[first + 1]);
		assert_string_equal(libraries.list[PS_CUDART].version, "12.8.90");
	}
}

static void test_processes(void **state)
{
	struct ps_libraries libraries;

	(void)state;
	assert_int_equal(ps_libraries__read(getpid(), &libraries), 0);
	assert_true(libraries.known);
	assert_false(libraries.maps_cuda);
	assert_int_equal(ps_libraries__read(INT_MAX, &libraries), -ESRCH);
	assert_false(libraries.known);
}

/* This program has no runtime inside, and nobody looks there without a driver. */
static void test_programs(void **state)
{
	struct ps_programs *programs = ps_programs__new();
	struct ps_libraries libraries = {.list[PS_DRIVER].mapped = true};

	(void)state;
	assert_non_null(programs);
	for (int i = 0; i < 2; i++) {
		ps_libraries__look_inside(programs, getpid(), &libraries);
		assert_false(libraries.list[PS_CUDART].mapped);
	}
	ps_programs__free(programs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	     cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_odd_versions), cmocka_unit_test(test_two_files),
		cmocka_unit_test(test_processes),    cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
