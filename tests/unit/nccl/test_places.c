// SPDX-License-Identifier: BSD-2-Clause
// Where a rank was at several looks: the function of most looks, and its latest line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nccl/places.h"

static const struct nccl_place *look(struct nccl_places *places, const char *where)
{
	return nccl_places__add(places, NCCL_WAITS_OTHER, where, "sleeps");
}

static void test_the_most_seen_function(void **state)
{
	struct nccl_places places = {.count = 0};
	const struct nccl_place *place;

	(void)state;
	place = look(&places, "wait (train.py:9)");
	assert_string_equal(place->where, "wait (train.py:9)");
	look(&places, "sample (data.py:301) < main (train.py:60)");
	place = look(&places, "sample (data.py:305) < main (train.py:61)");
	assert_string_equal(place->where, "sample (data.py:305) < main (train.py:61)");
	assert_int_equal(place->seen, 2);
	assert_int_equal(places.looks, 3);
	/* A function whose name begins alike is another. */
	look(&places, "samples (data.py:9)");
	assert_int_equal(places.count, 3);
}

static void test_unknown_and_long_places(void **state)
{
	struct nccl_places places = {.count = 0};
	char longer[2 * NCCL_WHERE_SIZE];
	const struct nccl_place *place;

	(void)state;
	place = nccl_places__add(&places, NCCL_RUNS, NULL, NULL);
	assert_string_equal(place->where, "");
	assert_string_equal(place->waits, "");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	look(&places, longer);
	place = look(&places, longer);
	assert_int_equal(strlen(place->where), NCCL_WHERE_SIZE - 1);
	assert_int_equal(place->seen, 2);
}

/* A program may be somewhere else each time: the place of most looks stays. */
static void test_more_places_than_are_kept(void **state)
{
	struct nccl_places places = {.count = 0};
	const struct nccl_place *place = NULL;
	char where[32];

	(void)state;
	look(&places, "often (a.py:1)");
	look(&places, "often (a.py:1)");
	for (int i = 0; i < 100; i++) {
		snprintf(where, sizeof(where), "f%d (a.py:1)", i);
		place = look(&places, where);
	}
	assert_non_null(place);
	assert_int_equal(places.count, NCCL_PLACES);
	assert_int_equal(places.looks, 102);
	assert_string_equal(place->where, "often (a.py:1)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_most_seen_function),
		cmocka_unit_test(test_unknown_and_long_places),
		cmocka_unit_test(test_more_places_than_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
