// SPDX-License-Identifier: BSD-2-Clause
// Values are taken again if taking them took long, as when gpuprobe lost the CPU.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "fake_clock.h"
#include "host/one_moment.h"

/* How long each try takes. */
struct tries {
	uint64_t ns[MOMENT_TRIES];
	int count;
};

static void take(void *arg)
{
	struct tries *tries = arg;

	assert_in_range(tries->count, 0, MOMENT_TRIES - 1);
	pass_ns(tries->ns[tries->count++]);
}

static int tries_of(uint64_t first, uint64_t second, uint64_t third)
{
	struct tries tries = {.ns = {first, second, third}};

	one_moment__take(take, &tries);
	return tries.count;
}

static void once_is_enough(void **state)
{
	(void)state;
	assert_int_equal(tries_of(0, 0, 0), 1);
	assert_int_equal(tries_of(MOMENT_NS - 1, 0, 0), 1);
}

static void a_long_moment_is_taken_again(void **state)
{
	(void)state;
	assert_int_equal(tries_of(MOMENT_NS, MOMENT_NS - 1, 0), 2);
	assert_int_equal(tries_of(100ull * MOMENT_NS, MOMENT_NS, 0), 3);
}

/* On a machine that is always busy, the last values have to do. */
static void tries_end(void **state)
{
	(void)state;
	assert_int_equal(tries_of(MOMENT_NS, MOMENT_NS, MOMENT_NS), MOMENT_TRIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_is_enough),
		cmocka_unit_test(a_long_moment_is_taken_again),
		cmocka_unit_test(tries_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
