// SPDX-License-Identifier: BSD-2-Clause
// How long a control group was throttled, by the text of its cpu.stat, and for gpuprobe's own
// group.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/cpu_limit.h"

static void of_version_2(void **state)
{
	uint64_t ns = 1;

	(void)state;
	assert_int_equal(cpu_limit__parse("usage_usec 9\nnr_periods 40\nnr_throttled "
					  "10\nthrottled_usec 250\nnr_bursts 0\n",
					  &ns),
			 0);
	assert_int_equal(ns, 250000);
	assert_int_equal(cpu_limit__parse("throttled_usec 0\n", &ns), 0);
	assert_int_equal(ns, 0);
}

static void of_version_1(void **state)
{
	uint64_t ns = 1;

	(void)state;
	assert_int_equal(
		cpu_limit__parse("nr_periods 50\nnr_throttled 15\nthrottled_time 300000\n", &ns),
		0);
	assert_int_equal(ns, 300000);
}

/* Similar names, and cut lines. */
static void of_others(void **state)
{
	uint64_t ns = 1;

	(void)state;
	assert_int_equal(cpu_limit__parse("", &ns), -ENODATA);
	assert_int_equal(cpu_limit__parse("usage_usec 9\nnr_periods 40\n", &ns), -ENODATA);
	assert_int_equal(
		cpu_limit__parse("xthrottled_usec 9\nthrottled_usecs 9\nthrottled_usec", &ns),
		-ENODATA);
	assert_int_equal(cpu_limit__parse("throttled_usec many\n", &ns), -EBADMSG);
	assert_int_equal(cpu_limit__parse("throttled_usec 18446744073709551615\n", &ns), -EBADMSG);
	assert_int_equal(ns, 1);
}

static void of_processes(void **state)
{
	uint64_t ns;
	int ret = cpu_limit__throttled(getpid(), &ns);

	(void)state;
	assert_true(!ret || ret == -ENODATA);
	/* No process has this number. */
	assert_int_equal(cpu_limit__throttled(0x7ffffffe, &ns), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_version_2),
		cmocka_unit_test(of_version_1),
		cmocka_unit_test(of_others),
		cmocka_unit_test(of_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
