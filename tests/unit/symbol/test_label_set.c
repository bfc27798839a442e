// SPDX-License-Identifier: BSD-2-Clause
// Labels of one program: each is one kernel's, whatever the kernels are called.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/label_set.h"

static void expect(struct label_set *set, const char *label, const char *mangled,
		   const char *unique)
{
	char got[KERNEL_LABEL_SIZE];

	assert_int_equal(label_set__take(set, label, mangled, got), 0);
	assert_string_equal(got, unique);
}

/* The marks are FNV's, so another run and another command give the same. */
static void marks_equal_labels(void **state)
{
	struct label_set set = {0};

	(void)state;
	expect(&set, "gemm", "_Z4gemmi", "gemm");
	expect(&set, "relu<float>", "_Z4reluf", "relu<float>");
	expect(&set, "gemm", "_Z4gemmj", "gemm #2c30");
	expect(&set, "gemm", "_Z4gemmf", "gemm #2c54");
	expect(&set, "relu<float>", "_Z4gemmf", "relu<float> #2c54");
	assert_true(set.bytes > 2 * KERNEL_LABEL_MAX);
	label_set__clear(&set);
	assert_int_equal(set.bytes, 0);
	/* In another order only the first one differs. */
	expect(&set, "gemm", "_Z4gemmf", "gemm");
	expect(&set, "gemm", "_Z4gemmj", "gemm #2c30");
	/* Equal marks are told apart. */
	expect(&set, "gemm", "_Z4gemmj", "gemm #2c30.2");
	expect(&set, "gemm", "_Z4gemmj", "gemm #2c30.3");
	label_set__clear(&set);
}

/* Labels that are equal once they are cut for a mark still get different marks. */
static void marks_long_labels(void **state)
{
	struct label_set set = {0};
	char a[KERNEL_LABEL_SIZE], b[KERNEL_LABEL_SIZE], first[KERNEL_LABEL_SIZE],
		second[KERNEL_LABEL_SIZE];

	(void)state;
	memset(a, 'k', KERNEL_LABEL_MAX);
	a[KERNEL_LABEL_MAX] = '\0';
	memcpy(b, a, sizeof(b));
	a[KERNEL_LABEL_MAX / 2 + 2] = 'a'; /* in the middle, which is cut */
	b[KERNEL_LABEL_MAX / 2 + 2] = 'b';
	expect(&set, a, "x", a);
	expect(&set, b, "x", b);
	assert_int_equal(label_set__take(&set, a, "y", first), 0);
	assert_int_equal(label_set__take(&set, b, "y", second), 0);
	assert_true(strlen(second) <= KERNEL_LABEL_MAX);
	assert_memory_equal(first, second, strlen(first));
	assert_string_equal(second + strlen(first), ".2");
	label_set__clear(&set);
}

static void marks_many(void **state)
{
	struct label_set set = {0};
	char label[KERNEL_LABEL_SIZE], got[KERNEL_LABEL_SIZE];

	(void)state;
	memset(label, 'k', KERNEL_LABEL_MAX);
	label[KERNEL_LABEL_MAX] = '\0';
	for (unsigned int i = 1; i <= 100000; i++) {
		assert_int_equal(label_set__take(&set, label, "x", got), 0);
		assert_true(strlen(got) <= KERNEL_LABEL_MAX);
	}
	assert_string_equal(got + strlen(got) - 6, ".99999");
	label_set__clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_equal_labels),
		cmocka_unit_test(marks_long_labels),
		cmocka_unit_test(marks_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
