// SPDX-License-Identifier: BSD-2-Clause
// Kernels on which a probe on a five-byte nop crashes forked children.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/nop5.h"

static void knows_kernels(void **state)
{
	static const char *const harmful[] = {"6.18.0", "6.18", "6.18.44-generic", "6.19.1",
					      "7.0.0-rc1"};
	static const char *const sound[] = {"6.17.9", "6.1.0-41-amd64", "5.15.0",
					    "6.8.0-90-generic", "x"};

	(void)state;
	for (size_t i = 0; i < sizeof(harmful) / sizeof(*harmful); i++)
		assert_true(nop5__is_harmful_on(harmful[i]));
	for (size_t i = 0; i < sizeof(sound) / sizeof(*sound); i++)
		assert_false(nop5__is_harmful_on(sound[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_kernels),
	};

	return cmocka_run_group_tests_name("nop5", tests, NULL, NULL);
}
