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
#define SECOND 1000000000
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
					     waits ? done + any(MS / 2) : 0, 2};
		b[i] = (struct nccl_arrival){
			i + 1, (uint64_t)((int64_t)b_last + ahead) - 1000,
			(uint64_t)((int64_t)b_last + ahead),
			waits ? (uint64_t)((int64_t)(done + any(MS / 2)) + ahead) : 0, 2};
		now += 20 * MS;
	}
}

static struct nccl_node_comm comm_of(const struct nccl_arrival *arrivals, size_t count)
{
	return (struct nccl_node_comm){.hash = 7,
				       .size = 4,
				       .aligned = true,
				       .arrivals = arrivals,
				       .arrival_count = count};
}

static struct nccl_node node_of(const char *name, const struct nccl_node_comm *comms, size_t count)
{
	return (struct nccl_node){
		.name = name, .end_ns = 7200000000000, .comms = comms, .comm_count = count};
}

static void offsets_lie_within_their_error(void **state)
{
	const int64_t aheads[] = {0, 5, -3600000000000 / 2, 86400000000000};
	struct nccl_arrival a[MANY], b[MANY];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (uint64_t late = 0; late < 10 * MS; late += 3 * MS) {
			struct nccl_node_comm comms[] = {comm_of(a, MANY), comm_of(b + 20, 30)};
			struct nccl_node nodes[] = {node_of("a", &comms[0], 1),
						    node_of("b", &comms[1], 1)};
			struct nccl_offset offsets[2];
			int64_t wrong;

			make(a, b, aheads[i], late, true);
			assert_int_equal(nccl_join__offsets(nodes, 2, offsets), 0);
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
	const struct nccl_arrival a[] = {{1, 90, 100, 110, 1}, {2, 190, 200, 206, 1}},
				  b[] = {{1, 90, 100, 104, 1}, {2, 190, 200, 210, 1}};
	struct nccl_node_comm comms[] = {comm_of(a, 2), comm_of(b, 2)};
	struct nccl_node nodes[] = {node_of("a", &comms[0], 1), node_of("b", &comms[1], 1)};
	struct nccl_offset offsets[2];

	(void)state;
	/* Not above 206 - 200, not below 100 - 104. */
	assert_int_equal(nccl_join__offsets(nodes, 2, offsets), 0);
	assert_int_equal(offsets[1].ns, 1);
	assert_int_equal(offsets[1].error_ns, 5);
}

static void without_waits_it_is_a_guess(void **state)
{
	struct nccl_arrival a[MANY], b[MANY];
	struct nccl_node_comm comms[] = {comm_of(a, MANY), comm_of(b, MANY)};
	struct nccl_node nodes[] = {node_of("a", &comms[0], 1), node_of("b", &comms[1], 1)};
	struct nccl_offset offsets[2];

	(void)state;
	make(a, b, 500 * (int64_t)MS, 0, false);
	assert_int_equal(nccl_join__offsets(nodes, 2, offsets), 0);
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
	struct nccl_node nodes[] = {node_of("first", &comms[0], 1), node_of("far", &comms[3], 1),
				    node_of("middle", &comms[1], 2),
				    node_of("stranger", &stranger, 1)};
	struct nccl_offset offsets[4];

	(void)state;
	comms[2].hash = 8;
	comms[3].hash = 8;
	stranger.hash = 9;
	make(a, b, 1000 * (int64_t)MS, 0, true);
	assert_int_equal(nccl_join__offsets(nodes, 4, offsets), 0);
	assert_true(offsets[1].known && offsets[2].known);
	assert_false(offsets[3].known);
	assert_true((uint64_t)llabs(offsets[1].ns + 2000 * (int64_t)MS) <= offsets[1].error_ns);
	assert_true(offsets[1].error_ns > offsets[2].error_ns);
}

/* What is known of a communicator on the nodes `a` and `b`. */
static struct nccl_joined join(const struct nccl_node_comm *a, const struct nccl_node_comm *b,
			       uint64_t b_end_ns)
{
	struct nccl_node nodes[] = {node_of("a", a, 1), node_of("b", b, 1)};
	struct nccl_offset offsets[2];
	struct nccl_joined *joined, first;
	size_t count;

	nodes[1].end_ns = b_end_ns;
	assert_int_equal(nccl_join__offsets(nodes, 2, offsets), 0);
	assert_int_equal(
		nccl_join__comms(nodes, 2, offsets, 10 * (uint64_t)SECOND, &joined, &count), 0);
	assert_true(count >= 1);
	first = joined[0];
	free(joined);
	return first;
}

#define RANK(number, process, count) \
	{ \
		.rank = (number), .pid = (process), .sequence = (count) \
	}

static void ranks_of_all_nodes(void **state)
{
	const struct nccl_node_rank a[] = {RANK(0, 10, 100), RANK(1, 11, 100)},
				    b[] = {RANK(1, 66, 5), RANK(2, 10, 100), RANK(3, 11, 100)};
	struct nccl_node_comm comms[] = {{.hash = 7, .size = 4, .ranks = a, .rank_count = 2},
					 {.hash = 7, .size = 4, .ranks = b, .rank_count = 3},
					 {.hash = 7, .size = 8, .ranks = b, .rank_count = 1}};
	struct nccl_node nodes[] = {node_of("a", &comms[0], 1), node_of("b", &comms[1], 2)};
	struct nccl_offset offsets[2];
	struct nccl_joined *joined;
	size_t count;

	(void)state;
	assert_int_equal(nccl_join__offsets(nodes, 2, offsets), 0);
	assert_int_equal(nccl_join__comms(nodes, 2, offsets, SECOND, &joined, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(joined[0].size, 8); /* the largest first */
	assert_int_equal(joined[0].seen, 1);
	assert_int_equal(joined[1].seen, 4);
	assert_int_equal(joined[1].nodes, 2);
	assert_int_equal(joined[1].duplicates, 1);
	assert_int_equal(joined[1].sequence, 100);
	assert_int_equal(joined[1].behind_total, 0); /* they are not aligned */
	free(joined);
	assert_int_equal(nccl_join__comms(nodes, 0, offsets, SECOND, &joined, &count), 0);
	assert_int_equal(count, 0);
}

/* Node B's clock is 500 s ahead. It was seen later, or long before A's ranks came further. */
static void behind_in_time(void **state)
{
	struct nccl_arrival a[MANY], b[MANY];
	const struct nccl_node_rank here[] = {RANK(0, 10, MANY), RANK(1, 11, MANY)},
				    there[] = {RANK(2, 10, MANY - 2), RANK(3, 11, MANY)};
	struct nccl_node_comm comms[] = {comm_of(a, MANY), comm_of(b, MANY - 2)};
	uint64_t came_ns;
	struct nccl_joined joined;

	(void)state;
	make(a, b, 500 * (int64_t)SECOND, 0, true);
	comms[0].ranks = here;
	comms[1].ranks = there;
	comms[0].rank_count = comms[1].rank_count = 2;
	came_ns = a[MANY - 2].first_ns + 500 * (uint64_t)SECOND;
	joined = join(&comms[0], &comms[1], came_ns - SECOND);
	assert_int_equal(joined.behind_total, 0);
	joined = join(&comms[0], &comms[1], came_ns + 9 * (uint64_t)SECOND);
	assert_int_equal(joined.behind_total, 0);
	joined = join(&comms[0], &comms[1], came_ns + 41 * (uint64_t)SECOND);
	assert_int_equal(joined.behind_total, 1);
	assert_int_equal(joined.behind[0].node, 1);
	assert_int_equal(joined.behind[0].rank.rank, 2);
	assert_in_range(joined.behind[0].waited_ns, 40 * (uint64_t)SECOND, 42 * (uint64_t)SECOND);
	comms[1].aligned = false;
	joined = join(&comms[0], &comms[1], came_ns + 41 * (uint64_t)SECOND);
	assert_int_equal(joined.behind_total, 0);
}

/* The latest node is named only if it is later than clocks are wrong. */
static void the_latest_node(void **state)
{
	struct nccl_arrival a[MANY], b[MANY];
	struct nccl_node_comm comms[] = {comm_of(a, MANY), comm_of(b, MANY)};
	const struct nccl_node_rank ranks[] = {RANK(0, 10, MANY), RANK(1, 11, MANY)};
	struct nccl_joined joined;

	(void)state;
	comms[0].ranks = comms[1].ranks = ranks;
	comms[0].rank_count = comms[1].rank_count = 2;
	make(a, b, 7, 0, true);
	/* Once A is late, and once B: their waits bound the clocks to 100 us. */
	for (size_t i = 0; i < MANY; i++) {
		uint64_t late = 8 * MS;
		struct nccl_arrival *other = i % 5 ? &b[i] : &a[i];

		other->last_ns += late;
		a[i].done_ns += late;
		b[i].done_ns += late;
	}
	joined = join(&comms[0], &comms[1], 7200000000000);
	assert_int_equal(joined.compared, MANY);
	assert_int_equal(joined.late_node, 1);
	assert_int_equal(joined.late, MANY / 5 * 4);
	assert_in_range(joined.late_ns, 6 * MS, 9 * MS);
	/* One round is not complete. */
	b[3].ranks = 1;
	joined = join(&comms[0], &comms[1], 7200000000000);
	assert_int_equal(joined.compared, MANY - 1);
	/* Without waits, the clocks are guessed. */
	make(a, b, 7, 0, false);
	joined = join(&comms[0], &comms[1], 7200000000000);
	assert_int_equal(joined.compared, 0);
}

static void broken_times(void **state)
{
	const struct nccl_arrival a[] = {{1, 5, 4, 3, 0},
					 {2, UINT64_MAX, UINT64_MAX, 0, 0},
					 {3, 1, 2, 0, 0}},
				  b[] = {{1, 1, 2, 3, 0},
					 {2, 1, 2, UINT64_MAX, 0},
					 {3, 1, UINT64_MAX, 0, 0}};
	struct nccl_node_comm comms[] = {comm_of(a, 3), comm_of(b, 3)};
	struct nccl_node nodes[] = {node_of("a", &comms[0], 1), node_of("b", &comms[1], 1)};
	struct nccl_offset offsets[2];

	(void)state;
	assert_int_equal(nccl_join__offsets(nodes, 2, offsets), 0);
	assert_false(offsets[1].known);
	assert_int_equal(nccl_join__offsets(nodes, 0, offsets), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_lie_within_their_error),
		cmocka_unit_test(the_narrowest_bounds_count),
		cmocka_unit_test(without_waits_it_is_a_guess),
		cmocka_unit_test(reached_over_another_node),
		cmocka_unit_test(ranks_of_all_nodes),
		cmocka_unit_test(behind_in_time),
		cmocka_unit_test(the_latest_node),
		cmocka_unit_test(broken_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
