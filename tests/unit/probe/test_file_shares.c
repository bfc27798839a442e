// SPDX-License-Identifier: BSD-2-Clause
// Users' shares of files with probes: no user can take what others need.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "probe/file_shares.h"

#define ROOM 100
#define NOW (1000 * NS_PER_S)

static int begin(void **state)
{
	*state = file_shares__new(ROOM);
	return *state ? 0 : -1;
}

static int end(void **state)
{
	file_shares__free(*state);
	return 0;
}

/* Takes as many files as get probes. */
static size_t take_all(struct file_shares *shares, uid_t user)
{
	size_t count = 0;

	for (; file_shares__have_room(shares, user); count++)
		file_shares__count(shares, user, 1);
	return count;
}

static void one_user_has_half(void **state)
{
	assert_int_equal(take_all(*state, 1), ROOM / 2);
	assert_true(file_shares__have_room(*state, 2));
}

static void several_have_less_and_leave_some(void **state)
{
	assert_int_equal(take_all(*state, 1), 50);
	assert_int_equal(take_all(*state, 2), 25);
	assert_int_equal(take_all(*state, 3), 13);
	assert_true(file_shares__have_room(*state, 4));
}

static void what_is_given_back_is_free(void **state)
{
	take_all(*state, 1);
	assert_false(file_shares__have_room(*state, 1));
	file_shares__count(*state, 1, -1);
	assert_true(file_shares__have_room(*state, 1));
}

/* For an unknown user too, the count over all users stays right. */
static void more_users_than_are_known(void **state)
{
	struct file_shares *shares = file_shares__new(100000);

	(void)state;
	assert_non_null(shares);
	for (uid_t user = 0; user < 10000; user++)
		file_shares__count(shares, user, 1);
	assert_true(file_shares__have_room(shares, 1));
	for (uid_t user = 0; user < 10000; user++)
		file_shares__count(shares, user, -1);
	assert_int_equal(take_all(shares, 1), 50000);
	file_shares__free(shares);
}

static void time_is_a_credit(void **state)
{
	file_shares__charge(*state, 1, NS_PER_S, NOW);
	assert_int_equal(file_shares__ready_ns(*state, 1, NOW), NOW);
	file_shares__charge(*state, 1, 200 * NS_PER_MS, NOW);
	assert_int_equal(file_shares__ready_ns(*state, 1, NOW), NOW + 2 * NS_PER_S);
	assert_int_equal(file_shares__ready_ns(*state, 1, NOW + NS_PER_S), NOW + 2 * NS_PER_S);
	assert_int_equal(file_shares__ready_ns(*state, 1, NOW + 3 * NS_PER_S), NOW + 3 * NS_PER_S);
}

static void ones_time_is_not_anothers(void **state)
{
	file_shares__charge(*state, 1, 20 * NS_PER_S, NOW);
	assert_true(file_shares__ready_ns(*state, 1, NOW) > NOW);
	assert_int_equal(file_shares__ready_ns(*state, 2, NOW), NOW);
}

/* After a while all credit is back, and no more than that. */
static void credit_comes_back(void **state)
{
	file_shares__charge(*state, 1, NS_PER_S, NOW);
	file_shares__charge(*state, 1, NS_PER_S, NOW + 3600 * NS_PER_S);
	assert_int_equal(file_shares__ready_ns(*state, 1, NOW + 3600 * NS_PER_S),
			 NOW + 3600 * NS_PER_S);
	file_shares__charge(*state, 1, 1, NOW + 3600 * NS_PER_S);
	assert_int_equal(file_shares__ready_ns(*state, 1, NOW + 3600 * NS_PER_S),
			 NOW + 3600 * NS_PER_S + 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_user_has_half, begin, end),
		cmocka_unit_test_setup_teardown(several_have_less_and_leave_some, begin, end),
		cmocka_unit_test_setup_teardown(what_is_given_back_is_free, begin, end),
		cmocka_unit_test_setup_teardown(more_users_than_are_known, begin, end),
		cmocka_unit_test_setup_teardown(time_is_a_credit, begin, end),
		cmocka_unit_test_setup_teardown(ones_time_is_not_anothers, begin, end),
		cmocka_unit_test_setup_teardown(credit_comes_back, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
