// SPDX-License-Identifier: BSD-2-Clause
// Kernel names: which are valid, how they are demangled, shortened, cut, and found in the symbols
// of host functions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "symbol/function_name.h"
#include "symbol/kernel_label.h"
#include "symbol/kernel_name.h"

static void valid_names(void **state)
{
	char longest[KERNEL_NAME_MAX + 2];

	(void)state;
	assert_true(kernel_name__valid("k", 2));
	assert_true(kernel_name__valid("_Z4vaddPfS_$x.y@1", 4097));
	assert_false(kernel_name__valid("", 1));
	assert_false(kernel_name__valid("", 0));
	assert_false(kernel_name__valid("abc", 3)); /* the zero is out of bounds */
	assert_true(kernel_name__valid("abc", 4));
	assert_false(kernel_name__valid("a b", 10));
	assert_false(kernel_name__valid("a\n", 10));
	assert_false(kernel_name__valid("a\033[2J", 10));
	assert_false(kernel_name__valid("na\303\257ve", 10));
	assert_false(kernel_name__valid("a<int>", 10));
	memset(longest, 'k', sizeof(longest));
	longest[KERNEL_NAME_MAX] = '\0';
	assert_true(kernel_name__valid(longest, sizeof(longest)));
	assert_false(kernel_name__valid(longest, KERNEL_NAME_MAX));
	longest[KERNEL_NAME_MAX] = 'k';
	longest[KERNEL_NAME_MAX + 1] = '\0';
	assert_false(kernel_name__valid(longest, sizeof(longest)));
}

struct pair {
	const char *from, *to;
};

static void check_pairs(const struct pair *pairs, size_t count, char *(*change)(const char *))
{
	for (size_t i = 0; i < count; i++) {
		char *result = change(pairs[i].from);

		assert_non_null(result);
		assert_string_equal(result, pairs[i].to);
		free(result);
	}
}

#define CHECK_PAIRS(pairs, change) check_pairs(pairs, sizeof(pairs) / sizeof(*(pairs)), change)

static void demangles(void **state)
{
	static const struct pair pairs[] = {
		{"_Z4vaddPfS_S_i", "vadd(float*, float*, float*, int)"},
		{"_Z17convolution_part1PKfPfi", "convolution_part1(float const*, float*, int)"},
		{"_ZN2at6native3vecILi4ENS0_2FFEEEviT0_",
		 "void at::native::vec<4, at::native::FF>(int, at::native::FF)"},
		{"_ZN2at36_GLOBAL__N__b51ce050_4_a_cu_5de0745a4anonEPi",
		 "at::(anonymous namespace)::anon(int*)"},
		{"plain", "plain"},
		{"i", "i"}, /* a type, to catch excessive demangling */
		{"", ""},
		{"_Z", "_Z"},
		{"_Zfoo", "_Zfoo"},
		{"_Z999999999999999999999a", "_Z999999999999999999999a"},
		{"_ZN", "_ZN"},
	};

	(void)state;
	CHECK_PAIRS(pairs, kernel_name__demangle);
}

static void shortens(void **state)
{
	static const struct pair pairs[] = {
		{"vadd(float*, float*, float*, int)", "vadd"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>"
		 ", std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*"
		 ", 1ul>)",
		 "vectorized_elementwise_kernel"},
		{"void cub::CUB_200::DeviceScanKernel<(cub::Policy)3, &foo>(int)",
		 "DeviceScanKernel"},
		{"void (anonymous namespace)::softmax_warp_forward<float, (bool)1>(float*)",
		 "softmax_warp_forward"},
		{"at::(anonymous namespace)::anon(int*)", "anon"},
		{"at::native::(anonymous namespace)::k", "k"},
		{"Foo::operator()(int) const", "operator()"},
		{"void Foo<int>::operator()<float>(int) const", "operator()"},
		{"main::{lambda(int)#1}::operator()(int) const", "operator()"},
		{"void k<main::{lambda(int)#1}>(main::{lambda(int)#1})", "k"},
		{"main::'lambda'(int)::operator()(int) const", "operator()"},
		{"foo(int) const::{lambda()#1}::run(char)", "run"},
		{"foo(std::vector<int>)::inner(int)", "inner"},
		{"bool operator< <int>(A<int> const&, int)", "operator<"},
		{"A& operator<<(A&, int)", "operator<<"},
		{"A& operator<< <int>(A&, int)", "operator<<"},
		{"bool std::operator!=<A<int>, B>(A<int> const&, B)", "operator!="},
		{"A operator+<char>(A, char)", "operator+"},
		{"operator->(A)", "operator->"},
		{"A::operator float() const", "operator float"},
		{"operator new[](unsigned long)", "operator new[]"},
		{"operatorial::run(int)", "run"},
		{"my_operator(int)", "my_operator"},
		{"void k<((3)>(2)), (A)1>(int)", "k"},
		{"void k<(1<2)>(int)", "k"},
		{"void k<decltype((x)->y)>(int)", "k"},
		{"void k<A::f(int) const>(B)", "k"},
		{"k(int) [clone .cold]", "k"},
		{"k[abi:cxx11](int)", "k"},
		{"unsigned int k<int>()", "k"},
		{"std::enable_if<(1)>::type k<int>(int)", "k"},
		{"triton_poi_fused_add_0d1d2", "triton_poi_fused_add_0d1d2"},
		{"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x32$x.1",
		 "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x32$x.1"},
		{"ns::k", "k"},
		{"", ""},
		{"(", "("},
		{"<", "<"},
		{"::", "::"},
		{"k<", "k"},
		{"k(", "k"},
		{"a::", "a::"},
		{"void ", "void "},
		{">>>", ">>>"},
		{"operator", "operator"},
		{"k<int", "k"},
		/* Names that no demangler has processed. */
		{"_ZN7cutlass13device_kernelINS_4gemm6kernelEEEvNT_6ParamsE", "device_kernel"},
		{"_Z4vaddPfS_S_i", "vadd"},
		{"_ZL4stati", "stat"},
		{"_ZN2at6nativeL3vecILi4EEEvv", "vec"},
		{"_Z", "_Z"},
		{"_Z9", "_Z9"},
		{"_Z9abc", "_Z9abc"},
		{"_ZN9abc", "_ZN9abc"},
		{"_Z99999999999999999999999abc", "_Z99999999999999999999999abc"},
	};

	(void)state;
	CHECK_PAIRS(pairs, kernel_name__short);
}

/* As nvcc 13.0 and older versions name them. */
static void recovers_kernels_from_host_symbols(void **state)
{
	static const struct pair pairs[] = {
		{"_Z30__device_stub__Z4vaddPKfS0_PfiPKfS0_Pfi", "_Z4vaddPKfS0_Pfi"},
		{"_ZL22__device_stub__Z4statii", "_Z4stati"},
		{"_ZL51__device_stub__ZN2at6native3vecILi4ENS0_2FFEEEviT0_iRN2at6native2FFE",
		 "_ZN2at6native3vecILi4ENS0_2FFEEEviT0_"},
		{"__device_stub__Z4vaddPfS_S_i", "_Z4vaddPfS_S_i"},
		{"_Z4vaddPKfS0_Pfi", "_Z4vaddPKfS0_Pfi"},
		{"_ZL4stati", "_Z4stati"},
		{"_ZN2at6nativeL3vecILi4ENS0_2FFEEEviT0_", "_ZN2at6native3vecILi4ENS0_2FFEEEviT0_"},
		/* This L begins a template argument, an enumeration's value. */
		{"_Z3fooIL4kind0EEvv", "_Z3fooIL4kind0EEvv"},
		{"_ZN2at3fooIL4kind0EEEvv", "_ZN2at3fooIL4kind0EEEvv"},
		{"plain", "plain"},
		{"", ""},
		{"_Z", "_Z"},
		{"_ZL", "_ZL"},
		{"_ZN", "_ZN"},
		{"_ZN9ab", "_ZN9ab"},
		{"_Z999999999999999999__device_stub__Z1k",
		 "_Z999999999999999999__device_stub__Z1k"},
		{"_Z99__device_stub__Z1k", "_Z99__device_stub__Z1k"},
		{"_Z14__device_stub_", "_Z14__device_stub_"},
		{"_Z5__device_stub__Z1k", "_Z5__device_stub__Z1k"},
		{"__device_stub_", "__device_stub_"},
	};

	(void)state;
	CHECK_PAIRS(pairs, kernel_name__from_host_symbol);
}

/* Demangles and shortens: within bounds, in time, and leaves the name unchanged. */
static void survive(const char *name)
{
	uint64_t begin = spent();
	char *full = kernel_name__demangle(name), *bare;

	assert_non_null(full);
	assert_true(strlen(full) <= 65536);
	bare = kernel_name__short(full);
	assert_non_null(bare);
	assert_true(strlen(bare) <= strlen(full));
	assert_true(spent() - begin < 1000 * MS);
	free(full);
	free(bare);
}

/* Each parameter consists of the one before, twice: 2^90 of them in a thousand bytes. */
static void doubling_names_end(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1100] = "_Z1f1aIiiES_IS0_S0_E", *at = name + strlen(name), *full;

	(void)state;
	for (unsigned int i = 1; i < 80; i++) {
		char number[3] = {digits[i % 36], '\0', '\0'};

		if (i >= 36) {
			number[0] = digits[i / 36];
			number[1] = digits[i % 36];
		}
		at += sprintf(at, "S_IS%s_S%s_E", number, number);
	}
	survive(name);
	full = kernel_name__demangle(name);
	assert_string_equal(full, name);
	free(full);
}

static void repeat(char *out, const char *begin, const char *unit, const char *middle,
		   const char *end_unit, const char *end, size_t times)
{
	strcpy(out, begin);
	for (size_t i = 0; i < times; i++)
		strcat(out, unit);
	strcat(out, middle);
	for (size_t i = 0; i < times; i++)
		strcat(out, end_unit);
	strcat(out, end);
}

static void nested_names_end(void **state)
{
	static const char *const shapes[][5] = {
		{"_ZcvT_I", "L_ZcvT_I", "iE", "viEE", "vi"}, /* parsed twice at each level */
		{"_ZcvT_I", "L_ZcvT_I", "iE", "viEE", "vi?"},
		{"_Z1f", "P", "i", "", ""},
		{"_Z1fI", "1aI", "i", "E", "Evv"},
		{"_Z1fIX", "ngL", "i1", "E", "EEvv"},
		{"_Z", "Z1fvE", "1g", "", "v"},
		{"_Z1fI", "J", "i", "E", "EvDpT_"},
		{"_Z1fIJiiiiiiiiE", "J", "", "E", "EvDpDpDpDpT_"},
		{"_ZN", "N", "1a", "E", "E"},
		{"", "a<", "", "> ", ""},
		{"", "(", "", ")", ""},
		{"", "[", "<", "}", ""},
		{"", "::", "(", "::", ""},
		{"", "operator", "<", " ", "("},
		{"", " ", "", " const", ""},
	};
	static const size_t times[] = {10, 40, 100, 120, 250, 600, 2000};
	static char name[65536];

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		for (size_t j = 0; j < sizeof(times) / sizeof(*times); j++) {
			repeat(name, shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3],
			       shapes[i][4], times[j]);
			survive(name);
		}
	}
}

static void random_names_end(void **state)
{
	static const char *const pieces[] = {
		"S_", "S0_", "S1_",   "T_",   "T0_", "I",  "E",	       "J",  "Dp", "cv", "L_Z",
		"X",  "ad",  "N",     "3abc", "1a",  "i",  "v",	       "P",  "R",  "F",	 "K",
		"sZ", "DT",  "dc",    "st",   "Z",   "s_", "_",	       "fp", "pl", "cl", "St",
		"Sa", "Ut_", "UlvE_", "D0",   "C1",  "4",  "A",	       "M",  "O",  "on", "L1aE",
		"<",  ">",   "(",     ")",    "::",  " ",  "operator", "{",  "}",  "->"};
	unsigned int seed = 7;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char name[1024] = "";
		int count = 1 + rand_r(&seed) % 100;

		if (rand_r(&seed) % 4)
			strcpy(name, "_Z");
		for (int i = 0; i < count; i++)
			strcat(name,
			       pieces[(size_t)rand_r(&seed) % (sizeof(pieces) / sizeof(*pieces))]);
		survive(name);
		free(kernel_name__from_host_symbol(name));
	}
}

static void long_names_stay(void **state)
{
	char name[KERNEL_NAME_MAX + 1], *result;

	(void)state;
	repeat(name, "_ZN7cutlass13device_kernelI", "3abc", "", "", "EEvv", 1000);
	result = kernel_name__demangle(name);
	assert_string_equal(result, name);
	free(result);
	result = kernel_name__short(name);
	assert_string_equal(result, "device_kernel");
	free(result);
}

static void cuts_long_names(void **state)
{
	char name[400], other[400], out[512], first[512];

	(void)state;
	assert_int_equal(kernel_name__cut("short", out, sizeof(out), 200), 5);
	assert_string_equal(out, "short");
	memset(name, 'x', sizeof(name));
	name[200] = '\0';
	assert_int_equal(kernel_name__cut(name, out, sizeof(out), 200), 200);
	assert_string_equal(out, name);
	name[200] = 'x';
	name[399] = '\0';
	assert_int_equal(kernel_name__cut(name, first, sizeof(first), 200), 200);
	assert_int_equal(strlen(first), 200);
	assert_memory_equal(first, name, 191);
	assert_int_equal(first[191], '#');
	assert_int_equal(strspn(first + 192, "0123456789abcdef"), 8);
	/* The cut part distinguishes names. */
	memcpy(other, name, sizeof(name));
	other[398] = 'y';
	kernel_name__cut(other, out, sizeof(out), 200);
	assert_memory_equal(out, first, 192);
	assert_string_not_equal(out, first);
	/* A small buffer lowers the limit. */
	assert_int_equal(kernel_name__cut(name, out, 21, 200), 20);
	assert_int_equal(out[11], '#');
	assert_int_equal(kernel_name__cut(name, out, 6, 200), 5);
	assert_string_equal(out, "xxxxx");
	assert_int_equal(kernel_name__cut(name, out, 1, 200), 0);
	assert_string_equal(out, "");
	assert_int_equal(kernel_name__cut(name, out, 0, 200), 0);
	assert_int_equal(kernel_name__cut(name, out, sizeof(out), 9), 9);
	assert_int_equal(out[0], '#');
}

static void cuts_between_characters(void **state)
{
	char name[400], out[300];

	(void)state;
	for (size_t lead = 0; lead < 4; lead++) {
		size_t length;

		memset(name, 'x', lead);
		for (size_t i = lead; i + 3 < sizeof(name); i += 3)
			memcpy(name + i, "\342\202\254", 4); /* the euro sign */
		length = kernel_name__cut(name, out, sizeof(out), 200);
		assert_true(length > 196 && length <= 200);
		assert_int_equal(out[length - 9], '#');
		assert_int_equal((length - 9 - lead) % 3, 0);
	}
	/* Bytes that are not UTF-8 do not make the name disappear. */
	memset(name, 0x80, 399);
	name[399] = '\0';
	assert_true(kernel_name__cut(name, out, sizeof(out), 200) > 190);
}

/* Mostly as rustc 1.95 named them, in both manglings. */
static void rust_names(void **state)
{
	static const struct pair pairs[] = {
		{"_RNvC7mycrate3foo", "mycrate::foo"},
		{"_RNvC6mycrate3foo", "_RNvC6mycrate3foo"},
		{"_RNvMCs5pFU1ujB8J6_2m2INtB2_6DGraphhE7new_oneB2_", "<m2::DGraph<u8>>::new_one"},
		{"_RNvXsD_NtNtCs3TffaVLKYX7_13rustc_session6config12dep_trackingNtB7_7CFGuardNtB5_"
		 "15DepTrackingHash4hash",
		 "<rustc_session::config::CFGuard as "
		 "rustc_session::config::dep_tracking::DepTrackingHash>::hash"},
		{"_RNvMNtCs5pFU1ujB8J6_2m2u9gre_6ka8iINtB2_1SINtNtCslNYArtu3iFV_"
		 "5alloc3vec3VeclEEu6ldr85bB4_",
		 "<m2::größe::S<alloc::vec::Vec<i32>>>::名前"},
		{"_RINvCs5pFU1ujB8J6_2m26apply2FG_RL0_eEuEB2_",
		 "m2::apply2::<for<'a> fn(&'a str)>"},
		{"_RNCNvCs5pFU1ujB8J6_2m21a0B3_.llvm.11759624019434185736", "m2::a::{closure#0}"},
		{"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
		 "core::fmt::Formatter::write_str"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.123",
		 "core::fmt::Formatter::pad"},
		{"_Z4vaddPfS_S_i", "vadd(float*, float*, float*, int)"},
		/*
		 * A function of 62^8 lifetimes, which are not printed; the same in an identifier
		 * that is not ASCII.
		 */
		{"_RNvMINtC1a1bFGzzzzzzzz_EuEC1c1d", "_RNvMINtC1a1bFGzzzzzzzz_EuEC1c1d"},
		{"_RNvC1mu14FGzzzzz_e_6ka8i", "_RNvC1mu14FGzzzzz_e_6ka8i"},
		{"_RNvC1mu9gre_6ka8", "_RNvC1mu9gre_6ka8"},
		{"_RB_", "_RB_"}, /* refers back to itself */
		{"_R", "_R"},
		{"_Rfoo", "_Rfoo"},
		{"_RNv", "_RNv"},
	};

	(void)state;
	CHECK_PAIRS(pairs, function_name__readable);
}

static void survive_as_function(const char *symbol)
{
	uint64_t begin = spent(), took;
	char *name = function_name__readable(symbol);

	assert_non_null(name);
	assert_true(strlen(name) <= FUNCTION_NAME_MAX);
	took = spent() - begin;
	if (took > 1000 * MS)
		fail_msg("%.1f ms: %s", (double)took / MS, symbol);
	free(name);
}

/* A back reference to an offset in a Rust symbol, counted from after "_R". */
static int put_reference(char *out, size_t place)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t number = place - 1;

	if (number < 62)
		return sprintf(out, "B%c_", digits[number]);
	return sprintf(out, "B%c%c_", digits[number / 62], digits[number % 62]);
}

/*
 * Each tuple contains the one before it twice, 60 times; also with identifiers that are not ASCII,
 * or that are cut off.
 */
static void doubling_rust_names_end(void **state)
{
	static const char *const firsts[] = {"TllE", "TC1xC1xE", "TC3xyzC0E", "TCu4tanaCu4tanaE",
					     "TCu4zzzzCu4zzzzE"};
	char name[2048];

	(void)state;
	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
		size_t before = strlen("INvC1a1b"), here;
		char *at = name + sprintf(name, "_RINvC1a1b%s", firsts[i]);

		for (int n = 0; n < 60; n++) {
			here = (size_t)(at - name) - 2;
			*at++ = 'T';
			at += put_reference(at, before);
			at += put_reference(at, before);
			*at++ = 'E';
			before = here;
		}
		strcpy(at, "E");
		survive_as_function(name);
	}
}

static void random_rust_names_end(void **state)
{
	static const char *const pieces[] = {
		"N",   "v",   "C",   "1a",    "3abc", "u4tana", "u9gre_6ka8i", "u7zzzzzzz", "I",
		"E",   "M",   "X",   "Y",     "s_",   "s0_",	"B_",	       "B0_",	    "B1_",
		"B7_", "Ba_", "Bz_", "B10_",  "T",    "R",	"Q",	       "P",	    "O",
		"A",   "S",   "F",   "D",     "G_",   "G0_",	"GZZ_",	       "GZZZZZZ_",  "L_",
		"L0_", "K",   "j1_", "lnff_", "b1_",  "c41_",	"p",	       "U",	    "KC",
		"l",   "e",   "z",   "0",     "_",    "u",	"C0"};
	unsigned int seed = 11;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		char name[1024] = "_RNv";
		int count = 1 + rand_r(&seed) % 80;

		for (int i = 0; i < count; i++)
			strcat(name,
			       pieces[(size_t)rand_r(&seed) % (sizeof(pieces) / sizeof(*pieces))]);
		survive_as_function(name);
	}
}

/* Lists show at most KERNEL_NAME_MAX bytes; a label is made of the whole name. */
static void names_in_lists_are_cut(void **state)
{
	char mangled[1024], unit[256], cut[KERNEL_NAME_MAX + 1], label[KERNEL_LABEL_SIZE];
	char *whole, *listed, *text;
	uint64_t spent_ns = 0;

	(void)state;
	memset(unit, 'a', sizeof(unit));
	snprintf(mangled, sizeof(mangled), "_Z1fI200%.200s", unit);
	for (int i = 0; i < 100; i++)
		strcat(mangled, "S0_");
	strcat(mangled, "Evv");
	whole = kernel_name__demangle_whole(&spent_ns, mangled);
	listed = kernel_name__demangle_within(&spent_ns, mangled);
	assert_true(strlen(whole) > 20000);
	kernel_name__cut(whole, cut, sizeof(cut), KERNEL_NAME_MAX);
	assert_int_equal(strlen(listed), KERNEL_NAME_MAX);
	assert_string_equal(listed, cut);
	assert_int_equal(listed[KERNEL_NAME_MAX - 9], '#');

	kernel_label__write(whole, label);
	text = kernel_label__text(&spent_ns, mangled, false);
	assert_string_equal(text, label);
	free(text);
	text = kernel_label__text(&spent_ns, mangled, true);
	assert_string_equal(text, cut);
	free(text);
	free(whole);
	free(listed);
	assert_null(kernel_name__keep(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_names),
		cmocka_unit_test(demangles),
		cmocka_unit_test(shortens),
		cmocka_unit_test(recovers_kernels_from_host_symbols),
		cmocka_unit_test(doubling_names_end),
		cmocka_unit_test(nested_names_end),
		cmocka_unit_test(random_names_end),
		cmocka_unit_test(rust_names),
		cmocka_unit_test(doubling_rust_names_end),
		cmocka_unit_test(random_rust_names_end),
		cmocka_unit_test(long_names_stay),
		cmocka_unit_test(cuts_long_names),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(names_in_lists_are_cut),
	};

	end_after_running_s(60); /* a name that hangs the demangler is a failure too */
	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
