// SPDX-License-Identifier: BSD-2-Clause
// Nodes with clocks of their own: the offset lies within its error, however late ranks come.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nccl/join.h"

#define MS 1000000
#define MANY 50

static uint64_t random_state = 7;

static uint64_t any(uint64_t below)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (random_state >> 33) % below;
}

/* What two nodes see of the same collectives; B's clock is `ahead` of A's. */
static void make(struct nccl_arrival *a, struct nccl_arrival *b, int64_t ahead, uint64_t b_late,
		 bool waits)
{
	uint64_t now = 3600000000000;

	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t a_last = now + any(MS), b_last = now + b_late + any(MS), done;

		done = (a_last > b_last ? a_last : b_last) + 100000;
		a[i] = (struct nccl_arrival){i + 1, a_last - 1000, a_last,
					     waits ? done + any(MS / 2) : 0};
		b[i] = (struct nccl_arrival){
			i + 1, (uint64_t)((int64_t)b_last + ahead) - 1000,
			(uint64_t)((int64_t)b_last + ahead),
			waits ? (uint64_t)((int64_t)(done + any(MS / 2)) + ahead) : 0};
		now += 20 * MS;
	}
}

static struct nccl_node_comm comm_of(const struct nccl_arrival *arrivals, size_t count)
{
	return (struct nccl_node_comm){
		.hash = 7, .size = 4, .arrivals = arrivals, .arrival_count = count};
}

static void offsets_lie_within_their_error(void **state)
{
	const int64_t aheads[] = {0, 5, -3600000000000 / 2, 86400000000000};
	struct nccl_arrival a[MANY], b[MANY];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (uint64_t late = 0; late < 10 * MS; late += 3 * MS) {
			struct nccl_node_comm comms[] = {comm_of(a, MANY), comm_of(b + 20, 30)};
			struct nccl_node nodes[] = {{"a", &comms[0], 1}, {"b", &comms[1], 1}};
			struct nccl_offset offsets[2];
			int64_t wrong;

			make(a, b, aheads[i], late, true);
			nccl_join__offsets(nodes, 2, offsets);
			assert_true(offsets[0].known && !offsets[0].ns);
			assert_true(offsets[1].known);
			assert_int_equal(offsets[1].collectives, 30);
			wrong = offsets[1].ns + aheads[i];
			assert_true((uint64_t)llabs(wrong) <= offsets[1].error_ns);
			assert_true(offsets[1].error_ns < late + 2 * MS);
		}
	}
}

static void the_narrowest_bounds_count(void **state)
{
	const struct nccl_arrival a[] = {{1, 90, 100, 110}, {2, 190, 200, 206}},
				  b[] = {{1, 90, 100, 104}, {2, 190, 200, 210}};
	struct nccl_node_comm comms[] = {comm_of(a, 2), comm_of(b, 2)};
	struct nccl_node nodes[] = {{"a", &comms[0], 1}, {"b", &comms[1], 1}};
	struct nccl_offset offsets[2];

	(void)state;
	/* Not above 206 - 200, not below 100 - 104. */
	nccl_join__offsets(nodes, 2, offsets);
	assert_int_equal(offsets[1].ns, 1);
	assert_int_equal(offsets[1].error_ns, 5);
}

static void without_waits_it_is_a_guess(void **state)
{
	struct nccl_arrival a[MANY], b[MANY];
	struct nccl_node_comm comms[] = {comm_of(a, MANY), comm_of(b, MANY)};
	struct nccl_node nodes[] = {{"a", &comms[0], 1}, {"b", &comms[1], 1}};
	struct nccl_offset offsets[2];

	(void)state;
	make(a, b, 500 * (int64_t)MS, 0, false);
	nccl_join__offsets(nodes, 2, offsets);
	assert_true(offsets[1].known);
	assert_true(offsets[1].error_ns == UINT64_MAX);
	assert_true(llabs(offsets[1].ns + 500 * (int64_t)MS) < MS);
}

static void reached_over_another_node(void **state)
{
	struct nccl_arrival a[MANY], b[MANY];
	struct nccl_node_comm comms[] = {comm_of(a, MANY), comm_of(b, MANY), comm_of(a, MANY),
					 comm_of(b, MANY)};
	struct nccl_node_comm stranger = comm_of(b, MANY);
	/* The last communicator of `middle` is shared with the first of `far`. */
	struct nccl_node nodes[] = {{"first", &comms[0], 1},
				    {"far", &comms[3], 1},
				    {"middle", &comms[1], 2},
				    {"stranger", &stranger, 1}};
	struct nccl_offset offsets[4];

	(void)state;
	comms[2].hash = 8;
	comms[3].hash = 8;
	stranger.hash = 9;
	make(a, b, 1000 * (int64_t)MS, 0, true);
	nccl_join__offsets(nodes, 4, offsets);
	assert_true(offsets[1].known && offsets[2].known);
	assert_false(offsets[3].known);
	assert_true((uint64_t)llabs(offsets[1].ns + 2000 * (int64_t)MS) <= offsets[1].error_ns);
	assert_true(offsets[1].error_ns > offsets[2].error_ns);
}

static void ranks_of_all_nodes(void **state)
{
	const struct nccl_node_rank a[] = {{0, 10, 0, 100}, {1, 11, 1, 100}},
				    b[] = {{2, 10, 0, 99}, {3, 11, 1, 100}, {1, 66, 0, 5}};
	struct nccl_node_comm comms[] = {{.hash = 7, .size = 4, .ranks = a, .rank_count = 2},
					 {.hash = 7, .size = 4, .ranks = b, .rank_count = 3},
					 {.hash = 7, .size = 8, .ranks = b, .rank_count = 1}};
	struct nccl_node nodes[] = {{"a", &comms[0], 1}, {"b", &comms[1], 2}};
	struct nccl_joined *joined;
	size_t count;

	(void)state;
	joined = nccl_join__comms(nodes, 2, &count);
	assert_int_equal(count, 2);
	assert_int_equal(joined[0].seen, 4);
	assert_int_equal(joined[0].nodes, 2);
	assert_int_equal(joined[0].duplicates, 1);
	assert_int_equal(joined[0].sequence, 100);
	assert_int_equal(joined[0].behind_total, 1);
	assert_int_equal(joined[0].behind[0].node, 1);
	assert_int_equal(joined[0].behind[0].rank.rank, 2);
	assert_int_equal(joined[1].seen, 1);
	free(joined);
}

static void broken_times(void **state)
{
	const struct nccl_arrival a[] = {{1, 5, 4, 3},
					 {2, UINT64_MAX, UINT64_MAX, 0},
					 {3, 1, 2, 0}},
				  b[] = {{1, 1, 2, 3},
					 {2, 1, 2, UINT64_MAX},
					 {3, 1, UINT64_MAX, 0}};
	struct nccl_node_comm comms[] = {comm_of(a, 3), comm_of(b, 3)};
	struct nccl_node nodes[] = {{"a", &comms[0], 1}, {"b", &comms[1], 1}};
	struct nccl_offset offsets[2];

	(void)state;
	nccl_join__offsets(nodes, 2, offsets);
	assert_false(offsets[1].known);
	nccl_join__offsets(nodes, 0, offsets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_lie_within_their_error),
		cmocka_unit_test(the_narrowest_bounds_count),
		cmocka_unit_test(without_waits_it_is_a_guess),
		cmocka_unit_test(reached_over_another_node),
		cmocka_unit_test(ranks_of_all_nodes),
		cmocka_unit_test(broken_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
