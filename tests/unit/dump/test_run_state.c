// SPDX-License-Identifier: BSD-2-Clause
// Whether threads run, from the kernel's state bits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump/run_state.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Bits that Linux 6.18 has been seen to set, and that 6.1 to 6.18 can set. */
static void bits_report(void **state)
{
	static const struct {
		uint32_t bits;
		enum dump_run run;
	} samples[] = {{0x0000, DUMP_READY},	 {0x0001, DUMP_SLEEPS},
		       {0x2001, DUMP_SLEEPS}, /* may have been frozen since */
		       {0x0002, DUMP_SLEEPS_ON}, {0x2002, DUMP_SLEEPS_ON},
		       {0x0102, DUMP_SLEEPS_ON}, /* TASK_KILLABLE */
		       {0x0402, DUMP_SLEEPS},	 /* TASK_IDLE */
		       {0x1000, DUMP_SLEEPS_ON}, /* TASK_RTLOCK_WAIT */
		       {0x0104, DUMP_STOPPED},	 {0x0008, DUMP_TRACED},
		       {0x0108, DUMP_TRACED},	 {0x0200, DUMP_READY}, /* TASK_WAKING */
		       {0x0800, DUMP_READY},			       /* TASK_NEW */
		       {0x8000, DUMP_FROZEN}};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		struct thread_look *look = test_calloc(1, sizeof(*look));

		look->state = samples[i].bits;
		assert_int_equal(run_state__of(look), samples[i].run);
		look->on_cpu = 1;
		assert_int_equal(run_state__of(look), DUMP_RUNS);
		test_free(look);
	}
}

/* A thread frozen by cgroup v2 has the bits of one that sleeps or that a signal has stopped. */
static void frozen_by_the_cgroup(void **state)
{
	struct thread_look *look = test_calloc(1, sizeof(*look));

	(void)state;
	look->frozen = 1;
	look->state = 0x2001;
	assert_int_equal(run_state__of(look), DUMP_FROZEN);
	look->state = 0x0104;
	assert_int_equal(run_state__of(look), DUMP_STOPPED);
	look->state = 0;
	assert_int_equal(run_state__of(look), DUMP_READY);
	look->on_cpu = 1;
	assert_int_equal(run_state__of(look), DUMP_RUNS);
	test_free(look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_report),
		cmocka_unit_test(frozen_by_the_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
