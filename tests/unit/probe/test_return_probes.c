// SPDX-License-Identifier: BSD-2-Clause
// Which kernels' return probes are tested, and the messages about harmful ones.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/return_probes.h"

static void test_which_are_tried(void **state)
{
	static const char *const doubtful[] = {"6.11.0", "6.12.4-amd64", "6.12.95", "6.13.2"};
	static const char *const sound[] = {"5.17.0",  "6.1.0-13-amd64", "6.10.14", "6.14.0",
					    "6.18.44", "7.12.1",	 "",	    "x"};

	(void)state;
	for (size_t i = 0; i < sizeof(doubtful) / sizeof(*doubtful); i++)
		assert_true(return_probes__are_doubtful(doubtful[i]));
	for (size_t i = 0; i < sizeof(sound) / sizeof(*sound); i++)
		assert_false(return_probes__are_doubtful(sound[i]));
}

static void test_who_is_killed(void **state)
{
	struct probe_selftest trial = {.plain = TRIAL_RETURNED, .filtered = TRIAL_KILLED};
	struct error error;

	(void)state;
	assert_int_equal(return_probes__judge("6.12.4", &trial, &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "6.12.4"));
	assert_non_null(strstr(error.text, "6.12.14"));
	trial.filtered = TRIAL_RETURNED;
	assert_int_equal(return_probes__judge("6.12.20", &trial, &error), 0);
	/* A filter could not be set: nothing is known, and nothing is refused. */
	trial.filtered = TRIAL_NOT_MADE;
	assert_int_equal(return_probes__judge("6.12.20", &trial, &error), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_are_tried),
		cmocka_unit_test(test_who_is_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
