// SPDX-License-Identifier: BSD-2-Clause
/*
 * Labels of kernels. kernel_labels.tsv has real names with their labels, read by a person.
 * real_kernel_names.tsv.gz has all kernels that PyTorch, JAX, CuPy and NCCL launched on an H100, by
 * framework: their labels must be short and tell them apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "symbol/kernel_label.h"
#include "symbol/kernel_name.h"
#include "symbol/label_set.h"

#define ROWS_MIN 60 /* of the table */
#define FRAMEWORKS 4
#define NUMBERED_PERCENT_MAX 2

static char line[8192];

static void label_of(const char *mangled, char label[KERNEL_LABEL_SIZE])
{
	char *readable = kernel_name__demangle(mangled);

	assert_non_null(readable);
	kernel_label__write(readable, label);
	free(readable);
	assert_true(strlen(label) <= KERNEL_LABEL_MAX);
	assert_null(strchr(label, '#'));
}

/* Cuts the line at its tab, and returns what follows. */
static char *second_column(char *text)
{
	char *tab = strchr(text, '\t');

	assert_non_null(tab);
	*tab = '\0';
	tab[strcspn(tab + 1, "\n") + 1] = '\0';
	return tab + 1;
}

static void labels_real_names(void **state)
{
	FILE *in = fopen("tests/unit/symbol/kernel_labels.tsv", "re");
	char label[KERNEL_LABEL_SIZE];
	unsigned int rows = 0;

	(void)state;
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		const char *expected = second_column(line);

		label_of(line, label);
		assert_string_equal(label, expected);
		rows++;
	}
	fclose(in);
	assert_true(rows >= ROWS_MIN);
}

struct framework {
	char name[16];
	struct label_set labels;
	unsigned int kernels, numbered;
};

static struct framework *find_framework(struct framework *frameworks, const char *name)
{
	for (size_t i = 0; i < FRAMEWORKS; i++) {
		if (!*frameworks[i].name)
			snprintf(frameworks[i].name, sizeof(frameworks[i].name), "%.15s", name);
		if (!strcmp(frameworks[i].name, name))
			return &frameworks[i];
	}
	fail_msg("a fifth framework: %s", name);
	return NULL;
}

static void tells_real_kernels_apart(void **state)
{
	gzFile in = gzopen("tests/unit/symbol/real_kernel_names.tsv.gz", "rb");
	struct framework frameworks[FRAMEWORKS] = {0};
	char label[KERNEL_LABEL_SIZE], unique[KERNEL_LABEL_SIZE];

	(void)state;
	assert_non_null(in);
	while (gzgets(in, line, sizeof(line))) {
		const char *mangled = second_column(line);
		struct framework *framework = find_framework(frameworks, line);

		label_of(mangled, label);
		assert_true(*label);
		assert_int_equal(label_set__take(&framework->labels, label, mangled, unique), 0);
		framework->kernels++;
		framework->numbered += strchr(unique, '#') != NULL;
	}
	gzclose(in);
	for (size_t i = 0; i < FRAMEWORKS; i++) {
		struct framework *framework = &frameworks[i];

		print_message("%s: %u of %u labels need a number\n", framework->name,
			      framework->numbered, framework->kernels);
		assert_true(framework->kernels);
		assert_true(framework->numbered * 100 <= framework->kernels * NUMBERED_PERCENT_MAX);
		label_set__clear(&framework->labels);
	}
}

struct pair {
	const char *readable, *label;
};

/* Names of which no real one was at hand, and odd ones. */
static void labels_other_names(void **state)
{
	static const struct pair pairs[] = {
		{"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int"
		 ", int, int, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::"
		 "MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::C<2>, cute::C<1>, "
		 "cute::C<1> >, cutlass::gemm::KernelTmaWarpSpecializedCooperative>, cute::tuple<"
		 "cute::C<128>, cute::C<256>, cute::C<64> >, cutlass::bfloat16_t, cute::tuple<long"
		 ", cute::C<1>, long>, cutlass::bfloat16_t, cute::tuple<long, cute::C<1>, long> > >"
		 " >(int)",
		 "GemmUniversal<int, 128x256x64, bf16>"},
		{"__main__::kernel[abi:v1][abi:cw51](Array<float, 1, C, mutable, aligned>)",
		 "__main__::kernel"},
		{"saxpy(float*, float const*, float, int)", "saxpy"},
		{"(anonymous namespace)::reduce(double const*)", "reduce"},
		{"void k<(anonymous namespace)::Op<int> >(int)", "k<Op<int>>"},
		{"void k<main::{lambda(float)#1}>(main::{lambda(float)#1})", "k<main, float>"},
		{"void k<main::{lambda(bool, float)#3}>(int)", "k<main.3, float>"},
		{"main::{lambda()#1}::operator()() const", "main"},
		{"void k<float (*)(float)>(int)", "k<float>"},
		{"void k<unsigned long long, unsigned char, long, short>(int)",
		 "k<uint64, uint8, int64, int16>"},
		{"void k<true, (bool)0, (E)3, -4, 5ul>(int)", "k<tf, 3, -4, 5>"},
		{"void k<&(int f<char>(int)), 7>(int)", "k<f<char>, 7>"},
		{"void k<!(false), int>(int)", "k<int>"},
		{"void k<((3)>(2)), (A)1>(int)", "k<1>"},
		{"bool operator< <int>(A<int> const&, int)", "operator<"},
		{"k(int) [clone .cold]", "k"},
		{"void k<c10::complex<double> >(int)", "k<complex128>"},
		{"void k<(lambda#2)>(int)", "k"},
		{"void k<{lambda(int)#1}>(int)", "k<lambda, int>"},
		{"_Z1kIiE", "k"},
		{"", ""},
		{"_Z", "_Z"},
		{"_ZN", "_ZN"},
		{"<", "<"},
		{"k#2", "k.2"},
		{"k<", "k"},
		{"a::", "a"},
		{"::", "::"},
		{"operator", "operator"},
		{"void k<>()", "k"},
	};
	char label[KERNEL_LABEL_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		kernel_label__write(pairs[i].readable, label);
		assert_string_equal(label, pairs[i].label);
	}
}

/* A name of that many of a part that is as bad as any. */
static const char *bad_part;

static void label_long_name(size_t count)
{
	size_t length = strlen(bad_part);
	char *name = malloc(count * length + 3), *end = name;
	char label[KERNEL_LABEL_SIZE];

	assert_non_null(name);
	end = stpcpy(end, "k<");
	for (size_t i = 0; i < count; i++)
		end = stpcpy(end, bad_part);
	kernel_label__write(name, label);
	assert_true(strlen(label) <= KERNEL_LABEL_MAX);
	free(name);
}

static void takes_linear_time(void **state)
{
	static const char *const parts[] = {"a<",
					    "a::",
					    "{lambda(",
					    "&(",
					    "(",
					    "operator",
					    "a,",
					    "a<b>, ",
					    "\303\244, ",
					    "a()::",
					    "unsigned ",
					    "tuple<1>,",
					    "{lambda(int)#1}::",
					    ">",
					    "a_",
					    "OpaqueType<"};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		bad_part = parts[i];
		assert_linear(parts[i], label_long_name, 4096);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_real_names),
		cmocka_unit_test(tells_real_kernels_apart),
		cmocka_unit_test(labels_other_names),
		cmocka_unit_test(takes_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
