// SPDX-License-Identifier: BSD-2-Clause
// Rates of the kernels of one process (model/kernel_rates.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/kernel_rates.h"

static struct kernel kernels[2];
static struct process process = {.pid = 10, .start_ns = 5, .kernels = kernels};

static void take(struct kernel_rates *rates, uint64_t seconds)
{
	assert_int_equal(kernel_rates__sample(rates, &process, seconds * NS_PER_S), 0);
}

static void counts_between_readings(void **state)
{
	struct kernel_rates *rates = kernel_rates__new();

	(void)state;
	kernels[0] = (struct kernel){.serial = 0, .launches = 100};
	kernels[1] = (struct kernel){.serial = 1, .launches = 8};
	process.kernel_count = 1;
	assert_true(kernel_rates__of(rates, &kernels[0]) == KERNEL_RATE_UNKNOWN);
	take(rates, 10);
	assert_true(kernel_rates__of(rates, &kernels[0]) == KERNEL_RATE_UNKNOWN);
	/* The list's order changes, and a kernel is new. */
	process.kernel_count = 2;
	kernels[0].launches = 120;
	take(rates, 14);
	assert_true(kernel_rates__of(rates, &kernels[0]) == 5);
	assert_true(kernel_rates__of(rates, &kernels[1]) == 2);
	/* The same reading again changes nothing. */
	kernels[0].launches = 1000;
	take(rates, 14);
	assert_true(kernel_rates__of(rates, &kernels[0]) == 5);
	kernels[0].launches = 110;
	take(rates, 15);
	assert_true(kernel_rates__of(rates, &kernels[0]) == 0);
	kernel_rates__free(rates);
}

static void begins_anew_with_another_process(void **state)
{
	struct kernel_rates *rates = kernel_rates__new();

	(void)state;
	process.kernel_count = 1;
	kernels[0].launches = 100;
	take(rates, 10);
	process.start_ns = 6;
	kernels[0].launches = 120;
	take(rates, 14);
	assert_true(kernel_rates__of(rates, &kernels[0]) == KERNEL_RATE_UNKNOWN);
	process.kernel_count = 0;
	take(rates, 16);
	assert_true(kernel_rates__of(rates, &kernels[0]) == KERNEL_RATE_UNKNOWN);
	kernel_rates__free(rates);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_between_readings),
		cmocka_unit_test(begins_anew_with_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
