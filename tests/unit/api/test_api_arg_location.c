// SPDX-License-Identifier: BSD-2-Clause
// The locations that api/functions.tsv gives arguments, in registers and on the stack, and their
// sizes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_text.h"
#include "../../../api/table.h"
#include "../../../api/words.h"

/* dim3 in registers and on the stack: x and y in the first slot, z in the second. */
static void test_dim3(void **state)
{
	struct table *table =
		read_good(HEADER "runtime\tcudaLaunchKernel\tlaunch\tlaunch\t-\tasync\t"
				 "func=f gridx=g blockx=b\tf rdi const void *; g rsi:rdx dim3; "
				 "b sp+16[12] dim3\t-\n");
	const __u8 *location = table->functions[0].desc.location;

	(void)state;
	assert_int_equal(location[ROLE_GRIDX], 1);
	assert_int_equal(location[ROLE_GRIDY], LOCATION_NONE);
	assert_int_equal(location[ROLE_GRIDZ], 2 | LOCATION_32);
	assert_int_equal(location[ROLE_BLOCKX], LOCATION_STACK + 1);
	assert_int_equal(location[ROLE_BLOCKZ], (LOCATION_STACK + 2) | LOCATION_32);
	table__free(table);
}

static void test_locations(void **state)
{
	static const struct {
		const char *text;
		int size;
		uint8_t location;
	} cases[] = {
		{"rdi", 8, 0},
		{"rsi", 4, 1 | LOCATION_32},
		{"rdx", 2, 2 | LOCATION_32},
		{"rcx", 8, 3},
		{"r8", 8, 4},
		{"r9", 8, 5},
		{"sp+8", 8, LOCATION_STACK},
		{"sp+80", 4, (LOCATION_STACK + 9) | LOCATION_32},
		{"sp+8[24]", 24, LOCATION_STACK},
		{"sp+40[64]", 64, LOCATION_STACK + 4},
		{"rdi:rsi", 12, LOCATION_NONE},
		{"r8:r9", 16, LOCATION_NONE},
		{"xmm0", 4, LOCATION_NONE},
	};
	struct arg_location location;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(arg_location__parse(cases[i].text, &location), 0);
		assert_true(arg_location__fits(&location, cases[i].size));
		assert_int_equal(arg_location__encode(&location, cases[i].size), cases[i].location);
	}
}

static void test_bad_locations(void **state)
{
	static const char *const texts[] = {
		"",	   "rax",	"r10",	     "rdi:",   "rdi:rdx",
		"rsi:rdi", "r9:sp+8",	"rdi:rsix",  "sp",     "sp+",
		"sp+0",	   "sp+4",	"sp+12",     "sp+-8",  "sp+ 8",
		"sp+08",   "sp+8x",	"sp+8[",     "sp+8[]", "sp+8[8]",
		"sp+8[24", "sp+8[24]x", "sp+8[256]", "sp+464", "sp+99999999999999999999",
		"xmm",	   "xmm8",	"xmm10",     "RDI",    "rdi "};
	struct arg_location location;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (arg_location__parse(texts[i], &location) == 0)
			fail_msg("\"%s\" was taken for a location", texts[i]);
	}
	assert_int_equal(arg_location__parse("sp+456", &location), 0);
	assert_int_equal(location.first & ~LOCATION_MASK, 0);
}

static void test_fit_and_overlap(void **state)
{
	struct arg_location pair, single, stack, inside, behind, xmm;

	(void)state;
	assert_int_equal(arg_location__parse("rsi:rdx", &pair), 0);
	assert_int_equal(arg_location__parse("rdx", &single), 0);
	assert_int_equal(arg_location__parse("sp+8[20]", &stack), 0);
	assert_int_equal(arg_location__parse("sp+24", &inside), 0);
	assert_int_equal(arg_location__parse("sp+32", &behind), 0);
	assert_int_equal(arg_location__parse("xmm0", &xmm), 0);
	assert_false(arg_location__fits(&single, 12));
	assert_false(arg_location__fits(&pair, 8));
	assert_false(arg_location__fits(&pair, 24));
	assert_false(arg_location__fits(&stack, 24));
	assert_false(arg_location__fits(&behind, 64));
	assert_true(arg_location__overlap(&pair, &single));
	assert_true(arg_location__overlap(&inside, &stack));
	assert_false(arg_location__overlap(&behind, &stack));
	assert_false(arg_location__overlap(&xmm, &single));
	assert_true(arg_location__overlap(&xmm, &xmm));
}

static void test_sizes(void **state)
{
	(void)state;
	assert_int_equal(type__size("void"), -1);
	assert_int_equal(type__size("enum "), -1);
	assert_int_equal(type__size("CUdeviceptr_v2"), -1);
	assert_int_equal(type__size("unsigned char"), 1);
	assert_int_equal(type__size("unsigned short"), 2);
	assert_int_equal(type__size("CUdeviceptr_v1"), 4);
	assert_int_equal(type__size("enum cudaMemcpyKind"), 4);
	assert_int_equal(type__size("CUdevice"), 4);
	assert_int_equal(type__size("unsigned int"), 4);
	assert_int_equal(type__size("CUdeviceptr"), 8);
	assert_int_equal(type__size("unsigned int *"), 8);
	assert_int_equal(type__size("dim3"), 12);
	assert_int_equal(type__size("struct cudaExtent"), 24);
	assert_int_equal(type__size("CUipcMemHandle"), 64);
	assert_int_equal(type__pointee_size("CUdeviceptr_v1 *"), 4);
	assert_int_equal(type__pointee_size("CUdeviceptr *"), 8);
	assert_int_equal(type__pointee_size("void **"), 8);
	assert_int_equal(type__pointee_size("void *"), -1);
	assert_int_equal(type__pointee_size("size_t"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dim3),	      cmocka_unit_test(test_locations),
		cmocka_unit_test(test_bad_locations), cmocka_unit_test(test_fit_and_overlap),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests_name("generate", tests, NULL, NULL);
}
