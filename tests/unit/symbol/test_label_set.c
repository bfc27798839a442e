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

static void expect(struct label_set *set, const char *label, const char *unique)
{
	char got[KERNEL_LABEL_SIZE];

	assert_int_equal(label_set__take(set, label, got), 0);
	assert_string_equal(got, unique);
}

static void numbers_equal_labels(void **state)
{
	struct label_set set = {0};

	(void)state;
	expect(&set, "gemm", "gemm");
	expect(&set, "relu<float>", "relu<float>");
	expect(&set, "gemm", "gemm #2");
	expect(&set, "gemm", "gemm #3");
	expect(&set, "relu<float>", "relu<float> #2");
	assert_true(set.bytes > 2 * KERNEL_LABEL_MAX);
	label_set__clear(&set);
	assert_int_equal(set.bytes, 0);
	expect(&set, "gemm", "gemm");
	label_set__clear(&set);
}

/* Labels that are equal once they are cut for a number still get different numbers. */
static void numbers_long_labels(void **state)
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
	expect(&set, a, a);
	expect(&set, b, b);
	assert_int_equal(label_set__take(&set, a, first), 0);
	assert_int_equal(label_set__take(&set, b, second), 0);
	assert_true(strlen(first) <= KERNEL_LABEL_MAX && strlen(second) <= KERNEL_LABEL_MAX);
	assert_string_equal(first + strlen(first) - 3, " #2");
	assert_string_equal(second + strlen(second) - 3, " #3");
	assert_memory_equal(first, second, strlen(first) - 1);
	label_set__clear(&set);
}

static void numbers_many(void **state)
{
	struct label_set set = {0};
	char label[KERNEL_LABEL_SIZE], got[KERNEL_LABEL_SIZE];

	(void)state;
	memset(label, 'k', KERNEL_LABEL_MAX);
	label[KERNEL_LABEL_MAX] = '\0';
	for (unsigned int i = 1; i <= 100000; i++) {
		assert_int_equal(label_set__take(&set, label, got), 0);
		assert_true(strlen(got) <= KERNEL_LABEL_MAX);
	}
	assert_string_equal(got + strlen(got) - 8, " #100000");
	label_set__clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_equal_labels),
		cmocka_unit_test(numbers_long_labels),
		cmocka_unit_test(numbers_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
