// SPDX-License-Identifier: BSD-2-Clause
// Which times are written when probes are detached and attached again, without a file that has
// probes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/family_links.h"

#define FAMILIES 3
#define OTHERS 0x5a5a5a5a5a5a5a5a /* the memory after the families' times */

static volatile uint64_t unseen_until[FAMILIES] = {OTHERS, OTHERS, OTHERS};

static enum rate_family no_family(const struct function_desc *function)
{
	(void)function;
	return RATE_EXACT;
}

static void check_times(int count)
{
	static const struct probe_programs programs;
	struct family_links *links;
	struct error err;

	for (int i = 0; i < FAMILIES; i++)
		unseen_until[i] = OTHERS;
	assert_int_equal(family_links__new(LINKS_SESSION, &programs, no_family, count, unseen_until,
					   &links, &err),
			 0);
	for (int i = 0; i < FAMILIES; i++)
		assert_true(unseen_until[i] == OTHERS);
	assert_int_equal(family_links__watch(links, 0, &err), 0);
	for (int i = 0; i < FAMILIES; i++)
		assert_true(unseen_until[i] == (i < count ? UINT64_MAX : OTHERS));
	while (family_links__watch(links, 1, &err))
		; /* -EBUSY: they are still being detached */
	assert_true(unseen_until[0] < UINT64_MAX && unseen_until[0] != OTHERS);
	for (int i = 1; i < FAMILIES; i++)
		assert_true(unseen_until[i] == (i < count ? UINT64_MAX : OTHERS));
	family_links__free(links);
}

static void the_times_of_its_families_alone_are_written(void **state)
{
	(void)state;
	check_times(1);
	check_times(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_times_of_its_families_alone_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
