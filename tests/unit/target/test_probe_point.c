// SPDX-License-Identifier: BSD-2-Clause
// Instructions on which a probe is fast.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/probe_point.h"

static void knows_cheap_instructions(void **state)
{
	static const struct {
		uint8_t code[8];
		size_t size;
		bool fast;
	} cases[] = {
		{{0x55}, 1, true},	       /* push %rbp */
		{{0x41, 0x57}, 2, true},       /* push %r15 */
		{{0x41}, 1, false},	       /* cut short */
		{{0x90}, 1, true},	       /* nop */
		{{0x66, 0x90}, 2, true},       /* xchg %ax,%ax */
		{{0xe9, 1, 2, 3, 4}, 5, true}, /* jmp */
		{{0xeb, 1}, 2, true},
		{{0xe8, 1, 2, 3, 4}, 5, true},	      /* call */
		{{0x74, 1}, 2, true},		      /* je */
		{{0x0f, 0x84, 1, 2, 3, 4}, 6, true},  /* je, near */
		{{0x66, 0xe8, 1, 2}, 4, false},	      /* 16-bit call */
		{{0xf3, 0x0f, 0x1e, 0xfa}, 4, false}, /* endbr64 */
		{{0x0f, 0x1f, 0x44, 0, 0}, 5, false}, /* multi-byte nop */
		{{0x48, 0x83, 0xec, 0x08}, 4, false}, /* sub $8,%rsp */
		{{0xb8, 1, 0, 0, 0}, 5, false},	      /* mov $1,%eax */
		{{0x66, 0x55}, 2, false},	      /* push %bp */
		{{0xc3}, 1, false},
		{{0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66}, 7, false},
		{{0}, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (probe_point__is_fast(cases[i].code, cases[i].size) != cases[i].fast)
			fail_msg("case %zu", i);
	}
}

static void knows_nops_of_five_bytes(void **state)
{
	static const struct {
		uint8_t code[8];
		size_t size;
		bool nop5;
	} cases[] = {
		{{0x0f, 0x1f, 0x44, 0x00, 0x00}, 5, true},
		{{0x0f, 0x1f, 0x44, 0x00}, 4, false},			/* cut short */
		{{0x66, 0x0f, 0x1f, 0x40, 0x00, 0x55}, 6, true},	/* with a prefix */
		{{0x66, 0x66, 0x66, 0x66, 0x90}, 5, true},		/* four prefixes */
		{{0x66, 0x66, 0x66, 0x90, 0x90}, 5, false},		/* four bytes, and a nop */
		{{0x0f, 0x1f, 0x40, 0x00, 0x55}, 5, false},		/* four bytes */
		{{0x0f, 0x1f, 0x00, 0x90, 0x90}, 5, false},		/* three */
		{{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}, 6, false},	/* six */
		{{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}, 7, false}, /* seven */
		/* Eight, SIB without a base. */
		{{0x0f, 0x1f, 0x04, 0x25, 0x00, 0x00, 0x00, 0x00}, 8, false},
		{{0x55, 0x0f, 0x1f, 0x44, 0x00, 0x00}, 6, false}, /* not the first */
		{{0xf3, 0x0f, 0x1e, 0xfa}, 4, false},
		{{0}, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (probe_point__is_nop5(cases[i].code, cases[i].size) != cases[i].nop5)
			fail_msg("case %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_cheap_instructions),
		cmocka_unit_test(knows_nops_of_five_bytes),
	};

	return cmocka_run_group_tests_name("probe_site", tests, NULL, NULL);
}
